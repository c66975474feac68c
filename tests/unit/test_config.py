"""Settings: where they come from, which one wins, and what is said about a wrong one."""

from pathlib import Path

import platformdirs
import pytest

from everlore.config import Settings, load_settings
from everlore.domain.errors import ConfigurationError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and no configuration folder of the user's."""
    monkeypatch.chdir(tmp_path)

    def config(_: str) -> Path:
        return tmp_path / "config"

    monkeypatch.setattr(platformdirs, "user_config_path", config)
    return tmp_path


def test_the_defaults() -> None:
    settings = load_settings()
    assert (settings.embedder, settings.host, settings.port) == ("minilm", "127.0.0.1", 7411)
    assert settings.recall.exact_below == 5000


def test_flags_before_environment_before_file_before_defaults(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "everlore.toml").write_text(
        "port = 1\npool_size = 1\nthreads = 1\n[recall]\nauthor = 0.5\ntime = 0.5\n"
    )
    monkeypatch.setenv("EVERLORE_PORT", "2")
    monkeypatch.setenv("EVERLORE_POOL_SIZE", "2")
    monkeypatch.setenv("EVERLORE_RECALL__AUTHOR", "0.7")
    settings = load_settings(port=3, embedder=None)
    assert (settings.port, settings.pool_size, settings.threads, settings.embedder) == (3, 2, 1, "minilm")
    assert (settings.recall.author, settings.recall.time, settings.recall.session) == (0.7, 0.5, 0.2)


def _place(**flags: object) -> tuple[str | None, ...]:
    settings = load_settings(**flags)
    folder = None if settings.data_dir is None else str(settings.data_dir)
    return folder, settings.database_url, settings.migration_url, settings.worker_url


def test_the_highest_source_that_says_where_the_database_is_decides_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "everlore.toml").write_text(
        "database_url = 'file'\nmigration_url = 'file'\nworker_url = 'file'\nport = 1\n"
    )
    assert _place() == (None, "file", "file", "file")
    assert _place(data_dir="flag") == ("flag", None, None, None)
    monkeypatch.setenv("EVERLORE_DATA_DIR", "env")
    assert _place() == ("env", None, None, None)
    assert _place(database_url="flag") == (None, "flag", None, None)
    monkeypatch.setenv("EVERLORE_WORKER_URL", "env")
    assert _place(data_dir=None) == ("env", None, None, "env")
    assert _place(data_dir="flag") == ("flag", None, None, None)
    assert load_settings(data_dir="flag").port == 1


def test_what_is_empty_is_not_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "everlore.toml").write_text("database_url = 'file'\nport = 1\n")
    for name in ("DATA_DIR", "DATABASE_URL", "WORKER_URL", "PORT", "RECALL__AUTHOR"):
        monkeypatch.setenv(f"EVERLORE_{name}", "")
    assert _place(data_dir="", migration_url="") == (None, "file", None, None)
    assert (load_settings().port, load_settings().recall.author) == (1, 0.2)


def test_one_nested_flag_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERLORE_RECALL__AUTHOR", "0.7")
    recall = load_settings(recall={"reach": 0}).recall
    assert (recall.author, recall.reach, recall.lexical) == (0.7, 0, 1.0)


def test_an_embedder_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERLORE_EMBEDDERS__LOCAL__URL", "http://localhost:8080/v1")
    monkeypatch.setenv("EVERLORE_EMBEDDERS__LOCAL__MODEL", "e5")
    monkeypatch.setenv("EVERLORE_EMBEDDERS__LOCAL__DIMENSIONS", "384")
    assert load_settings().embedders["local"].model == "e5"


def test_the_named_file_is_read_instead_of_the_usual_ones(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "everlore.toml").write_text("port = 1\n")
    (folder / "mine.toml").write_text("threads = 2\n")
    monkeypatch.setenv("EVERLORE_CONFIG", str(folder / "mine.toml"))
    assert (load_settings().port, load_settings().threads) == (7411, 2)
    monkeypatch.setenv("EVERLORE_CONFIG", str(folder / "none.toml"))
    with pytest.raises(ConfigurationError, match=r"EVERLORE_CONFIG names .*none\.toml"):
        load_settings()


def test_the_user_s_file_is_read_where_the_folder_has_none(folder: Path) -> None:
    (folder / "config").mkdir()
    (folder / "config" / "everlore.toml").write_text("port = 5\n")
    assert load_settings().port == 5
    (folder / "everlore.toml").write_text("threads = 1\n")
    assert (load_settings().port, load_settings().threads) == (7411, 1)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("EVERLORE_PORT", "eighty", "port: "),
        ("EVERLORE_PORT", "70000", "port: .*65535"),
        ("EVERLORE_POOL_SIZE", "0", "pool_size: "),
        ("EVERLORE_HOST", "0.0.0.0", "host: "),
        ("EVERLORE_RECALL__AUTHOR", "-1", "recall.author: .*0"),
        ("EVERLORE_RECALL__LANE_DEPTH", "many", "recall.lane_depth: "),
        ("EVERLORE_RECALL__NONE", "1", "recall.none is not a setting"),
        ("EVERLORE_RECALL", "{", "recall"),
        ("EVERLORE_EMBEDDERS__X__URL", "http://localhost", "embedders.x.model: "),
        ("EVERLORE_EMBEDDERS__MINILM__URL", "http://localhost", "embedders"),
    ],
)
def test_a_wrong_setting_in_the_environment_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=said):
        load_settings()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"port = ", r"everlore\.toml is not valid TOML"),
        (b'embedder = "\xff"', r"everlore\.toml is not valid"),
        (b"ports = 1", "ports is not a setting. Did you mean port"),
        (b"[recall]\nauthor = 'x'", "recall.author: "),
        (
            b"[embedders.none]\nurl = 'http://localhost'\nmodel = 'x'\ndimensions = 3",
            "'none' is taken",
        ),
    ],
)
def test_a_wrong_file_is_named(folder: Path, content: bytes, said: str) -> None:
    (folder / "everlore.toml").write_bytes(content)
    with pytest.raises(ConfigurationError, match=said):
        load_settings()


def test_a_flag_that_is_no_setting_is_named() -> None:
    with pytest.raises(ConfigurationError, match="colour is not a setting"):
        load_settings(colour="red")


def test_settings_do_not_change() -> None:
    settings = Settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("variable", "hint"),
    [
        ("EVERLORE_PROT", "EVERLORE_PORT"),
        ("EVERLORE_DATABASE", "EVERLORE_DATABASE_URL"),
        ("EVERLORE_RECALL__AUTOR", "recall.author"),
        ("EVERLORE_DISTILL__ANALYST", "EVERLORE_DISTIL__ANALYST"),
        ("EVERLORE_HOME", None),
        ("EVERLORE_RECALL__NONE", None),
        ("EVERLORE_LOG_LEVEL", None),
        ("EVERLORE_REDIS_URL", None),
        ("EVERLORE_API_KEY", None),
        ("EVERLORE_TOKEN", None),
    ],
)
def test_only_what_is_near_is_proposed(
    monkeypatch: pytest.MonkeyPatch, variable: str, hint: str | None
) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(ConfigurationError) as raised:
        load_settings()
    said = str(raised.value)
    assert "is not a setting" in said
    assert (f"Did you mean {hint}?" in said) if hint else ("Did you mean" not in said)
