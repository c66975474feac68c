"""`everlore model test`: one question to a language model, and in words what would fail and which setting helps."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.models.openai_server import Answer, Asked, Fault, OpenAIServer

from everlore.models.rules import WITHOUT_FACTS

Cli = Callable[..., Any]

KEYS = {
    *("works", "model", "url", "size", "because", "problems", "remarks", "memories", "seconds", "tokens_in"),
    *("tokens_out", "tokens_a_second", "context_tokens", "window_seconds", "timeout_seconds"),
}
BERGEN = "Nora moved to Bergen in March, into a flat above a bakery."


def small(asked: Asked) -> Answer:
    return {"memories": [{"content": BERGEN, "type": "event", "message": 1}]}


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(small) as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes `[distil]` and `[distil.model]`."""
    monkeypatch.chdir(tmp_path)

    def write(distil: dict[str, Any] | None = None, **model: Any) -> None:
        lines = [("[distil]", {"analyst": "model", **(distil or {})}), ("[distil.model]", model)]
        (tmp_path / "everlore.toml").write_text(
            "\n".join(
                "\n".join([head, *(f"{name} = {json.dumps(value)}" for name, value in values.items())])
                for head, values in lines
            ),
            "utf-8",
        )

    return write


@pytest.fixture
def test(run: Cli, model: OpenAIServer, settings: Callable[..., None]) -> Callable[..., Any]:
    """Runs the command on the small model of the test, and gives its JSON."""

    def test(code: int, distil: dict[str, Any] | None = None, **more: Any) -> Any:
        settings(distil, **{"model": "tiny", "url": model.url, **more})
        return run("model", "test", "--json", code=code).json

    return test


def only_problem(found: Any) -> str:
    assert not found["works"]
    (problem,) = found["problems"]
    return problem


def test_a_model_that_works(run: Cli, model: OpenAIServer, test: Any) -> None:
    found = test(0)
    assert set(found) == KEYS
    assert (found["works"], found["problems"], found["remarks"]) == (True, [], [])
    assert (found["size"], found["because"]) == (
        "small",
        "distil.size is not set, and its url is on this machine",
    )
    assert found["memories"] == [BERGEN]
    assert found["tokens_in"] > 0.7 * 2200
    assert found["window_seconds"] > 0
    shown = run("model", "test").out
    assert f"tiny at {model.url}" in shown
    assert BERGEN in shown
    assert shown.endswith("It works.\n")


@pytest.mark.parametrize(("size", "remarks"), [("small", [WITHOUT_FACTS]), ("large", [])])
def test_without_the_parser_a_small_model_gives_no_facts(
    test: Any, monkeypatch: pytest.MonkeyPatch, size: str, remarks: list[str]
) -> None:
    monkeypatch.setattr("everlore.wiring.parser_is_installed", lambda: False)
    assert test(0 if size == "small" else 1, {"size": size})["remarks"] == remarks


def test_the_question_is_as_long_as_they_get(model: OpenAIServer, test: Any) -> None:
    test(0)
    model.answer = lambda _: {"memories": [], "facts": [], "entities": []}
    found = test(1, {"size": "large"})
    of_small, of_large = model.asked
    assert (len(of_small.messages), len(of_large.messages)) == (10, 10)
    assert sum(len(one["said"]) for one in of_large.earlier) > 0.8 * 3000 * 4 - 75 * 100
    assert len(of_large.earlier) > 40
    assert (found["size"], found["because"]) == ("large", 'distil.size is "large"')
    assert only_problem(found).startswith("It found nothing in ten messages")


def test_nothing_answers(test: Any) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        said = only_problem(test(1, url=url))
    assert said.startswith(f"Nothing that speaks the OpenAI protocol answers at {url}")
    assert "distil.model.url" in said


@pytest.mark.parametrize(
    ("fault", "says", "setting"),
    [
        ("connection_reset", "Nothing that speaks the OpenAI protocol answers", "distil.model.url"),
        ("html_error_page", "Nothing that speaks the OpenAI protocol answers", "distil.model.url"),
        ("no_choices", "Nothing that speaks the OpenAI protocol answers", "distil.model.url"),
        ("unauthorised", "The key is not taken (the endpoint answered 401", "distil.model.api_key_env"),
        ("unknown_model", "There is no model tiny", "distil.model.model"),
        ("bad_request", "Answers are not held to a JSON schema there", 'distil.model.output = "prompted"'),
        ("too_long", "A full question does not fit", "OLLAMA_CONTEXT_LENGTH=8192"),
        ("rate_limited", "It may not be asked now", "limit"),
        ("server_error", "The endpoint fails (the endpoint answered 500", "log"),
        ("not_json_at_all", "Its answer cannot be used (it holds no JSON object)", "distil.model.output"),
        ("malformed_json", "Its answer cannot be used (its JSON is malformed", "distil.model.output"),
        ("truncated_silently", "Its answer cannot be used (", "distil.model.output"),
        ("wrong_types", "Its answer cannot be used (memories is no list)", "distil.model.output"),
        ("wrong_script", "Its answer cannot be used (", "larger model"),
        ("empty", "Its answer cannot be used (it is empty)", "distil.model.output"),
        ("content_filter", "Its answer cannot be used (it was refused)", "distil.model.output"),
    ],
)
def test_what_would_fail_is_said_with_the_setting_that_helps(
    model: OpenAIServer, test: Any, fault: Fault, says: str, setting: str
) -> None:
    model.always = fault
    said = only_problem(test(1))
    assert said.startswith(says)
    assert setting in said
    assert model.requests == 1


