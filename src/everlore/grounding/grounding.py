"""Grounding: nothing that an analyst drafts is believed unless it stands in the messages. Pure.

Of each draft the quotes are found again, or it falls; its names, numbers, dates, addresses, paths and versions must have been
said in its sources, and most of its telling words too; the speaker is taken from the message. What an answer or a pronoun takes
up may stand in the two messages before. What fails is handed back with the reason, to be kept where a person can see it.

- Quote: in the named message, else in another one of the window (the source is corrected), else the sentence of the named
  message that holds most of the draft's words, if nearly all of them were said there.
- Dates that cannot be derived from the sources are taken out of the draft's fields, and the draft falls if its words say them.
- What only the assistant said about the person counts less: its confidence times 0.6.
- What looks like an instruction to a model, or is quoted out of one, is quarantined.
- The same thing twice in one answer becomes one, with the sources of both.
- Keys come after what is shown; one that falls is no loss, and waits for nobody.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias, TypeVar

from everlore.domain.memories import (
    MAX_CONTENT_CHARACTERS,
    MAX_OBJECT_CHARACTERS,
    MAX_PREDICATE_CHARACTERS,
    MAX_REASONING_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    Review,
)
from everlore.grounding.claimed_names import entity_is_said
from everlore.grounding.claims import derived, unfounded
from everlore.grounding.denials import invented_denial, invented_end, opposite, unsaid_predicate
from everlore.grounding.evidence import Evidence, covered, evidence
from everlore.grounding.prompt_injection import prompt_injection
from everlore.grounding.repeats import folded_fact, folded_memory, replacing, without_twins
from everlore.grounding.sources import Sources, in_vocabulary, only_asks, vocabulary
from everlore.grounding.speakers import Speakers
from everlore.grounding.wording import other_language, uncovered
from everlore.ports.analyst import (
    MAX_ENTITIES,
    MAX_FACTS,
    MAX_KEYS,
    MAX_MEMORIES,
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Window,
    WindowMessage,
)
from everlore.text.quotes import Span, best_sentence, folded_words
from everlore.text.words import fold, telling, words

Draft: TypeAlias = DraftMemory | DraftFact | DraftEntity
Spans: TypeAlias = Mapping[Quote, Span | None]
KnownNames: TypeAlias = Callable[[str], frozenset[str]] | Mapping[str, frozenset[str]]
_T = TypeVar("_T", DraftMemory, DraftFact)

ASSISTANT_FACTOR = 0.6
# So much of the telling words of a draft without a quote of its own must have been said in one message.
COVERED_WITHOUT_QUOTE = 0.6
# An answer with more drafts of a kind is a broken one: the rest is not even looked at.
_LOOK_AT = 200
_DEFAULT = 0.5


@dataclass(frozen=True, slots=True)
class Rejected:
    """A draft that is not believed, with its sources as far as they were found. `review` is where it waits for a person."""

    draft: Draft
    reason: str
    review: Review = "rejected"


@dataclass(frozen=True, slots=True)
class Grounded:
    """`extraction` holds what passed. `spans` has the characters of every quote in it, and in what was rejected, within its
    message's text; None for one that stands in a caption. `notes` say what was taken out of drafts that passed."""

    extraction: Extraction
    rejected: tuple[Rejected, ...]
    spans: Spans
    notes: tuple[str, ...] = ()


def ground(window: Window, extraction: Extraction, known_names: KnownNames) -> Grounded:
    """Hold an answer against the window that it was made from. `known_names` gives for a name all other names of the same
    entity."""
    check = _Check(window, known_names)
    places: dict[int, int] = {}
    memories: list[DraftMemory] = []
    keys: list[DraftMemory] = []
    for place, draft in enumerate(extraction.memories[:_LOOK_AT]):
        if (passed := check.memory(draft)) is None:
            continue
        if passed.tier == "key":
            folded_memory(keys, _bare(passed), MAX_KEYS)
        else:
            places[place] = folded_memory(memories, passed, MAX_MEMORIES)
            if places[place] < 0:
                check.reject(passed, f"more than {MAX_MEMORIES} memories in one answer")
    memories = [replacing(memory, place, places) for place, memory in enumerate(memories)]
    facts: list[DraftFact] = []
    for fact in extraction.facts[:_LOOK_AT]:
        if (kept := check.fact(fact)) is not None:
            place = places.get(-1 if kept.memory is None else kept.memory, -1)
            kept = replace(kept, memory=place if place >= 0 else None)
            if folded_fact(facts, kept, MAX_FACTS) < 0:
                check.reject(kept, f"more than {MAX_FACTS} facts in one answer")
    entities = [one for draft in extraction.entities[:_LOOK_AT] if (one := check.entity(draft)) is not None]
    for kind, drafts in (("memories", extraction.memories), ("facts", extraction.facts)):
        if len(drafts) > _LOOK_AT:
            check.notes.append(f"{len(drafts):,} {kind} in one answer; the first {_LOOK_AT} were looked at")
    passed_all = Extraction(
        (*memories, *keys),
        tuple(facts),
        tuple(without_twins(entities)[:MAX_ENTITIES]),
        _path(extraction.taxonomy),
    )
    return Grounded(passed_all, tuple(check.rejected), check.sources.spans, tuple(check.notes))


