"""Who speaks of whom: the speaker is taken from the message, not from the one who read it.

Small models name the wrong speaker in a fifth of the cases. A sentence in the first person is about its author; one in the
second person about somebody who listens; a name that stands in the text is whoever it names.
"""

import re
from collections.abc import Sequence

from everlore.grounding.claims import Evidence
from everlore.ports.analyst import Window, WindowMessage
from everlore.text.words import fold, words

_FIRST = re.compile(
    r"\b(?:I|i|I['’](?:m|ve|d|ll)|i['’](?:m|ve|d|ll)|im|me|my|mine|myself|we|us|our|ours|we['’](?:re|ve|d|ll)|yo|mi|mis|me|conmigo"
    r"|nosotr[oa]s|nuestr[oa]s?|soy|estoy|tengo|vivo|trabajo|ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2}|je|j['’]|moi|mon|ma"
    r"|mes|nous|notre|nos|eu|meu|minha|io|mio|mia|jag|min|mitt|ik|mijn)\b",
)
_SECOND = re.compile(
    r"\b(?:you|your|yours|yourself|you['’](?:re|ve|d|ll)|u|ur|tú|tu|tus|te|ti|contigo|usted|ustedes|vos|du|dir|dich|dein\w{0,2}"
    r"|ihr|euch|vous|votre|vos|toi|você|teu|tua|lei|tuo|din|ditt|jij|jouw)\b",
    re.IGNORECASE,
)
_THE_AUTHOR = frozenset(
    (
        "i",
        "me",
        "my",
        "myself",
        "user",
        "the user",
        "speaker",
        "the speaker",
        "self",
        "yo",
        "ich",
        "je",
        "human",
        "author",
    )
)
_LEADING_USER = re.compile(r"(?:The )?[Uu]ser(?P<own>['’]s)?(?=\s)")
_LEADING = re.compile(r"[^\w]*(?P<name>[^\W\d_][\w'’-]*(?:\s+[^\W\d_a-z][\w'’-]*)*)")
_ROLES = frozenset(("user", "assistant", "tool", "system"))


class Voices:
    """Those who speak in a window."""

    def __init__(self, window: Window) -> None:
        self.names = tuple(
            dict.fromkeys(
                message.speaker
                for message in (*window.messages, *window.earlier)
                if message.speaker and message.speaker not in _ROLES
            )
        )

    def named(self, content: str, authors: Sequence[WindowMessage]) -> str:
        """Content that speaks of "the user", with the name of the person who said it."""
        speakers = {
            author.speaker for author in authors if author.role == "user" and author.speaker not in _ROLES
        }
        if len(speakers) != 1:
            return content
        (speaker,) = speakers
        return (
            _LEADING_USER.sub(lambda match: speaker + (match["own"] or ""), content, count=1)
            if (_LEADING_USER.match(content))
            else content
        )

    def addressed(self, messages: Sequence[WindowMessage]) -> list[str]:
        """The names of those whom these messages speak to: all others who speak here."""
        if not any(_SECOND.search(message.text) for message in messages):
            return []
        authors = {message.speaker for message in messages}
        return [name for name in self.names if name not in authors]

    def wrong(
        self, content: str, authors: Sequence[WindowMessage], source: Evidence, quoted: str
    ) -> str | None:
        """Why the subject of a memory cannot be whom it names; None if it can."""
        match = _LEADING.match(content)
        subject = self._speaker(match["name"]) if match else None
        if subject is None or not self._misnamed(subject, authors, source, quoted):
            return None
        return f"it speaks of {subject}, but {authors[0].speaker} said it"

    def subject(
        self, subject: str, authors: Sequence[WindowMessage], source: Evidence, quoted: str
    ) -> str | None:
        """The subject of a fact, corrected to the author where the words are theirs; None where it cannot be anybody's."""
        speakers = list(dict.fromkeys(author.speaker for author in authors))
        if fold(subject) in _THE_AUTHOR:
            return speakers[0] if len(speakers) == 1 else self._first_person(authors, subject)
        if fold(subject) in ("you", "tu", "du", "usted"):
            others = [name for name in self.names if name not in speakers]
            return others[0] if len(others) == 1 else None
        named = self._speaker(subject)
        if named is None or not self._misnamed(named, authors, source, quoted):
            return subject
        return speakers[0] if _FIRST.search(quoted) and len(speakers) == 1 else None

    def is_of_author(self, text: str, authors: Sequence[WindowMessage]) -> bool:
        """Whether a statement is about the named speaker who made it."""
        match = _LEADING.match(text)
        subject = self._speaker(match["name"]) if match else None
        return subject is not None and any(author.speaker == subject for author in authors)

    def _misnamed(
        self, subject: str, authors: Sequence[WindowMessage], source: Evidence, quoted: str
    ) -> bool:
        """Whether a speaker is named who neither said it, nor is named in the text, nor is spoken to there."""
        if any(author.speaker == subject for author in authors):
            return False
        if any(word in source.words for word in words(subject)):
            return False
        return _FIRST.search(quoted) is not None or _SECOND.search(quoted) is None

    def _speaker(self, written: str) -> str | None:
        """The speaker whom a text names at its beginning, by full or by first name."""
        said = words(written)
        for name in self.names:
            parts = words(name)
            if parts and said[: len(parts)] == parts:
                return name
        firsts = [name for name in self.names if words(name)[:1] == said[:1] and said]
        return firsts[0] if len(firsts) == 1 else None

    def _first_person(self, authors: Sequence[WindowMessage], subject: str) -> str | None:
        people = [author.speaker for author in authors if author.role == "user"]
        return people[0] if people else subject
