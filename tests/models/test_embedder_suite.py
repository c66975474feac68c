"""What every embedder promises, asked of all of them; then what a remote one does when its server misbehaves."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.embedding_server import DIMENSIONS, EmbeddingServer

from everlore.domain.errors import ConfigurationError, ModelUnavailable
from everlore.models.fake import FakeEmbedder
from everlore.models.minilm import MiniLM
from everlore.models.openai_embedder import OpenAIEmbedder
from everlore.ports.embedder import TOKEN_DIMENSIONS, Embedder

TEXTS = [
    "Emma moved to Lisbon in spring.",
    "The boiler was repaired!",
    "Ja, båten är röd.",
    "日本語のテキスト",
    "🙂",
    "x",
    "Emma moved to Lisbon in spring.",
    "word " * 3000,
    "\u200b",
    "NUL-free \x01 control",
]


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    running = EmbeddingServer()
    yield running
    running.close()


@pytest.fixture(params=["fake", "minilm", "openai"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    made: Embedder
    if request.param == "openai":
        server = request.getfixturevalue("server")
        made = OpenAIEmbedder("test", url=server.url, model="tiny", dimensions=DIMENSIONS, batch=4)
    else:
        made = FakeEmbedder() if request.param == "fake" else MiniLM(threads=2)
    yield made
    await made.close()


async def test_vectors_have_the_named_dimension_and_unit_length(embedder: Embedder) -> None:
    encoded = await embedder.encode_passages(TEXTS)
    question = await embedder.encode_question(TEXTS[0])
    assert len(encoded) == len(TEXTS)
    for vector in [question.vector, *(one.vector for one in encoded)]:
        assert vector.shape == (embedder.dimensions,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


async def test_the_same_text_has_the_same_vectors_alone_or_among_others(embedder: Embedder) -> None:
    together = await embedder.encode_passages(TEXTS)
    for text, among in zip(TEXTS, together, strict=True):
        (alone,) = await embedder.encode_passages([text])
        assert float(alone.vector @ among.vector) > 0.995
        assert (alone.tokens is None) == (among.tokens is None)
        if alone.tokens is not None and among.tokens is not None:
            assert alone.tokens.shape == among.tokens.shape
            assert np.abs(alone.tokens.astype(int) - among.tokens.astype(int)).max(initial=0) <= 25
    again = await embedder.encode_passages(TEXTS)
    for first, second in zip(together, again, strict=True):
        assert np.array_equal(first.vector, second.vector)


async def test_order_is_kept(embedder: Embedder) -> None:
    texts = [f"{'long ' * (number % 7)}message number {number}" for number in range(30)]
    forwards = await embedder.encode_passages(texts)
    backwards = await embedder.encode_passages(texts[::-1])
    for one, other in zip(forwards, backwards[::-1], strict=True):
        assert float(one.vector @ other.vector) > 0.995


async def test_a_question_is_nearest_to_the_passage_that_says_it(embedder: Embedder) -> None:
    question = await embedder.encode_question("Emma moved to Lisbon in which spring?")
    encoded = await embedder.encode_passages(TEXTS)
    similarities = [float(question.vector @ one.vector) for one in encoded]
    assert np.argmax(similarities) in (0, 6)


async def test_nothing_is_encoded_to_nothing(embedder: Embedder) -> None:
    assert await embedder.encode_passages([]) == []


async def test_token_vectors_match_their_spans(embedder: Embedder) -> None:
    text = "Where did Émile's boat go — 船?"
    question = await embedder.encode_question(text)
    if question.tokens is None:
        assert question.spans == ()
        return
    assert question.tokens.shape == (len(question.spans), TOKEN_DIMENSIONS)
    # A token that the model does not know (a rare sign) is zero: it must match nothing.
    known = [text[start:end] != "船" for start, end in question.spans]
    lengths = np.linalg.norm(question.tokens, axis=1)
    assert lengths[known] == pytest.approx(1, abs=1e-3)
    assert all(0 <= start < end <= len(text) for start, end in question.spans)
    assert "".join(text[start:end].lower() for start, end in question.spans).startswith("wheredidémile")
    (passage,) = await embedder.encode_passages([text])
    assert passage.tokens is not None
    assert passage.tokens.dtype == np.int8
    assert passage.tokens.shape[1] == TOKEN_DIMENSIONS


async def test_two_tasks_at_once_get_their_own_answers(embedder: Embedder) -> None:
    alone = {text: (await embedder.encode_question(text)).vector for text in TEXTS[:4]}
    jobs = [embedder.encode_passages([text] * 5) for text in TEXTS[:4]]
    questions = [embedder.encode_question(text) for text in TEXTS[:4]]
    passages, asked = await asyncio.gather(asyncio.gather(*jobs), asyncio.gather(*questions))
    for text, encoded, question in zip(TEXTS[:4], passages, asked, strict=True):
        assert all(float(one.vector @ alone[text]) > 0.99 for one in encoded)
        assert float(question.vector @ alone[text]) > 0.99


async def test_closing_twice_is_harmless(embedder: Embedder) -> None:
    await embedder.encode_question("hello")
    await embedder.close()
    await embedder.close()


# ---- MiniLM


async def test_a_damaged_model_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"not a model")
    for path, said in ((file, "is damaged"), (tmp_path / "none.onnx", "is not installed")):
        model = MiniLM(model_path=path)
        for call in (model.encode_question("hello"), model.encode_passages(["hello"])):
            with pytest.raises(ModelUnavailable, match=said):
                await call
        await model.close()


async def test_minilm_reads_up_to_256_tokens() -> None:
    model = MiniLM(threads=1)
    short, long = await model.encode_passages(["boat " * 10, "boat " * 1000])
    assert short.tokens is not None
    assert long.tokens is not None
    assert (len(short.tokens), len(long.tokens)) == (10, 254)
    await model.close()


# ---- an endpoint that speaks the OpenAI protocol


@pytest.fixture
async def remote(server: EmbeddingServer) -> AsyncIterator[OpenAIEmbedder]:
    made = OpenAIEmbedder("test", url=server.url + "/", model="tiny", dimensions=DIMENSIONS, batch=4)
    yield made
    await made.close()


def changed(place: int, value: Any) -> Callable[[dict[str, Any]], tuple[int, Any]]:
    def change(honest: dict[str, Any]) -> tuple[int, Any]:
        honest["data"][place]["embedding"] = value
        return 200, honest

    return change


MISBEHAVIOURS: dict[str, tuple[Callable[[dict[str, Any]], tuple[int, Any]], str]] = {
    "too many requests": (lambda _: (429, {"error": "slow down"}), "answered 429: .*slow down"),
    "internal error": (lambda _: (500, b"oops"), "answered 500: oops"),
    "redirect": (lambda _: (302, b""), "answered 302"),
    "wrong key": (lambda _: (401, b"who are you?"), "answered 401"),
    "no JSON": (lambda _: (200, b"<html>hello</html>"), "did not answer with JSON"),
    "no UTF-8": (lambda _: (200, b'{"data": "\xff\xfe"}'), "did not answer with JSON|not the form"),
    "nothing": (lambda _: (200, b""), "did not answer with JSON"),
    "a list": (lambda _: (200, []), "has not the form"),
    "null": (lambda _: (200, None), "has not the form"),
    "no data": (lambda _: (200, {}), "has not the form"),
    "data of another form": (lambda _: (200, {"data": 5}), "has not the form"),
    "rows of another form": (lambda _: (200, {"data": [1, 2]}), "has not the form"),
    "no index": (lambda honest: (200, {"data": [{"embedding": r["embedding"]} for r in honest["data"]]}), "not the form"),
    "too few": (lambda honest: (200, {"data": honest["data"][:-1]}), "gave vectors for 1 texts; 2 were asked for"),
    "too many": (
        lambda honest: (200, {"data": [*honest["data"], {"index": 2, "embedding": [1.0] * DIMENSIONS}]}),
        "gave vectors for 3 texts; 2",
    ),
    "one twice": (lambda honest: (200, {"data": [honest["data"][0]] * 2}), "gave vectors for 2 texts"),
    "another dimension": (
        lambda honest: (200, {"data": [{**row, "embedding": [1.0] * 3} for row in honest["data"]]}),
        "gives 3 dimensions; the setting says 32",
    ),
    "mixed dimensions": (changed(1, [1.0]), "has not the form|dimensions"),
    "no numbers": (changed(0, ["x"] * DIMENSIONS), "has not the form"),
    "scalars": (lambda honest: (200, {"data": [{**row, "embedding": 1.0} for row in honest["data"]]}), "form|dimensions"),
    "no vectors": (changed(0, None), "has not the form|zero or not a number|dimensions"),
    "NaN": (changed(0, [float("nan")] * DIMENSIONS), "zero or not a number"),
    "infinity": (changed(0, [1e300] + [1.0] * (DIMENSIONS - 1)), "zero or not a number"),
    "a number too large to square": (changed(0, [1e200] * DIMENSIONS), "zero or not a number"),
    "zero": (changed(1, [0.0] * DIMENSIONS), "zero or not a number"),
    "index of another type": (
        lambda honest: (200, {"data": [{**row, "index": str(row["index"])} for row in honest["data"]]}),
        "gave vectors for|form",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MISBEHAVIOURS)
async def test_a_misbehaving_endpoint_is_a_model_that_is_not_available(
    server: EmbeddingServer, remote: OpenAIEmbedder, case: str
) -> None:
    server.misbehave, said = MISBEHAVIOURS[case]
    with pytest.raises(ModelUnavailable, match=said):
        await remote.encode_passages(["one", "two"])
    server.misbehave = None
    assert len(await remote.encode_passages(["one", "two"])) == 2


async def test_a_shuffled_answer_is_put_in_order(server: EmbeddingServer, remote: OpenAIEmbedder) -> None:
    honest = await remote.encode_passages(["one", "two", "three"])
    server.misbehave = lambda answer: (200, {"data": answer["data"][::-1]})
    shuffled = await remote.encode_passages(["one", "two", "three"])
    for first, second in zip(honest, shuffled, strict=True):
        assert np.array_equal(first.vector, second.vector)


async def test_large_numbers_are_not_lost(server: EmbeddingServer, remote: OpenAIEmbedder) -> None:
    server.misbehave = changed(0, [3e30, 4e30] + [0.0] * (DIMENSIONS - 2))
    (one,) = await remote.encode_passages(["one"])
    assert one.vector[:2].tolist() == pytest.approx([0.6, 0.8])


async def test_vectors_that_are_not_of_unit_length_are_made_so(
    server: EmbeddingServer, remote: OpenAIEmbedder
) -> None:
    server.misbehave = changed(0, [3.0, 4.0] + [0.0] * (DIMENSIONS - 2))
    (one,) = await remote.encode_passages(["one"])
    assert one.vector[:2].tolist() == pytest.approx([0.6, 0.8])


async def test_an_endpoint_that_does_not_answer_in_time(server: EmbeddingServer) -> None:
    server.hold.clear()
    slow = OpenAIEmbedder("test", url=server.url, model="tiny", dimensions=DIMENSIONS, timeout_s=0.05)
    with pytest.raises(ModelUnavailable, match="cannot be reached: ReadTimeout"):
        await slow.encode_question("hello")
    server.hold.set()
    await slow.close()


async def test_an_endpoint_that_is_not_there(server: EmbeddingServer) -> None:
    for url in ("http://127.0.0.1:9", "http://nowhere.invalid/v1", "localhost:8080", server.url + "/deeper"):
        lost = OpenAIEmbedder("test", url=url, model="tiny", dimensions=DIMENSIONS, timeout_s=2)
        with pytest.raises(ModelUnavailable, match=r"cannot be reached|answered 404"):
            await lost.encode_question("hello")
        await lost.close()


async def test_passages_travel_in_batches_with_their_prefix_and_questions_once(
    server: EmbeddingServer,
) -> None:
    model = OpenAIEmbedder(
        "test",
        url=server.url,
        model="e5",
        dimensions=DIMENSIONS,
        batch=2,
        question_prefix="query: ",
        passage_prefix="passage: ",
    )
    await model.encode_passages(["a", "b", "c"])
    assert [asked["input"] for asked in server.requests] == [["passage: a", "passage: b"], ["passage: c"]]
    await model.encode_question("a")
    await model.encode_question("a")
    assert [asked["input"] for asked in server.requests[2:]] == [["query: a"]]
    assert {asked["model"] for asked in server.requests} == {"e5"}
    await model.close()


async def test_prefixes_are_part_of_the_name() -> None:
    def named(**prefixes: str) -> str:
        return OpenAIEmbedder("t", url="http://localhost", model="e5", dimensions=3, **prefixes).name  # type: ignore[arg-type]

    assert named() == "e5"
    assert (
        len(
            {named(), named(question_prefix="q: "), named(passage_prefix="q: "), named(question_prefix="p: ")}
        )
        == 4
    )


async def test_the_key_comes_from_the_environment(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="needs its key in the environment variable MY_KEY"):
        OpenAIEmbedder("test", url=server.url, model="tiny", dimensions=DIMENSIONS, api_key_env="MY_KEY")
    monkeypatch.setenv("MY_KEY", "secret")
    model = OpenAIEmbedder("test", url=server.url, model="tiny", dimensions=DIMENSIONS, api_key_env="MY_KEY")
    await model.encode_question("hello")
    assert server.authorization == "Bearer secret"
    await model.close()