class _Check:
    """One window, and what was found out about the drafts that were made from it."""

    def __init__(self, window: Window, known_names: KnownNames) -> None:
        self.sources = Sources(window)
        self.messages = self.sources.messages
        self.sequence = (*window.earlier, *window.messages)
        self.vocabulary = vocabulary(window)
        self.speakers = Speakers(window)
        self.variants = _lookup(known_names)
        self.rejected: list[Rejected] = []
        self.notes: list[str] = []
        self.evidence: dict[tuple[int, ...], Evidence] = {}

    def reject(self, draft: Draft, reason: str, review: Review = "rejected") -> None:
        if not (isinstance(draft, DraftMemory) and draft.tier == "key"):
            self.rejected.append(Rejected(draft, reason, review))

    # --- memories ------------------------------------------------------------------------------------------

    def memory(self, draft: DraftMemory) -> DraftMemory | None:
        draft = replace(
            draft,
            content=_tidy(draft.content),
            category=_tidy(draft.category or "")[:MAX_TAG_CHARACTERS] or None,
            tags=tuple(
                dict.fromkeys(_tidy(tag) for tag in draft.tags if 0 < len(_tidy(tag)) <= MAX_TAG_CHARACTERS)
            )[:MAX_TAGS],
            importance=_share(draft.importance),
            confidence=_share(draft.confidence),
            reasoning=_tidy(draft.reasoning)[:MAX_REASONING_CHARACTERS],
        )
        if not draft.content:
            self.reject(replace(draft, sources=()), "it is empty")
            return None
        if len(draft.content) > MAX_CONTENT_CHARACTERS:
            cut = replace(draft, content=draft.content[:MAX_CONTENT_CHARACTERS], sources=())
            self.reject(cut, f"it has more than {MAX_CONTENT_CHARACTERS:,} characters")
            return None
        sourced = self._sourced(draft, draft.content)
        if sourced is None:
            return None
        authors = self.sources.authors(sourced.sources)
        content = self.speakers.mended(
            self.speakers.named(sourced.content, authors), authors, _words_of(sourced.sources)
        )
        known = tuple(name for name in sourced.entities if in_vocabulary(name, self.vocabulary))
        sourced = replace(sourced, content=content, entities=known)
        source = self._evidence(sourced.sources)
        text = " ".join((sourced.content, *sourced.tags))
        if self._suspicious(sourced, text):
            return None
        quoted = self.sources.quoted(sourced.sources)
        reason = self.speakers.wrong(sourced.content, authors, source, quoted) or _unbelievable(
            sourced.content, source, quoted
        )
        if reason is not None:
            self.reject(sourced, reason)
            return None
        if denial := invented_denial(sourced.content, source):
            self.reject(sourced, *denial)
            return None
        return self._less_from_assistants(self._dated(sourced, source), sourced.content)

    def _dated(self, draft: DraftMemory, source: Evidence) -> DraftMemory:
        event_at = self._derived(draft.event_at, source, f'the date of "{draft.content}"')
        expires_at = self._derived(draft.expires_at, source, f'the expiry of "{draft.content}"')
        if expires_at is not None and expires_at <= max(message.at for message in source.messages):
            expires_at = None
        return replace(draft, event_at=event_at, expires_at=expires_at)

    # --- facts ---------------------------------------------------------------------------------------------

    def fact(self, draft: DraftFact) -> DraftFact | None:
        draft = replace(
            draft,
            subject=_tidy(draft.subject)[:200],
            predicate=re.sub(r"\W+", "_", fold(_tidy(draft.predicate))).strip("_"),
            object=_tidy(draft.object),
            confidence=_share(draft.confidence),
        )
        if not (draft.subject and draft.predicate and draft.object):
            self.reject(replace(draft, sources=()), "it is incomplete")
            return None
        if len(draft.predicate) > MAX_PREDICATE_CHARACTERS or len(draft.object) > MAX_OBJECT_CHARACTERS:
            cut = replace(draft, predicate=draft.predicate[:MAX_PREDICATE_CHARACTERS], sources=())
            self.reject(replace(cut, object=draft.object[:MAX_OBJECT_CHARACTERS]), "it is too long")
            return None
        sourced = self._sourced(draft, f"{draft.subject} {draft.object}")
        if sourced is None:
            return None
        authors = self.sources.authors(sourced.sources)
        source = self._evidence(sourced.sources)
        said, quoted = self.sources.quoted(sourced.sources), _words_of(sourced.sources)
        subject = self.speakers.subject(sourced.subject, authors, source, said, quoted)
        if subject is None:
            self.reject(sourced, f'"{sourced.subject}" is not who this was said of')
            return None
        whose = (
            self.speakers.whose(sourced.object, authors, quoted)
            if sourced.predicate.endswith("_of")
            else sourced.object
        )
        sourced = replace(sourced, subject=subject, object=whose)
        if self._suspicious(sourced, f"{sourced.subject} {sourced.object}"):
            return None
        if (reason := self._unfounded_fact(sourced, source)) is not None:
            self.reject(sourced, reason)
            return None
        if unsaid := unsaid_predicate(sourced, source):
            self.reject(sourced, *unsaid)
            return None
        said = f"{sourced.subject} {sourced.predicate} {sourced.object}"
        valid_from = self._derived(sourced.valid_from, source, f'the beginning of "{said}"')
        return self._less_from_assistants(replace(sourced, valid_from=valid_from), said)

    def _unfounded_fact(self, fact: DraftFact, source: Evidence) -> str | None:
        if not entity_is_said(fact.subject, source):
            return f'the name "{fact.subject}" was not said'
        if reason := unfounded(fact.object, source):
            return reason
        if fact.object_is_entity and not entity_is_said(fact.object, source):
            return f'the name "{fact.object}" was not said'
        if covered(fact.object, source) < 0.5:
            return "its words were not said"
        if fact.ended and invented_end(fact.object, source):
            return "nobody said that it is over"
        return other_language(fact.object, source)

    # --- entities ------------------------------------------------------------------------------------------

    def entity(self, draft: DraftEntity) -> DraftEntity | None:
        name = _tidy(draft.name)[:200]
        found = self.sources.found(draft.sources)
        named = (self.sources.naming(called) for called in (name, *draft.aliases[:20]))
        draft = replace(draft, name=name, sources=found or next(filter(None, named), ()))
        source = self._evidence(draft.sources or tuple(Quote(number, "") for number in self.messages))
        if not name or prompt_injection(name) or not entity_is_said(name, source):
            self.reject(draft, f'the name "{name}" was not said')
            return None
        everywhere = self._evidence(tuple(Quote(number, "") for number in self.messages))
        aliases = [_tidy(alias)[:200] for alias in draft.aliases[:20]]
        said = tuple(alias for alias in dict.fromkeys(aliases) if alias and entity_is_said(alias, everywhere))
        if lost := [alias for alias in aliases if alias and alias not in said]:
            self.notes.append(f'other names of "{name}" that were not said: {", ".join(lost)}')
        return replace(draft, aliases=tuple(alias for alias in said if alias != name))

    # --- sources -------------------------------------------------------------------------------------------

    def _sourced(self, draft: _T, claim: str) -> _T | None:
        """The draft with its quotes as they stand in the messages; None if it was rejected for want of any."""
        found = self.sources.found(draft.sources)
        if not found:
            named = [given.message for given in draft.sources if given.message in self.messages]
            found = self._fallback(claim, named or list(self.messages))
        if found and only_asks(draft, found, self.sources):
            self.reject(replace(draft, sources=found), "it rests on a question")
            return None
        if found:
            return replace(draft, sources=found)
        outside = [given.message for given in draft.sources if given.message not in self.messages]
        reason = "it names no source" if not draft.sources else "quote not found"
        if outside and len(outside) == len(draft.sources):
            reason = f"message {outside[0]} is not in the window, and its quote not found"
        self.reject(replace(draft, sources=()), reason)
        return None

    def _fallback(self, claim: str, numbers: Sequence[int]) -> tuple[Quote, ...]:
        """The sentence that holds most of the claim, if nearly all of its words were said in that message."""
        best: tuple[float, int] | None = None
        for number in dict.fromkeys(numbers):
            share = covered(claim, self._evidence((Quote(number, ""),)), context=False)
            if telling(claim) and share >= COVERED_WITHOUT_QUOTE and (best is None or share > best[0]):
                best = (share, number)
        if best is None:
            return ()
        span = best_sentence(folded_words(claim), self.messages[best[1]].text)
        return () if span is None else (self.sources.standing(best[1], span),)

    def _evidence(self, sources: Sequence[Quote]) -> Evidence:
        numbers = tuple(dict.fromkeys(quote.message for quote in sources))
        if numbers not in self.evidence:
            self.evidence[numbers] = self._gathered(self.sources.authors(sources))
        return self.evidence[numbers]

    def _gathered(self, messages: Sequence[WindowMessage]) -> Evidence:
        before = [near for message in messages for near in self._taken_up(message)]
        return evidence(
            messages,
            self.variants,
            names=self.speakers.addressed(messages),
            context=[part for near in before for part in (near.text, near.speaker, *near.captions)],
        )

    def _taken_up(self, message: WindowMessage) -> list[WindowMessage]:
        """The messages before that an answer or a pronoun may take up."""
        place = self.sequence.index(message)
        before = list(self.sequence[max(0, place - 2) : place])
        answers = any("?" in near.text for near in before)
        return before if answers or _REFERS.search(message.text) or len(words(message.text)) < 6 else []

    def _suspicious(self, draft: DraftMemory | DraftFact, text: str) -> bool:
        reason = prompt_injection(text)
        if reason is None and (quoted := prompt_injection(self.sources.quoted(draft.sources))):
            reason = f"{quoted} (the message that it is from)"
        if reason is not None:
            self.reject(draft, reason, "quarantined")
        return reason is not None

    def _derived(self, moment: datetime | None, source: Evidence, what: str) -> datetime | None:
        if moment is None or moment.utcoffset() is None or not derived(moment, source):
            if moment is not None:
                self.notes.append(f"{what} cannot be derived from what was said: {moment:%Y-%m-%d}")
            return None
        return moment

    def _less_from_assistants(self, draft: _T, text: str) -> _T:
        authors = self.sources.authors(draft.sources)
        if any(author.role == "user" for author in authors) or self.speakers.is_of_author(text, authors):
            return draft
        return replace(draft, confidence=round(draft.confidence * ASSISTANT_FACTOR, 4))


