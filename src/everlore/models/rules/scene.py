"""Who is meant: the people that a conversation has spoken of, and what a pronoun takes up."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import child, opens
from everlore.models.rules.kin import FAMILY, PETS, PROFESSIONS, ROLES, gender
from everlore.models.rules.pipeline import COMMON_NAME
from everlore.ports.analyst import Quote
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

NAMELESS: Final = frozenset({"user", "assistant", "human", "you", ""})
# A pronoun takes up who was named in its own message or in one of so many before.
REACH: Final = 2
_MOST_PEOPLE: Final = 12
_NO_PERSON: Final = frozenset(
    {"GPE", "ORG", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "NORP", "LANGUAGE", "DATE", "TIME"}
)
_NAMED_BY: Final = ("appos", "npadvmod", "nmod", "compound")
_NO_NAMES: Final = words("no_names") | words("feasts") | words("nations") | words("starters")
_LINKS: Final = words("statements.links", "en")
_PERSONAL: Final = words("statements.personal", "en")
_TITLES: Final = {
    "mr": "he", "mr.": "he", "herr": "he", "senhor": "he", "señor": "he", "sir": "he", "uncle": "he", "mrs": "she", "mrs.": "she",
    "ms": "she", "ms.": "she", "miss": "she", "frau": "she", "dona": "she", "señora": "she", "aunt": "she",
}  # fmt: skip
_GENDERS: Final = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"}


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was spoken of. `name`: as a statement writes it ("Anna's sister Emma", "Emma"); `called`: the name alone, if
    one was said. `gender`: "she", "he", "they" (several people), or None. `place`: of the message, in the conversation;
    `quote`: where they are named."""

    name: str
    called: str | None
    gender: str | None
    place: int
    quote: Quote


@dataclass(slots=True)
class Scene:
    """The speaker of a message, whom they speak to, and who was spoken of, the last one last."""

    speaker: str
    listener: str | None
    known: Collection[str] = ()
    place: int = 0
    people: list[Person] = field(default_factory=list[Person])
    genders: dict[str, str] = field(default_factory=dict[str, str])
    told: str | None = None  # see Part.told
    to_assistant: bool = True  # nobody else takes part
    inside: bool = False  # see Part.inside

    def in_full(self, name: str) -> str:
        """A name with what tells it from others, where it was said so."""
        return self.told if self.told is not None and self.told.split()[0] == name else name

    @property
    def author(self) -> str:
        """The speaker as a statement names them."""
        return "The user" if self.speaker.lower() in NAMELESS else self.speaker

    def taken_up(self, pronoun: str) -> Person | None:
        """Whom "he", "she" or "they" means: the only one of late that it fits."""
        wanted = _GENDERS.get(pronoun, "they")
        late = [one for one in self.people if self.place - REACH <= one.place]
        here = [
            one
            for one in late
            if one.place == self.place and one.gender in ({wanted} if wanted == "they" else {wanted, None})
        ]
        sure = {one.name for one in here if one.gender == wanted}
        if here and here[-1].gender == wanted and len(sure) == 1:
            return here[-1]
        fitting = here or [one for one in late if one.gender == wanted]
        return fitting[0] if len({one.name for one in fitting}) == 1 else None

    def note(self, person: Person) -> None:
        if person.called and person.gender in {"she", "he"}:
            self.genders[person.called] = person.gender
        same = {person.name, person.called} - {None}
        self.people = [
            one for one in self.people if one.name not in same and (one.called or one.name) not in same
        ]
        self.people = [*self.people[-_MOST_PEOPLE:], person]


def is_bare_kin(token: "Token") -> bool:
    """ "Mum is in hospital", "grandson Peter": the speaker's own, for nobody else's is said."""
    role = ROLES.get(token.lower_)
    if token.i and token.nbor(-1).text in {'"', "“", "'"}:  # what somebody was called
        return False
    first = opens(token) and token.dep_ in {"nsubj", "nsubjpass"}
    if (
        role is None
        or not (role in FAMILY or first)
        or token.pos_ not in {"NOUN", "PROPN"}
        or token.tag_ in {"NNS", "NNPS"}
        or token.dep_ in {"compound", "attr", "conj"}
    ):
        return False
    return not any(one.dep_ in {"poss", "det", "amod", "nummod", "compound", "cc"} for one in token.children)


def kin_of(token: "Token") -> str | None:
    """The role that a noun names ("sister"), if somebody has it: "my sister", "Anna's sister", "Mum"."""
    role = ROLES.get(token.lower_) or (ROLES.get(token.lemma_.lower()) if token.tag_ == "NNS" else None)
    if role is None and token.lower_ in PROFESSIONS and token.dep_ != "compound":
        role = token.lower_.replace("-", "_")
    if role is None or token.pos_ not in {"NOUN", "PROPN"}:
        return None
    return role if is_bare_kin(token) or child(token, "poss") is not None else None


