"""Who speaks of whom: the speaker is taken from the message, not from the one who read it.

Small models name the wrong speaker in a fifth of the cases. A sentence in the first person is about its author; one in the
second person about somebody who listens; a name that stands in the text is whoever it names. Where the words are plainly
somebody's about themselves, a draft that names another speaker instead is put right; where that is not plain, it falls.
"""

import re
from collections.abc import Sequence

from everlore.grounding.evidence import Evidence
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
# Only the forms that make the speaker the one who does or is: "my wife sings" is not about who says it.
_DOER = re.compile(r"\b(?:i|i'm|i've|i'll|i'd|ich|je|j'\w+|yo|soy|estoy|tengo|vivo|trabajo)\b", re.IGNORECASE)
_MINE = re.compile(r"\b(?:my|mein|meine|meinen|meiner|meinem|mon|ma|mes|mi|mis)\b", re.IGNORECASE)
# Somebody else is in it too ("my wife's sister"), and the draft may be about them.
_OTHERS = re.compile(
    r"\w's\b(?<!it's)(?<!that's)|\b(?:you|you're|you've|you'll|your|yours|he|she|him|her|his|hers|they|them|their"
    r"|du|dich|dir|dein|deine|ihr|euch|er|sie|ihm|ihn|ihnen|tu|toi|te|ton|vous|votre|il|elle|lui|ils|elles"
    r"|tú|ti|usted|ustedes|él|ella|ellos|ellas)\b",
    re.IGNORECASE,
)
_THE_AUTHOR = frozenset(
    ("i", "me", "my", "myself", "user", "the user", "speaker", "the speaker", "self", "yo", "ich", "je", "moi", "human",
     "author", "narrator", "the_user", "the_speaker")
)  # fmt: skip
_LEADING_USER = re.compile(r"(?:the )?(?:user|speaker|narrator)(?P<own>['’]s)?(?!\w)", re.IGNORECASE)
_LEADING = re.compile(r"[^\w]*(?P<name>[^\W\d_][\w'’-]*(?:\s+[^\W\d_a-z][\w'’-]*)*)")
_ROLES = frozenset(("user", "assistant", "tool", "system"))


class Speakers:
    """Those who speak in a window. `names` are names; `speakers` may also be called by their role."""

    def __init__(self, window: Window) -> None:
        self.speakers = tuple(dict.fromkeys(one.speaker for one in window.messages if one.speaker))
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

    def mended(self, content: str, authors: Sequence[WindowMessage], quoted: str) -> str:
        """Content with a speaker who was confused put right."""
        if wrong := self._wrongly_named(content, authors, quoted, _DOER):
            return _replaced(rf"(?<!\w){re.escape(wrong)}(?!\w)", authors[0].speaker, content)
        if wrong := self._wrongly_named(content, authors, quoted, _MINE):
            return _replaced(rf"(?<!\w){re.escape(wrong)}(?=['’]s\b)", authors[0].speaker, content)
        return content

    def whose(self, thing: str, authors: Sequence[WindowMessage], quoted: str) -> str:
        """Whose sister, friend ... somebody is: "my sister" is the sister of who said it."""
        if len({author.speaker for author in authors}) != 1:
            return thing
        wrong = self._wrongly_named(thing, authors, quoted, _MINE)
        own = fold(thing) in _THE_AUTHOR or (wrong is not None and fold(thing) == fold(wrong))
        return authors[0].speaker if own else thing

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
        self, subject: str, authors: Sequence[WindowMessage], source: Evidence, quoted: str, words_quoted: str
    ) -> str | None:
        """The subject of a fact, corrected to the author where the words are theirs; None where it cannot be anybody's."""
        speakers = list(dict.fromkeys(author.speaker for author in authors))
        if fold(subject) in _THE_AUTHOR:
            return speakers[0] if len(speakers) == 1 else self._first_person(authors, subject)
        if fold(subject) in ("you", "tu", "du", "usted"):
            others = [name for name in self.names if name not in speakers]
            return others[0] if len(others) == 1 else None
        wrong = self._wrongly_named(subject, authors, words_quoted, _DOER)
        if wrong is not None and fold(subject) == fold(wrong):
            return speakers[0]
        named = self._speaker(subject)
        return None if named is not None and self._misnamed(named, authors, source, quoted) else subject

    def is_of_author(self, text: str, authors: Sequence[WindowMessage]) -> bool:
        """Whether a statement is about the named speaker who made it."""
        match = _LEADING.match(text)
        subject = self._speaker(match["name"]) if match else None
        return subject is not None and any(author.speaker == subject for author in authors)

    def _wrongly_named(
        self, text: str, authors: Sequence[WindowMessage], quoted: str, about_oneself: re.Pattern[str]
    ) -> str | None:
        """The one other speaker whom `text` names although these are one person's words about themselves, and nobody else."""
        said = quoted.replace("’", "'")
        own = {author.speaker for author in authors}
        plainly = len(own) == 1 and about_oneself.search(said) and not _OTHERS.search(said)
        if not plainly or any(_names(text, speaker) for speaker in own):
            return None
        named = [other for other in self.speakers if other not in own and _names(text, other)]
        return named[0] if len(named) == 1 and not _names(said, named[0]) else None

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


def _replaced(pattern: str, name: str, text: str) -> str:
    return re.sub(pattern, lambda _: name, text, flags=re.IGNORECASE)


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
