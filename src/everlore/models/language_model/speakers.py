"""Who speaks is known from the messages; what a model says about it is mended, never believed.

Small models name the wrong one of two speakers in a fifth of the cases. Where the words of a quote are plainly somebody
speaking of themselves, a draft that names another person of the conversation instead is about the one who spoke.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from everlore.ports.analyst import Quote, WindowMessage

# Only the forms that make the speaker the one who does or is: "my wife sings" is not about who says it.
_FIRST = re.compile(
    r"\b(?:i|i'm|i've|i'll|i'd|ich|je|j'\w+|yo|soy|estoy|tengo|vivo|trabajo)\b", re.IGNORECASE
)
_MINE = re.compile(r"\b(?:my|mein|meine|meinen|meiner|meinem|mon|ma|mes|mi|mis)\b", re.IGNORECASE)
# Somebody else is in it too ("my wife's sister"), and the draft may be about them.
_OTHERS = re.compile(
    r"\w's\b(?<!it's)(?<!that's)|\b(?:you|you're|you've|you'll|your|yours|he|she|him|her|his|hers|they|them|their"
    r"|du|dich|dir|dein|deine|ihr|euch|er|sie|ihm|ihn|ihnen|tu|toi|te|ton|vous|votre|il|elle|lui|ils|elles"
    r"|tú|ti|usted|ustedes|él|ella|ellos|ellas)\b",
    re.IGNORECASE,
)
_UNNAMED = re.compile(r"^(?:the )?(?:user|speaker|narrator)(?!\w)", re.IGNORECASE)
_SELF = frozenset(
    {
        "i",
        "me",
        "myself",
        "user",
        "the user",
        "speaker",
        "the speaker",
        "author",
        "narrator",
        "ich",
        "yo",
        "je",
        "moi",
    }
)


def true_subject(subject: str, sources: Sequence[Quote], messages: Sequence[WindowMessage]) -> str:
    """Whom a fact is about: "I" is who said it, and so is a wrong speaker."""
    said = _said(sources, messages)
    if said is None:
        return subject
    bare = subject.strip().casefold()
    wrong = said.wrongly_named(subject, _FIRST)
    return said.speaker if bare.replace("_", " ") in _SELF or bare == (wrong or "").casefold() else subject


def true_object(thing: str, sources: Sequence[Quote], messages: Sequence[WindowMessage]) -> str:
    """Whose sister, friend ... somebody is: "my sister" is the sister of who said it."""
    said = _said(sources, messages)
    if said is None:
        return thing
    bare = thing.strip().casefold()
    wrong = said.wrongly_named(thing, _MINE)
    return said.speaker if bare in _SELF or bare == (wrong or "").casefold() else thing


def with_true_speaker(content: str, sources: Sequence[Quote], messages: Sequence[WindowMessage]) -> str:
    """A memory's words, with a speaker that was confused put right."""
    said = _said(sources, messages)
    if said is None:
        return content
    content = _UNNAMED.sub(lambda _: said.speaker, content)
    if wrong := said.wrongly_named(content, _FIRST):
        return _replaced(rf"(?<!\w){re.escape(wrong)}(?!\w)", said.speaker, content)
    if wrong := said.wrongly_named(content, _MINE):
        return _replaced(rf"(?<!\w){re.escape(wrong)}(?=['’]s\b)", said.speaker, content)
    return content


@dataclass(frozen=True, slots=True)
class _Said:
    """What one person said, and who else is in the conversation."""

    speaker: str
    words: str
    others: frozenset[str]

    def wrongly_named(self, text: str, about_oneself: re.Pattern[str]) -> str | None:
        """The one other speaker whom `text` names although these are words about oneself, and about nobody else."""
        plainly = about_oneself.search(self.words) and not _OTHERS.search(self.words)
        if not plainly or _names(text, self.speaker):
            return None
        named = [other for other in self.others if _names(text, other)]
        return named[0] if len(named) == 1 and not _names(self.words, named[0]) else None


def _said(sources: Sequence[Quote], messages: Sequence[WindowMessage]) -> _Said | None:
    """None where the words are those of several."""
    numbers = {source.message for source in sources}
    speakers = {one.speaker for one in messages if one.number in numbers}
    if len(speakers) != 1:
        return None
    words = " ".join(source.text for source in sources).replace("’", "'")
    return _Said(next(iter(speakers)), words, frozenset(one.speaker for one in messages) - speakers)


def _replaced(pattern: str, name: str, text: str) -> str:
    return re.sub(pattern, lambda _: name, text, flags=re.IGNORECASE)


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
