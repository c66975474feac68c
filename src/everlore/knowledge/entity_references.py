"""Which names an extraction uses, each with what the window says of it: its kind, its other names, its messages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from everlore.domain.memories import EntityType
from everlore.domain.predicates import SYMMETRIC
from everlore.ports.analyst import Extraction, Quote, Window, WindowMessage
from everlore.text.descriptions import Description, described, is_role
from everlore.text.variants import words_of

Key = Callable[[str], str]

# What the ends of a predicate are. Everything that ends with _of and names a role is between people.
_SUBJECT_IS_PERSON = frozenset(
    {"lives_in", "works_at", "works_as", "studies_at", "studies", "born_in", "born_on", "married_to", "engaged_to",
     "partner_of", "allergic_to", "speaks", "has_pet", "likes", "dislikes", "prefers", "has_visited"}
)  # fmt: skip
_OBJECT_IS: dict[str, EntityType] = {
    "lives_in": "place", "born_in": "place", "has_visited": "place", "works_at": "organisation",
    "studies_at": "organisation", "member_of": "organisation", "married_to": "person", "engaged_to": "person",
    "partner_of": "person",
}  # fmt: skip
# How a text says who is speaking.
_SELF = frozenset({"i", "me", "my", "myself", "yo", "mi", "the user", "user", "el usuario"})
_ASSISTANT = frozenset({"you", "the assistant", "assistant"})
SPOKEN = _SELF | _ASSISTANT
USER = "user"


@dataclass(slots=True)
class Reference:
    """One name as an extraction uses it. `keys` begins with that of the name; `messages` are numbers of the window. `said_as`:
    keys of words like "I", by which the extraction means it and nobody else would. `speakers`: the numbers of those references
    that are who speaks."""

    number: int
    name: str
    type: EntityType
    keys: list[str]
    aliases: list[str] = field(default_factory=list[str])
    messages: set[int] = field(default_factory=set[int])
    distinct: bool = False
    speaks: bool = False
    said_as: list[str] = field(default_factory=list[str])
    speakers: frozenset[int] = frozenset()

    @property
    def is_description(self) -> bool:
        return described(self.name) is not None

    @property
    def is_person(self) -> bool:
        return self.type in ("person", "other")

    def told(self) -> list[str]:
        """All that it is called, descriptions included."""
        return [self.name, *self.aliases]

    def descriptions(self) -> list[Description]:
        return [found for told in self.told() if (found := described(told)) is not None and found.owner]

    def variants(self) -> list[tuple[str, bool]]:
        """Names to keep, and whether each was only inferred: that "Aric's partner Ali" is "Aric's partner", too."""
        said = [(told, False) for told in self.told()]
        short = [(found.said_of(found.owner or ""), True) for found in self.descriptions()]
        plain = [(f"{found.owner}'s {found.kind}", True) for found in self.descriptions()]
        return [*said, *short, *plain]

    def parts(self) -> set[str]:
        """Single words under which it may be known: first and last name, or the parts of an address."""
        words = words_of(self.name.replace("@", " ").replace(".", " "))
        return (
            set() if self.is_description else {word for word in words if len(word) > 1 and not word.isdigit()}
        )

    def telling_words(self) -> set[str]:
        """The words that a fuller form of its name would contain."""
        if self.is_description or not self.is_person:
            return set()
        words = words_of(self.name) or sorted(self.parts())
        return {word for word in (words[0], words[-1]) if len(word) > 1} if words else set()


def references(window: Window, extraction: Extraction, key: Key) -> list[Reference]:
    """The references of an extraction, in the order in which they are to be settled: who speaks, then what was drafted as an
    entity, then names that only facts or memories use."""
    found = _Collected(window, key)
    if extraction.memories or extraction.facts or extraction.entities:
        for message in window.messages:
            if message.role == "user":
                found.speaker(message)
    for draft in extraction.entities:
        found.drafted(draft.name, draft.type, draft.aliases, draft.sources, draft.distinct)
    for fact in extraction.facts:
        role = fact.predicate.removesuffix("_of").replace("_", " ")
        between_people = fact.predicate.endswith("_of") and is_role(role)
        person = between_people or fact.predicate in _SUBJECT_IS_PERSON
        found.used(fact.subject, fact.sources, "person" if person else "other")
        if fact.object_is_entity or fact.predicate.endswith("_of") or fact.predicate in SYMMETRIC:
            kind: EntityType = "person" if between_people else _OBJECT_IS.get(fact.predicate, "other")
            found.used(fact.object, fact.sources, kind)
    for memory in extraction.memories:
        for name in memory.entities:
            found.used(name, memory.sources, "other")
    return found.all()


class _Collected:
    """References while they are gathered."""

    def __init__(self, window: Window, key: Key) -> None:
        self._key = key
        self._messages = {message.number: message for message in window.messages}
        self._person = next((m for m in window.messages if m.role == "user"), None)
        self._found: list[Reference] = []

    def all(self) -> list[Reference]:
        """Who speaks and is not spoken of is nobody to be known."""
        spoken_of = [one for one in self._found if not one.speaks or one.messages or one.said_as]
        speakers = frozenset(reference.number for reference in spoken_of if reference.speaks)
        for reference in spoken_of:
            reference.speakers = speakers
        return spoken_of

    def speaker(self, message: WindowMessage) -> Reference:
        for reference in self._found:
            if reference.speaks and self._key(message.speaker) == reference.keys[0]:
                return reference
        kind: EntityType = "person" if message.role == "user" else "other"
        reference = self._new(message.speaker, kind, [], set())
        reference.speaks = True
        return reference

    def drafted(
        self, name: str, kind: EntityType, aliases: Iterable[str], sources: Sequence[Quote], distinct: bool
    ) -> None:
        told = [self._owned(alias, sources) for alias in aliases if alias.strip()]
        messages = self._numbers(sources)
        if (speaker := self._self(name, sources)) is not None:
            speaker.messages |= messages
            speaker.aliases += [alias for alias in told if described(alias) is None]
            speaker.keys += map(self._key, speaker.aliases)
            return
        name = self._owned(name, sources)
        if not distinct:
            for reference in self._found:
                if reference.keys[0] == self._key(name) and (reference.speaks or not told):
                    reference.messages |= messages
                    return
        self._new(name, kind, told, messages).distinct = distinct

    def used(self, name: str, sources: Sequence[Quote], kind: EntityType) -> None:
        """A name without a draft of its own, or one more place of one that has."""
        if not name.strip():
            return
        messages = self._numbers(sources)
        reference = self._self(name, sources)
        if reference is None:
            name = self._owned(name, sources)
            named = [r for r in self._found if self._key(name) in r.keys]
            near = [r for r in named if r.messages & messages]
            reference = next(iter(near or named), None) or self._new(name, kind, [], set())
        if reference.type == "other":
            reference.type = kind
        reference.messages |= messages

    def _new(self, name: str, kind: EntityType, aliases: list[str], messages: set[int]) -> Reference:
        keys = list(dict.fromkeys(map(self._key, [name, *aliases])))
        reference = Reference(len(self._found), name.strip(), kind, keys, aliases, messages)
        self._found.append(reference)
        return reference

    def _numbers(self, sources: Iterable[Quote]) -> set[int]:
        return {source.message for source in sources if source.message in self._messages}

    def _speaking(self, sources: Sequence[Quote], *, assistant: bool) -> WindowMessage | None:
        """Who says it: the author of the first source of that side, else the person of the window."""
        said = [self._messages[s.message] for s in sources if s.message in self._messages]
        return next(
            (m for m in said if (m.role == "assistant") is assistant), None if assistant else self._person
        )

    def _self(self, name: str, sources: Sequence[Quote]) -> Reference | None:
        word = name.strip().casefold()
        for words, assistant in ((_SELF, False), (_ASSISTANT, True)):
            if word in words and (message := self._speaking(sources, assistant=assistant)) is not None:
                reference = self.speaker(message)
                reference.said_as.append(self._key(name))
                return reference
        return None

    def _owned(self, name: str, sources: Sequence[Quote]) -> str:
        """`my sister` in the words of Anna is `Anna's sister`; `the sister of Ben` is `Ben's sister`."""
        found = described(name)
        if found is None:
            return name.strip()
        speaker = self._speaking(sources, assistant=False)
        if not found.owner and speaker is not None:
            self.speaker(speaker).messages |= self._numbers(sources)  # "my" speaks of the speaker
        owner = found.owner or (speaker.speaker if speaker else USER)
        said = found.said_of(owner)
        return f"{said} {found.name}" if found.name else said
