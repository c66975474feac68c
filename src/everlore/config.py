"""The settings: one frozen value, and the only reader of the environment and of everlore.toml.

Precedence, highest first: keyword arguments (command-line flags), environment variables (`EVERLORE_...`), the file
`everlore.toml`, defaults. It goes setting by setting, except for where the database is: the highest source that names the
data folder or a URL decides on all four of them. An empty flag or variable counts as not set.

The file is `$EVERLORE_CONFIG` if that is set, else `everlore.toml` in the current folder, else `everlore.toml` in the user's
configuration folder.
"""

import os
import tomllib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeGuard, get_args, get_origin

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from everlore.context_profiles import ContextSettings
from everlore.domain.errors import ConfigurationError
from everlore.text.meant import meant, nearest
from everlore.text.variants import ABBREVIATIONS, key

PLACE = frozenset({"data_dir", "database_url", "migration_url", "worker_url"})

Weight = Annotated[float, Field(ge=0, le=10)]


class RecallSettings(BaseModel):
    """Weights and sizes of recall. The defaults were measured (docs/path.md); `everlore eval` measures yours.

    Signals are scaled to 0-1 over the candidates before they are weighed, so a weight is a share of influence.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lexical: Weight = Field(default=1.0, description="weight of BM25")
    vector: Weight = Field(default=1.0, description="weight of cosine")
    late_interaction: Weight = Field(default=1.0, description="weight of the reranker; 0 switches it off")
    author: Weight = Field(default=0.2, description="added when the question names the author of a message")
    named_late_interaction: Weight = Field(
        default=1.5,
        description="weight of the reranker over a message and its neighbours when the question names an author",
    )
    named_answer: Weight = Field(
        default=0.1,
        description="times the score of the message before, if another person asks there, when the question names an author",
    )
    named_asking: Weight = Field(
        default=0.05,
        description="taken off a message that ends with a question when the question names an author",
    )
    named_session: Weight = Field(
        default=0.1,
        description="times how well the session as a whole matches when the question names an author",
    )
    time: Weight = Field(
        default=0.2, description="added when a message lies in a time that the question names"
    )
    session: Weight = Field(default=0.2, description="times the best score of the message's session")
    role: Weight = Field(
        default=0.35, description="added to the person's own messages when the question says I, my, we"
    )
    asked_again: Weight = Field(
        default=0.3,
        description="taken off a message that asks the same as the question and says nothing else",
    )
    feedback: Weight = Field(
        default=0.15,
        description="added to a message or memory that was confirmed for a question like this one, taken off a refused one",
    )
    keys: Weight = Field(
        default=0.2, description="times the relevance of the best memory or fact that rests on a message"
    )
    lane_depth: int = Field(
        default=50, ge=1, le=1000, description="the best so many of each lane become candidates"
    )
    reach: int = Field(
        default=2, ge=0, le=5, description="neighbours on each side that join the candidates and the windows"
    )
    rerank_depth: int = Field(default=200, ge=0, le=500, description="the best so many are reranked")
    exact_below: int = Field(
        default=5000, ge=0, le=1_000_000, description="vectors are compared exactly up to so many passages"
    )
    memory_relevance: Weight = Field(default=0.45, description="of a memory's score: how well it answers")
    memory_importance: Weight = Field(default=0.30, description="of a memory's score: how much it matters")
    memory_recency: Weight = Field(
        default=0.15, description="of a memory's score: how lately it became true or was used"
    )
    memory_access: Weight = Field(default=0.10, description="of a memory's score: how often it was used")
    recency_days: float = Field(default=90, gt=0, description="recency falls to 1/e in so many days")
    relationship_bonus: Weight = Field(default=0.10, description="added to memories of relationships")
    preference_bonus: Weight = Field(default=0.05, description="added to preferences")
    goal_bonus: Weight = Field(default=0.05, description="added to goals")
    floor: float = Field(default=0.1, ge=0, le=1, description="messages with less evidence are not listed")
    memory_floor: float = Field(
        default=0.25, ge=0, le=1, description="memories and facts with less support are not listed"
    )
    related: int = Field(
        default=5, ge=0, le=50, description="more memories that come by way of the entities that are named"
    )


class AliasSettings(BaseModel):
    """How names are taken for one. Weights say how surely a name means its entity, 0-1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trigram_threshold: float = Field(
        default=0.45, gt=0, le=1, description="names spelled this much alike are found by a search"
    )
    link_threshold: float = Field(
        default=0.6, gt=0, le=1, description="names this much alike are suggested as one entity"
    )
    weight_by_hand: float = Field(
        default=1.0, ge=0, le=1, description="how surely a name that a person gave means its entity"
    )
    weight_extracted: float = Field(
        default=0.9, ge=0, le=1, description="the same for a name that was read in a message"
    )
    weight_inferred: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description='the same for one that follows from another ("Ali" from "Ali Camarata")',
    )
    abbreviations: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="further abbreviations in names (lower case), with what they stand for; for names recorded from then on",
    )

    def key(self, name: str) -> str:
        """The form in which variants of a name are equal, with the further abbreviations."""
        return key(name, {**ABBREVIATIONS, **self.abbreviations} if self.abbreviations else ABBREVIATIONS)


