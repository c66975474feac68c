"""What a slot offers: one thing that may stand in a context, with all that is needed to choose it, show it and log it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from everlore.domain.context import ItemKind
from everlore.domain.recall import Recall, Support
from everlore.store.run import Transaction
from everlore.text.sentences import sentences
from everlore.text.words import in_a_row

# Fewer words may stand anywhere by chance.
_FEW_WORDS = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """`value` is what it is worth beside others of its part; `first`: it is chosen before all that is not. `note` stands before
    the words (`now`, `no longer`). `names`: the text gives it a number. `template`: its words are those of that template. `own`:
    the words alone, where `text` has more than them."""

    slot: str
    kind: ItemKind
    text: str
    value: float = 1.0
    first: bool = False
    id: UUID | None = None
    version: UUID | None = None
    sources: tuple[UUID, ...] = ()
    at: datetime | None = None
    author: str | None = None
    trust: str | None = None
    note: str = ""
    names: bool = True
    template: str = ""
    own: str = ""
    support: Support | None = None


@dataclass(slots=True)
class Given:
    """What earlier contexts of the chain gave: versions by lineage with their numbers, messages, and versions of which it was
    said that they hold no longer. `made_at`: when the last of them was made."""

    memories: dict[UUID, UUID] = field(default_factory=dict[UUID, UUID])
    facts: dict[UUID, UUID] = field(default_factory=dict[UUID, UUID])
    messages: set[UUID] = field(default_factory=set[UUID])
    ended: set[UUID] = field(default_factory=set[UUID])
    numbers: dict[UUID, int] = field(default_factory=dict[UUID, int])
    made_at: datetime | None = None

    def has(self, piece: Piece) -> bool:
        """Whether it was given in this version."""
        if piece.id is None:
            return False
        if piece.kind == "message":
            return piece.id in self.messages
        return (self.memories if piece.kind == "memory" else self.facts).get(piece.id) == piece.version

    @property
    def last_number(self) -> int:
        return max(self.numbers.values(), default=0)


@dataclass(frozen=True, slots=True)
class SaidBefore:
    """The words of the messages that the reader has before it. A question that has the words of an answer does not say it."""

    stated: str
    whole: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "SaidBefore":
        kept = list(texts)
        stated = (one.text for text in kept for one in sentences(text) if not one.text.rstrip().endswith("?"))
        return cls("".join(map(in_a_row, stated)), frozenset(map(in_a_row, kept)))

    def has(self, text: str) -> bool:
        """Whether a text stands word for word in a sentence, whatever its case and signs; of few words, only if it is all that
        a message says."""
        words = in_a_row(text)
        return bool(words.strip()) and (
            words in self.whole or (len(words.split()) >= _FEW_WORDS and words in self.stated)
        )


@dataclass(frozen=True, slots=True)
class Material:
    """What slots are filled from. `answers`: a recall for each query, the latest query first. `most`: how many items each slot
    may hold."""

    tx: Transaction
    now: datetime
    thread_id: UUID | None
    answers: tuple[Recall, ...]
    said: SaidBefore
    given: Given
    goes_on: bool
    most: Mapping[str, int]
