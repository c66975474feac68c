"""Drafts: what an analyst said, checked against the messages, becomes what the store is asked to take in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from everlore.domain.memories import MAX_CONTENT_CHARACTERS, Review
from everlore.domain.predicates import SYMMETRIC, in_words
from everlore.knowledge.batch import Incoming
from everlore.knowledge.deduplication import in_search
from everlore.knowledge.entity_linking import Resolution
from everlore.knowledge.stated import Stated
from everlore.knowledge.write import PlacedStatement
from everlore.ports.analyst import (
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Window,
    WindowMessage,
)
from everlore.ports.embedder import EncodedPassage
from everlore.store.distilling import SaidRow
from everlore.store.facts import FactKey
from everlore.store.memories import NewSource
from everlore.text.words import words

if TYPE_CHECKING:
    from everlore.grounding.grounding import Rejected, Span, Spans


@dataclass(frozen=True, slots=True)
class SetAside:
    """A draft that waits for a person, and why."""

    draft: DraftMemory
    review: Review
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What passed, and what was set aside. Secrets are gone from both."""

    extraction: Extraction
    aside: tuple[SetAside, ...]
    spans: "Spans"

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to be written."""
        found = self.extraction
        return not (found.memories or found.facts or found.entities or found.taxonomy or self.aside)

    def texts(self, window: Window) -> list[str]:
        """What is indexed of what passed, to be encoded."""
        spoken = {message.number: message for message in window.messages}
        return [
            *(_in_search(draft, spoken[draft.sources[0].message]) for draft in self.extraction.memories),
            *map(fact_text, self.extraction.facts),
        ]

    def drafts(self) -> list[tuple[DraftMemory, Review | None, str | None]]:
        """All memories: those that passed in their order (facts point to places in it), then those set aside."""
        passed = [(draft, None, None) for draft in self.extraction.memories]
        return [*passed, *((replace(one.draft, replaces=None), one.review, one.reason) for one in self.aside)]


def checked(window: Window, extraction: Extraction, known_names: Mapping[str, frozenset[str]]) -> Checked:
    """Everything is held against the messages; what fails is set aside with the reason. Secrets are taken out."""
    # Its many patterns are compiled for who reads messages, not for every command.
    from everlore.grounding.grounding import ground

    grounded = ground(window, extraction, known_names)
    passed = grounded.extraction
    return Checked(
        replace(
            passed,
            memories=tuple(map(_without_secrets, passed.memories)),
            facts=tuple(fact for fact in passed.facts if _redacted(fact.object) == fact.object),
            entities=tuple(entity for entity in passed.entities if entity.sources),
        ),
        tuple(aside for one in grounded.rejected if (aside := _aside(one)) is not None),
        grounded.spans,
    )


def _aside(rejected: "Rejected") -> SetAside | None:
    """A rejected fact is shown as the sentence that it would have been; a rejected name needs no review."""
    draft = rejected.draft
    if isinstance(draft, DraftEntity):
        return None
    if isinstance(draft, DraftFact):
        words = fact_text(draft)[:MAX_CONTENT_CHARACTERS]
        draft = DraftMemory("fact", words, draft.sources, confidence=draft.confidence)
    return SetAside(_without_secrets(draft), rejected.review, rejected.reason) if draft.content else None


def _without_secrets(draft: DraftMemory) -> DraftMemory:
    return replace(draft, content=_redacted(draft.content), reasoning=_redacted(draft.reasoning))


def _redacted(text: str) -> str:
    from everlore.text.secrets import redact

    return redact(text)


def fact_text(fact: DraftFact) -> str:
    """A fact as a sentence: what is searched of it."""
    return f"{fact.subject} {in_words(fact.predicate)} {fact.object}"


def _in_search(draft: DraftMemory, said: WindowMessage) -> str:
    return in_search(said.speaker, said.role, draft.content)


def incoming_of(
    drafted: tuple[DraftMemory, Review | None, str | None],
    window: Window,
    spans: "Spans",
    stored: Mapping[int, SaidRow],
    resolution: Resolution,
    vectors: Mapping[str, EncodedPassage],
    known: Sequence[UUID],
) -> Incoming:
    """A draft with its sources as rows name them. Whose words it is, is taken from the first message that it rests on. `stored`:
    the messages whole, by number; what the window has of them may be less."""
    draft, review, reason = drafted
    messages = {message.number: message for message in window.messages}
    said = [messages[quote.message] for quote in draft.sources if quote.message in messages]
    target = known[draft.target - 1] if draft.target is not None and 0 < draft.target <= len(known) else None
    named = (resolution.of(name, draft.sources) for name in draft.entities)
    return Incoming(
        type=draft.type,
        content=draft.content,
        author=said[0].speaker if said else None,
        role=said[0].role if said else None,
        said_at=max(message.at for message in said or window.messages),
        sources=tuple(
            _source(stored[quote.message], spans.get(quote), draft.confidence)
            for quote in draft.sources
            if quote.message in stored
        ),
        category=draft.category,
        tags=draft.tags,
        importance=draft.importance,
        confidence=draft.confidence,
        entities=tuple(dict.fromkeys(one for one in named if one is not None)),
        event_at=draft.event_at,
        expires_at=draft.expires_at,
        review=review,
        review_reason=reason,
        reasoning=draft.reasoning or None,
        relation=draft.relation,
        target=target,
        replaces=draft.replaces,
        vector=vectors.get(_in_search(draft, said[0])) if said else None,
        tier=draft.tier,
    )


def _source(said: SaidRow, span: "Span | None", confidence: float) -> NewSource:
    start, end = span or (None, None)
    return NewSource(said.message_id, start, end, confidence, _words_at(said, span))


def _words_at(said: SaidRow | None, span: "Span | None") -> str | None:
    return None if said is None or span is None else said.text[span[0] : span[1]]


def statements_of(
    result: Checked,
    messages: Mapping[int, WindowMessage],
    stored: Mapping[int, SaidRow],
    resolution: Resolution,
) -> list[PlacedStatement]:
    """Each fact once for every message that states it. No message: a person told it."""
    statements: list[PlacedStatement] = []
    for fact in result.extraction.facts:
        for number in dict.fromkeys(quote.message for quote in fact.sources):
            quote = next(quote for quote in fact.sources if quote.message == number)
            said = stored.get(number)
            span = None if said is None else result.spans.get(quote)
            edge = edge_of(fact, quote, resolution)
            if edge is None:
                continue
            stated = Stated(
                edge=edge,
                said_at=messages[number].at,
                valid_from=fact.valid_from,
                ended=fact.ended,
                corrects=fact.relation == "corrects",
                confidence=fact.confidence,
                message_id=None if said is None else said.message_id,
                span=span,
                quote=_words_at(said, span),
                memory_lineage_id=None,
                text=fact_text(fact),
                said=messages[number].text,
                position=None if said is None else said.position,
            )
            statements.append(PlacedStatement(stated, fact.memory))
    return statements


def edge_of(fact: DraftFact, quote: Quote, resolution: Resolution) -> FactKey | None:
    """The fact with its entities. What holds both ways is said from the speaker's side, so that it conflicts with itself."""
    words_of_object = fact.object
    subject_id = resolution.of(fact.subject, [quote])
    names_somebody = fact.object_is_entity or fact.predicate.endswith("_of") or fact.predicate in SYMMETRIC
    object_id = resolution.of(fact.object, [quote]) if names_somebody else None
    if subject_id is None:
        return None
    if (
        fact.predicate in SYMMETRIC
        and object_id is not None
        and object_id == resolution.speaker(quote.message)
    ):
        subject_id, object_id, words_of_object = object_id, subject_id, fact.subject
    key = str(object_id) if object_id is not None else " ".join(words(words_of_object))
    return FactKey(subject_id, fact.predicate, object_id, words_of_object[:500], key)