class EmbedderSettings(BaseModel):
    """An embedding model served by an endpoint that speaks the OpenAI protocol (`POST {url}/embeddings`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = Field(description="up to and without `/embeddings`")
    model: str = Field(description="the model's name there")
    dimensions: int = Field(ge=1, le=4000, description="of its vectors, at most 4,000")
    api_key_env: str | None = Field(
        default=None, description="name of the environment variable that holds the key"
    )
    question_prefix: str = Field(default="", description="put before each question")
    passage_prefix: str = Field(default="", description="put before each passage")
    timeout_s: float = Field(default=30.0, gt=0, description="seconds for one request")
    batch: int = Field(default=64, ge=1, le=2048, description="texts in one request")


# What pydantic-ai knows by name; a test compares.
PROVIDERS = (
    "alibaba", "anthropic", "azure", "azure-responses", "bedrock", "bedrock-mantle", "cerebras", "cohere", "crusoe", "deepseek",
    "fireworks", "gateway", "github", "github-copilot", "google", "google-cloud", "groq", "heroku", "huggingface", "litellm",
    "meta", "mistral", "moonshotai", "nebius", "ollama", "openai", "openai-chat", "openai-responses", "openrouter", "ovhcloud",
    "sambanova", "snowflake", "together", "vercel", "vllm", "xai", "zai",
)  # fmt: skip


class ModelSettings(BaseModel):
    """A language model that distils: at an endpoint that speaks the OpenAI protocol, or one that pydantic-ai knows by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(
        min_length=1, description="its name at the endpoint; without url with its provider: anthropic:NAME"
    )
    url: str | None = Field(default=None, description="such as http://127.0.0.1:8080/v1")
    api_key_env: str | None = Field(
        default=None, description="name of the environment variable that holds the key"
    )
    timeout_s: float | None = Field(
        default=None, gt=0, le=3600, description="for one call; left out: 60, for a small model 300"
    )
    max_output_tokens: int | None = Field(
        default=None,
        ge=256,
        le=100_000,
        description="of an answer; one that is cut off fails (small: what is complete counts); left out: 4096, small 1200",
    )
    output: Literal["native", "prompted", "tool"] = Field(
        default="native", description="prompted for endpoints that know no JSON schemas; tool to call one"
    )
    temperature: float | None = Field(default=0.0, ge=0, le=2, description="none: the endpoint's own")
    price_in: float | None = Field(default=None, ge=0, description="per million tokens of prompts")
    price_out: float | None = Field(default=None, ge=0, description="per million tokens of answers")

    @model_validator(mode="after")
    def _has_a_provider(self) -> Self:
        provider, colon, _ = self.model.partition(":")
        if self.url is None and colon and provider.partition("/")[0] not in PROVIDERS:
            raise ValueError(
                f"nobody is known as {provider!r} in {self.model!r}.{meant(provider, PROVIDERS)}"
            )
        return self