def name_of(token: "Token", known: Collection[str] = ()) -> str | None:
    """The name that a word is the head of, with its other parts ("St. Mary", "Tom Baker"); None where it is no name: one
    word that opens its sentence is one only if it is `known`."""
    low = token.lower_
    if token.pos_ != "PROPN" and not (
        token.ent_type_ in {"PERSON", "GPE", "ORG", "FAC", "LOC"} or low in known
    ):
        return None
    if (
        not token.text[:1].isupper()
        or token.ent_type_ in {"DATE", "TIME"}
        or (low in _NO_NAMES and low not in known)
    ):
        return None
    parts = [one for one in token.lefts if one.dep_ in {"compound", "nmod"} and one.text[:1].isupper()]
    first = min((one.i for one in parts), default=token.i)
    span = token.doc[first : token.i + 1]
    if any(not (one.text[:1].isupper() or one.lower_ in _LINKS) for one in span):
        span = token.doc[token.i : token.i + 1]
    does = token.ent_type_ == "PERSON" and token.dep_ == "nsubj"  # "Emma moved to Lisbon."
    unsure = (
        low not in known
        and opens(token)
        and child(token, "appos") is None
        and not does
        and not (token.norm_ == COMMON_NAME and token.dep_ == "nsubj")
        and not is_somebody(token)
    )
    if len(span) == 1 and (unsure or (token.text.isupper() and len(token) > 5)):
        return None
    if span[0].lower_ in ROLES and len(span) > 1:
        span = span[1:]
    return span.text


def is_somebody(token: "Token") -> bool:
    """A bare word that opens its sentence names somebody where it does what only people do, or does it with "I"."""
    if token.pos_ != "PROPN" or token.dep_ not in {"nsubj", "nsubjpass"}:
        return False
    beside = next((one for one in token.children if one.dep_ == "conj"), None)
    if beside is not None and beside.lower_ == "i":
        return True
    forms = {"VBZ", "VBD"} if beside is None or beside.pos_ != "PROPN" else {"VBP", "VBD"}
    return token.head.tag_ in forms and (token.head.lemma_.lower() in _PERSONAL or _has_somebody(token.head))


def _has_somebody(verb: "Token") -> bool:
    """ "Rocky has a dog", "Rui has two sons": what only somebody has."""
    thing = child(verb, "dobj") if verb.lemma_ == "have" else None
    said = set[str]() if thing is None else {thing.lemma_.lower(), *(one.lower_ for one in thing.children)}
    return bool(said & (PETS | ROLES.keys()))


def owner_of(token: "Token", scene: Scene) -> str | None:
    """Whose sister "my sister" or "Mum" is."""
    whose = child(token, "poss")
    if whose is None:
        return scene.author if is_bare_kin(token) else None
    if whose.lower_ in {"my", "our"}:
        return scene.author
    if whose.lower_ in _GENDERS or whose.lower_ == "their":
        found = scene.taken_up(whose.lower_)
        return found.name if found is not None else None
    return name_of(whose, {*scene.known, whose.lower_}) or (
        ("Their" if whose.lower_ in {"your", "ur"} else None) and scene.listener
    )


def named_kin(token: "Token", scene: Scene) -> str | None:
    """The name that stands beside a role: "my sister Emma", "my wife (Bron)", "grandson Peter"."""
    beside = [
        one
        for one in token.children
        if one.dep_ in _NAMED_BY and one.pos_ == "PROPN" and one.ent_type_ not in _NO_PERSON - {"ORG", "GPE"}
    ]
    if token.dep_ == "attr":  # "Em is my sister Emma", read as two complements
        beside += [
            one
            for one in token.head.children
            if one.dep_ == "attr" and one.i == token.i + 1 and one.pos_ == "PROPN"
        ]
    return next((name_of(one, {*scene.known, one.lower_}) for one in beside if one.text[:1].isupper()), None)


def _acts(token: "Token", known: Collection[str]) -> bool:
    """Whether a known name does something: "Em got the keys"."""
    return (
        token.dep_ == "nsubj"
        and token.ent_type_ == ""
        and (token.lower_ in known or token.norm_ == COMMON_NAME)
    )


def _is_got(token: "Token") -> bool:
    """ "We got a dog": whose it is from then on."""
    head = token.head
    return (
        token.dep_ == "dobj"
        and head.lemma_ in {"have", "get", "adopt", "buy"}
        and any(one.lower_ in {"i", "we"} for one in head.children)
    )


def person_of(token: "Token", scene: Scene, quote: Quote) -> Person | None:
    """The person that a noun phrase names by kin or by name."""
    role = kin_of(token)
    pet = token.lower_ in PETS and (child(token, "poss") is not None or _is_got(token))
    if role is not None or pet:
        called = named_kin(token, scene)
        owner = scene.author if _is_got(token) else owner_of(token, scene)
        if owner is None:
            return None
        said = f"{owner}'s {token.text.lower()}" + (f" {called}" if called else "")
        several = token.tag_ == "NNS" or child(token, "conj") is not None
        return Person(said, called, "they" if several else gender(role) if role else None, scene.place, quote)
    if token.dep_ in {"compound", "nmod"} or token.ent_type_ in _NO_PERSON:
        return None
    titled = next((_TITLES[one.lower_] for one in token.lefts if one.lower_ in _TITLES), None)
    called = name_of(token, scene.known)
    earlier = (
        next((one for one in scene.people if called in (one.called, one.name)), None) if called else None
    )
    if (
        called is None
        or called in {scene.speaker, scene.listener}
        or not (token.ent_type_ == "PERSON" or earlier is not None or _acts(token, scene.known))
    ):
        return None
    return Person(called, called, titled or scene.genders.get(called), scene.place, quote)
