"""What goes into a prompt: a head that stays as it is, a tail for one question, and the log of what was given."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from everlore.domain.answers import Doc
from everlore.domain.ids import short_id
from everlore.domain.recall import Support

Profile: TypeAlias = Literal["companion", "agent", "lean", "custom"]
Part: TypeAlias = Literal["head", "tail"]
# `text` is what Everlore says itself: instructions, the time.
ItemKind: TypeAlias = Literal["text", "message", "memory", "fact"]
WhyLeftOut: TypeAlias = Literal["over the budget", "slot is full", "given before", "in the messages"]


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing that stands in a context, whole. `number` is how the text names it, once for a chain of contexts."""

    slot: Annotated[str, Doc("The slot that it fills.")]
    kind: Annotated[ItemKind, Doc("What it is.")]
    text: Annotated[str, Doc("Its words, as they were kept.")]
    number: Annotated[int | None, Doc("Its number in the text; null for what has none.")] = None
    id: Annotated[UUID | None, Doc("The message, or the memory or fact (its lineage).")] = None
    version: Annotated[UUID | None, Doc("The version of the memory or fact.")] = None
    sources: Annotated[tuple[UUID, ...], Doc("The messages that it rests on.")] = ()
    at: Annotated[datetime | None, Doc("When it was said, or since when it is true.")] = None
    trust: Annotated[str | None, Doc("How sure it is, in a word.")] = None
    tokens: Annotated[int, Doc("What it costs.")] = 0
    support: Annotated[Support | None, Doc("Why it is believed to answer; with `explain` only.")] = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was found and does not stand in the context, and why."""

    slot: Annotated[str, Doc("The slot that it would have filled.")]
    kind: Annotated[ItemKind, Doc("What it is.")]
    id: Annotated[UUID | None, Doc("The message, or the memory or fact (its lineage).")]
    tokens: Annotated[int, Doc("What it would have cost; 0 where that was not counted.")]
    why: Annotated[WhyLeftOut, Doc("Why it was left out.")]


@dataclass(frozen=True, slots=True)
class ContextPart:
    """The head or the tail: the text for the prompt, and what stands in it."""

    text: Annotated[str, Doc("For the prompt; empty where nothing is to be said.")]
    tokens: Annotated[int, Doc("What the text costs.")]
    items: Annotated[tuple[ContextItem, ...], Doc("What stands in it, in its order.")]


@dataclass(frozen=True, slots=True)
class Context:
    """The memory part of a prompt. The head goes to the beginning of a conversation and stays there; a tail goes to the end, with
    the question that it is for. What was once given is never said otherwise later: what has changed stands in a later tail."""

    context_id: Annotated[UUID, Doc("Its id: give it as `since` to the next call of the conversation.")]
    since: Annotated[UUID | None, Doc("The context before it.")]
    thread: Annotated[str | None, Doc("The thread that it is for.")]
    at: Annotated[datetime, Doc("The moment that it is for.")]
    profile: Annotated[Profile, Doc("What it is made of.")]
    budget: Annotated[int, Doc("How many tokens it may have.")]
    head: Annotated[ContextPart | None, Doc("Null after the first context of a conversation.")]
    tail: Annotated[ContextPart, Doc("What this question needs.")]
    left_out: Annotated[tuple[LeftOut, ...], Doc("What was found and left out, and why.")]
    exact: Annotated[bool, Doc("Whether tokens were counted by the reader's own tokenizer, not estimated.")]
    slots: Annotated[Mapping[str, int], Doc("Tokens of the items, by slot.")] = field(
        default_factory=dict[str, int]
    )
    degraded: Annotated[tuple[str, ...], Doc("What was missing and why, in words.")] = ()

    @property
    def tokens(self) -> int:
        """Of head and tail together."""
        return self.tail.tokens + (self.head.tokens if self.head else 0)

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.context_id)


@dataclass(frozen=True, slots=True)
class LoggedContext:
    """A context in the injection log."""

    context_id: Annotated[UUID, Doc("Its id.")]
    since: Annotated[UUID | None, Doc("The context before it.")]
    thread: Annotated[str | None, Doc("The thread that it was for.")]
    at: Annotated[datetime, Doc("When it was made.")]
    profile: Annotated[Profile, Doc("What it was made of.")]
    budget: Annotated[int, Doc("How many tokens it could have.")]
    slots: Annotated[Mapping[str, int], Doc("Tokens of its items, by slot.")]

    @property
    def short_id(self) -> str:
        """The end of the id, which a person types."""
        return short_id(self.context_id)


@dataclass(frozen=True, slots=True)
class LoggedItem:
    """What was given, without its words. What was erased since is not there any more."""

    part: Annotated[Part, Doc("Where it stood.")]
    slot: Annotated[str, Doc("The slot that it filled.")]
    kind: Annotated[ItemKind, Doc("What it is.")]
    number: Annotated[int | None, Doc("Its number in the text.")]
    id: Annotated[UUID | None, Doc("The message, or the memory or fact (its lineage).")]
    version: Annotated[UUID | None, Doc("The version of the memory or fact.")]
    tokens: Annotated[int, Doc("What it cost.")]


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """All that the injection log has of a context."""

    context: Annotated[LoggedContext, Doc("The context.")]
    head: Annotated[
        str | None, Doc("The head as it was given, byte for byte, but for what was erased; null without one.")
    ]
    items: Annotated[tuple[LoggedItem, ...], Doc("What was given, in its order.")]