class DistilSettings(BaseModel):
    """Who distils, how much of a conversation is shown along, and what it may cost. Caps are per workspace and day (UTC)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    analyst: Literal["rules", "model", "none"] = Field(
        default="rules", description="who distils: `rules` (no model), `model`, or `none`"
    )
    model: ModelSettings | None = Field(default=None, description="the language model")
    size: Literal["small", "large"] | None = Field(
        default=None,
        description="what is asked of it: sentences, or all at once; left out: small where its url is on this machine",
    )
    silence_minutes: float = Field(
        default=30, ge=0, le=10_080, description="after so long a window closes that is not full"
    )
    settle_minutes: float = Field(
        default=5,
        ge=0,
        le=10_080,
        description="the last message of a thread is not distilled before it is so old, since it may be edited or said anew",
    )
    keys_days: float = Field(
        default=30,
        gt=0,
        le=36_500,
        description="so long the keys that help recall are kept, unless it is said again",
    )
    context_messages: int = Field(
        default=75, ge=0, le=500, description="earlier messages that a model is shown along, at most"
    )
    context_tokens: int = Field(
        default=3000, ge=0, le=100_000, description="what they may come to, at about 4 characters a token"
    )
    prompts_dir: Path | None = Field(default=None, description="prompts of your own, by the names of ours")
    daily_calls_soft: int | None = Field(
        default=None, ge=0, description="calls a day from which a warning is given; failed ones count"
    )
    daily_calls_hard: int | None = Field(default=2000, ge=0, description="calls a day at most")
    daily_tokens_soft: int | None = Field(
        default=None, ge=0, description="the same for tokens, in and out together"
    )
    daily_tokens_hard: int | None = Field(
        default=None, ge=0, description="passed by at most the calls that are under way"
    )
    daily_cost_soft: float | None = Field(
        default=None, ge=0, description="the same for money, in the currency of your prices"
    )
    daily_cost_hard: float | None = Field(
        default=None, ge=0, description="passed by at most the calls that are under way"
    )
    breaker_failures: int = Field(
        default=5, ge=1, le=1000, description="failures in a row after which a model is left alone"
    )
    breaker_cooldown_s: float = Field(
        default=300,
        gt=0,
        le=86_400,
        description="for so long; doubled with each probe that fails, up to an hour",
    )

    @model_validator(mode="after")
    def _caps_can_be_reached(self) -> Self:
        prices = (self.model.price_in, self.model.price_out) if self.model else ()
        for cap in ("daily_cost_soft", "daily_cost_hard"):
            if getattr(self, cap) is not None and not any(prices):
                raise ValueError(
                    f"{cap} can never be reached without prices: set model.price_in and model.price_out, or leave it out"
                )
        return self

    @property
    def silence(self) -> timedelta:
        """`silence_minutes` as a span of time."""
        return timedelta(minutes=self.silence_minutes)

    @property
    def keys_kept(self) -> timedelta:
        """`keys_days` as a span of time."""
        return timedelta(days=self.keys_days)

    @property
    def settle(self) -> timedelta:
        """`settle_minutes` as a span of time."""
        return timedelta(minutes=self.settle_minutes)


class Settings(BaseSettings):
    """Everything that can be set. Environment names are upper case: `EVERLORE_DATA_DIR`, `EVERLORE_RECALL__AUTHOR`."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix="EVERLORE_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        nested_model_default_partial_update=True,
    )

    data_dir: Path | None = Field(default=None, description="where the embedded Postgres keeps its data")
    database_url: str | None = Field(
        default=None, description="another Postgres instead of the embedded one (the application's login)"
    )
    migration_url: str | None = Field(
        default=None, description="the owner's login; the database URL if it is left out"
    )
    worker_url: str | None = Field(
        default=None, description="the workers' login; the database URL if it is left out"
    )
    pool_size: int = Field(
        default=8,
        ge=1,
        le=200,
        description="connections a process may hold for each of the two logins, 1 to 200",
    )
    embedder: str = Field(
        default="minilm",
        description="the model that new installations use: minilm, none, or a name in embedders",
    )
    embedders: dict[str, EmbedderSettings] = Field(
        default_factory=dict[str, EmbedderSettings], description="further models"
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=256,
        description="processor threads for the bundled model; 0 means all cores for bulk",
    )
    host: Literal["127.0.0.1", "localhost", "::1"] = Field(
        default="127.0.0.1",
        description="where `everlore up` listens: `127.0.0.1`, `localhost` or `::1`, nothing else",
    )
    port: int = Field(default=7411, ge=0, le=65535, description="its port; 0 takes any free one")
    recall: RecallSettings = RecallSettings()
    distil: DistilSettings = DistilSettings()
    aliases: AliasSettings = AliasSettings()
    context: ContextSettings = ContextSettings()

    @field_validator("embedders")
    @classmethod
    def _names_are_free(cls, embedders: dict[str, EmbedderSettings]) -> dict[str, EmbedderSettings]:
        if taken := {"minilm", "none"} & embedders.keys():
            raise ValueError(f"the name {min(taken)!r} is taken by Everlore itself")
        return embedders

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = TomlConfigSettingsSource(settings_cls, toml_file=config_file())
        return init_settings, _Below(settings_cls, env_settings), _Below(settings_cls, file)


