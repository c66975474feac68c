"""Settings of distilling: their bounds, and that what they say can be handed on as it is."""

import inspect
from pathlib import Path

import pytest

from everlore.config import DistilSettings, ModelSettings, load_settings
from everlore.domain.errors import ConfigurationError
from everlore.models.language_model import model_analyst


def test_without_settings_rules_distil_and_calls_are_capped() -> None:
    distil = load_settings().distil
    assert (distil.analyst, distil.model, distil.daily_calls_hard) == ("rules", None, 2000)


def test_a_model_can_be_named_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "everlore.toml").write_text(
        '[distil]\nanalyst = "model"\ndaily_cost_hard = 2\n[distil.model]\nmodel = "tiny"\nurl = "http://x/v1"\nprice_in = 0.4\n'
    )
    monkeypatch.setenv("EVERLORE_CONFIG", str(tmp_path / "everlore.toml"))
    monkeypatch.setenv("EVERLORE_DISTIL__MODEL__TIMEOUT_S", "5")
    distil = load_settings().distil
    assert distil.model == ModelSettings(model="tiny", url="http://x/v1", price_in=0.4, timeout_s=5)
    assert (distil.analyst, distil.daily_cost_hard) == ("model", 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EVERLORE_DISTIL__ANALYST", "magic"),
        ("EVERLORE_DISTIL__DAILY_CALLS_HARD", "-1"),
        ("EVERLORE_DISTIL__BREAKER_FAILURES", "0"),
        ("EVERLORE_DISTIL__MODEL__OUTPUT", "xml"),
        ("EVERLORE_DISTIL__NONSENSE", "1"),
    ],
)
def test_what_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("EVERLORE_DISTIL__MODEL__MODEL", "tiny")
    with pytest.raises(ConfigurationError):
        load_settings()


def test_the_defaults_of_settings_and_of_what_they_are_handed_to_are_the_same() -> None:
    def defaults(of: type[ModelSettings] | type[DistilSettings]) -> dict[str, object]:
        return {name: field.default for name, field in of.model_fields.items()}

    model, distil = defaults(ModelSettings), defaults(DistilSettings)
    for name, parameter in inspect.signature(model_analyst).parameters.items():
        if name not in ("model", "doubting"):
            assert parameter.default == {**distil, **model}[name], name