def test_another_path_than_that_of_the_protocol(model: OpenAIServer, test: Any) -> None:
    assert "mostly ends in /v1" in only_problem(test(1, url=model.url.removesuffix("/v1")))


def test_too_slow(model: OpenAIServer, test: Any) -> None:
    model.always = "timeout"
    said = only_problem(test(1, timeout_s=0.3))
    assert said.startswith("It is too slow (no answer within 0.3 s): raise distil.model.timeout_s")


@pytest.mark.parametrize(
    ("path", "page"),
    [
        (
            "/v1/models",
            {"data": [{"id": "other", "max_model_len": 9}, {"id": "tiny", "max_model_len": 2048}]},
        ),
        ("/v1/models", {"data": [{"id": "a.gguf", "meta": {"n_ctx": 2048, "n_ctx_train": 32768}}]}),
        ("/props", {"default_generation_settings": {"n_ctx": 2048}}),
        ("/api/ps", {"models": [{"name": "tiny:latest", "model": "tiny:latest", "context_length": 2048}]}),
        (
            "/api/v0/models",
            {"data": [{"id": "tiny", "max_context_length": 9, "loaded_context_length": 2048}]},
        ),
    ],
)
def test_a_server_that_says_that_its_context_is_too_short(
    model: OpenAIServer, test: Any, path: str, page: Any
) -> None:
    model.pages[path] = page
    found = test(1)
    assert found["context_tokens"] == 2048
    said = only_problem(found)
    assert said.startswith("A full question does not fit (the server serves 2,048 tokens of context")
    assert "llama-server -c 8192" in said
    assert "distil.size" not in said


def test_a_context_that_is_long_enough(model: OpenAIServer, test: Any) -> None:
    model.pages["/props"] = {"default_generation_settings": {"n_ctx": 4096}}
    assert test(0)["context_tokens"] == 4096


def test_a_question_that_was_cut_without_a_word(model: OpenAIServer, test: Any) -> None:
    model.read_tokens = 512
    model.answer = lambda _: {"memories": []}
    said = only_problem(test(1, {"size": "large"}))
    assert "it was cut without a word" in said
    assert 'distil.size = "small"' in said


def test_an_answer_that_ends_where_the_context_does(model: OpenAIServer, test: Any) -> None:
    model.always = "truncated"
    said = only_problem(test(1))
    assert "the answer ended after" in said
    assert "OLLAMA_CONTEXT_LENGTH" in said


def test_an_answer_that_is_cut_off(model: OpenAIServer, test: Any) -> None:
    model.answer = lambda _: {"memories": [{"content": "x" * 2300, "type": "event", "message": 1}]}
    model.always = "truncated"
    said = only_problem(test(1, max_output_tokens=256))
    assert said.startswith("Its answer is cut off after")
    assert "distil.model.max_output_tokens (it is 256)" in said


def test_of_a_small_model_what_is_complete_of_a_cut_answer_counts(model: OpenAIServer, test: Any) -> None:
    model.answer = lambda _: {"memories": small(_)["memories"] * 20}
    model.always = "truncated"
    found = test(0, max_output_tokens=256)
    assert found["memories"] == [BERGEN]
    (remark,) = found["remarks"]
    assert "what was complete of it counts" in remark


def test_nobody_asks_it(test: Any) -> None:
    (remark,) = test(0, {"analyst": "rules"})["remarks"]
    assert remark == 'Nobody asks it: distil.analyst is "rules"; set it to "model".'


def test_what_cannot_even_be_asked(run: Cli, test: Any, settings: Callable[..., None]) -> None:
    settings(model="tiny", url="http://127.0.0.1:9/v1", api_key_env="NO_SUCH_KEY_IS_SET")
    assert "NO_SUCH_KEY_IS_SET" in run("model", "test", "--json", code=2).error["message"]
    settings({"analyst": "rules"})
    Path("everlore.toml").write_text("", "utf-8")
    assert "set distil.model.model" in run("model", "test", code=2).err
