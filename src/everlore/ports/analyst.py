"""Analyst: reads a window of a conversation and says what is worth remembering. With a language model, or by rules.

An analyst drafts. What it drafts is checked against the messages, resolved to entities and held against what is known
before anything of it is believed (`everlore.grounding`): nothing here is trusted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from everlore.domain.memories import EntityType, MemoryType, Tier

# How a draft stands to what is known already. `corrects`: what was known was never true.
Relation: TypeAlias = Literal["new", "same", "updates", "contradicts", "corrects"]

MAX_MEMORIES = 6
# Keys count by themselves, so that they take no room from what is shown.
MAX_KEYS = 6
MAX_FACTS = 24
MAX_ENTITIES = 24


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message as the analyst sees it. `number` counts from 1 within the window; drafts name their sources by it.

    `text` is the message's own text; what is off the record or came out of Everlore itself is not in the window. `speaker`
    is the name by which facts call the author ("Anna"; "user" where no name was given).
    """

    number: int
    role: str
    speaker: str
    at: datetime
    text: str
    captions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A memory that is shown along, so that the analyst can say how its drafts relate to it. `number` counts from 1."""

    number: int
    type: MemoryType
    content: str
    valid_from: datetime
    author: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """What one run reads: at most 10 messages to distil; earlier ones for understanding only; what is known already."""

    messages: tuple[WindowMessage, ...]
    earlier: tuple[WindowMessage, ...] = ()
    known: tuple[KnownMemory, ...] = ()
    entities: tuple[str, ...] = ()
    taxonomy: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """The exact words that a draft rests on, and the number of the message that they stand in."""

    message: int
    text: str


@dataclass(frozen=True, slots=True)
class DraftMemory:
    """`event_at`: when what it tells of happens or happened (aware); None: when it was said. `target`: number of the known
    memory that `relation` speaks of; `replaces`: it speaks of an earlier draft of the same answer, by its place (from 0).
    `entities`: names as they stand in the draft's entities or in the text. `tier`: whether it is worth showing, or only leads a
    recall to its messages; of a key nothing but its words, sources and confidence counts."""

    type: MemoryType
    content: str
    sources: tuple[Quote, ...]
    category: str | None = None
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 0.7
    entities: tuple[str, ...] = ()
    event_at: datetime | None = None
    expires_at: datetime | None = None
    reasoning: str = ""
    relation: Relation = "new"
    target: int | None = None
    replaces: int | None = None
    tier: Tier = "shown"


@dataclass(frozen=True, slots=True)
class DraftFact:
    """`ended`: the text says that it holds no longer. `valid_from`: since when, if the text says so; None: since it was said.
    `object_is_entity`: whether the object is somebody or something with a name. `memory`: place (from 0) of the draft memory
    that says the same, so that both are superseded together."""

    subject: str
    predicate: str
    object: str
    sources: tuple[Quote, ...]
    confidence: float = 0.7
    valid_from: datetime | None = None
    ended: bool = False
    object_is_entity: bool = False
    relation: Relation = "new"
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class DraftEntity:
    """`aliases` are other names for it in this window, possessive descriptions included ("Anna's sister").
    `distinct`: the text itself tells it from a known one of the same name."""

    name: str
    type: EntityType
    sources: tuple[Quote, ...] = ()
    aliases: tuple[str, ...] = ()
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything that one window yields. `taxonomy`: a path that the thread may belong to ("work.studio")."""

    memories: tuple[DraftMemory, ...] = ()
    facts: tuple[DraftFact, ...] = ()
    entities: tuple[DraftEntity, ...] = ()
    taxonomy: str | None = None


@dataclass(frozen=True, slots=True)
class Doubts:
    """What speaks against an answer as a whole, so that a model is asked again: for each draft that rests on nothing that was
    said, why; and whether all memories are in a language in which nobody spoke."""

    memories: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    foreign: bool = False


# What grounding makes of drafts as they stand in an answer; handed to analysts that can ask again.
Doubting: TypeAlias = Callable[[Window, Extraction], Doubts]


@dataclass(frozen=True, slots=True)
class CallReport:
    """What one model call cost, told as soon as it is known, whether it succeeded or not. Tokens are 0 where unknown."""

    model: str
    tokens_in: int
    tokens_out: int
    failed: bool


class Governor(Protocol):
    """Asked before each model call, told after each. `allow` raises ModelUnavailable's kin when no call may be made now."""

    async def allow(self, model: str) -> None: ...

    async def report(self, call: CallReport) -> None: ...


class Analyst(Protocol):
    """`name` and `version` stand in every row that it drafted; `model` is None for one that calls none."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def model(self) -> str | None: ...

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        """Read one window. Raises ModelUnavailable when the model fails for good; never answers "nothing" instead."""
        ...

    async def close(self) -> None: ...