def _bare(key: DraftMemory) -> DraftMemory:
    """Of a key nothing counts but what it says and where: it names nobody, and takes nothing's place."""
    return replace(
        key, category=None, tags=(), entities=(), expires_at=None, relation="new", target=None, replaces=None
    )


# Words that stand for something that was named before (English, Spanish, German).
_REFERS = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|hers|its|their|there|that|this|these|those|one|both|same|here|él|ella|ellos|ellas|eso"
    r"|esto|allí|ahí|lo|la|er|sie|es|ihn|ihm|ihr|dort|das|dies|so|too|also|yes|yeah|yep|no|nope|sí|ja|nein)\b",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_PATH = re.compile(r"[A-Za-z0-9_-]{1,100}(?:\.[A-Za-z0-9_-]{1,100}){0,19}")


def _lookup(known_names: KnownNames) -> Callable[[str], frozenset[str]]:
    if callable(known_names):
        return known_names
    folded = {fold(name): variants for name, variants in known_names.items()}
    return lambda name: folded.get(fold(name), frozenset())


def _tidy(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _words_of(quotes: Sequence[Quote]) -> str:
    return " ".join(quote.text for quote in quotes)


def _share(value: float) -> float:
    return min(max(float(value), 0.0), 1.0) if math.isfinite(value) else _DEFAULT


def _path(taxonomy: str | None) -> str | None:
    return taxonomy if taxonomy is not None and _PATH.fullmatch(taxonomy) else None


def _unbelievable(content: str, source: Evidence, quoted: str) -> str | None:
    return (
        other_language(content, source)
        or unfounded(content, source)
        or ("its words were not said" if uncovered(content, source) else None)
        or opposite(content, source, quoted)
    )