class _Below(PydanticBaseSettingsSource):
    """A source that is silent on where the database is when a higher one has spoken of that."""

    def __init__(self, settings_cls: type[BaseSettings], source: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._source = source

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._source.get_field_value(field, field_name)

    def __call__(self) -> dict[str, Any]:
        decided = any(self.current_state.get(name) is not None for name in PLACE)
        return {name: value for name, value in self._source().items() if not (decided and name in PLACE)}


def config_file() -> Path | None:
    """The file that is read: the one named by EVERLORE_CONFIG, or the first that exists of the usual places."""
    if named := os.environ.get("EVERLORE_CONFIG"):
        if not Path(named).is_file():
            raise ConfigurationError(f"EVERLORE_CONFIG names {named}, but there is no such file.")
        return Path(named)
    usual = (Path("everlore.toml"), platformdirs.user_config_path("everlore") / "everlore.toml")
    return next((path for path in usual if path.is_file()), None)


def load_settings(**flags: Any) -> Settings:
    """Read the settings; flags that are None or empty count as not given.

    Raises ConfigurationError that names the setting and what is wrong with it.
    """
    try:
        settings = Settings(**{name: value for name, value in flags.items() if value not in (None, "")})
        _require_known(settings)
        return settings
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{config_file()} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigurationError(f"{config_file()} cannot be read: {error.strerror}") from error
    except SettingsError as error:
        raise ConfigurationError(f"The settings are not usable: {error} ({error.__cause__})") from error
    except ValidationError as error:
        problems = "; ".join(map(_told, error.errors()))
        raise ConfigurationError(f"The settings are not usable: {problems}") from error


def _told(problem: Any) -> str:
    place = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        return f"{place} is not a setting.{meant(place, known_settings())}"
    return f"{place}: {problem['msg'].removeprefix('Value error, ')}"


def known_settings() -> list[str]:
    """All settings with dots between the words; what has names of its own stands as `embedders.*.url`."""
    return list(_names(Settings))


def _names(model: type[BaseModel], above: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = [one for one in (field.annotation, *get_args(field.annotation)) if _is_model(one)]
        named = "*." if get_origin(field.annotation) is dict else ""
        if inner:
            yield from _names(inner[0], f"{above}{name}.{named}")
        else:
            yield f"{above}{name}" + (".*" if named else "")


def _is_model(one: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(one, type) and issubclass(one, BaseModel)


def _require_known(settings: Settings) -> None:
    """Raises ConfigurationError for an `EVERLORE_...` variable that sets nothing: a slip would be silent otherwise."""
    keys = [
        one.api_key_env for one in (*settings.embedders.values(), settings.distil.model) if one is not None
    ]
    known = known_settings()
    for variable, value in os.environ.items():
        name = variable.upper()
        if name == "EVERLORE_CONFIG" or variable in keys or not value or not name.startswith("EVERLORE_"):
            continue
        given = name.removeprefix("EVERLORE_").lower().split("__")
        if not any(_fits(given, one.split(".")) for one in known):
            near = nearest(".".join(given), known)
            hint = f" Did you mean EVERLORE_{near.upper().replace('.', '__')}?" if near else ""
            raise ConfigurationError(f"The environment variable {variable} is not a setting.{hint}")


def _fits(given: Sequence[str], known: Sequence[str]) -> bool:
    """Whether words are the setting, or a group of settings (given as JSON)."""
    return len(given) <= len(known) and all(
        one == two or two == "*" for one, two in zip(given, known, strict=False)
    )
