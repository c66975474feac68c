"""Who is meant: the people that a conversation has spoken of, and what a pronoun takes up."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from everlore.models.parsed.kin import PETS, ROLES, gender

if TYPE_CHECKING:
    from spacy.tokens import Token

NAMELESS: Final = frozenset({"user", "assistant", "human", "you", ""})
# Roles that a name plays, not names.
_KIN_NAMES: Final = frozenset({"mom", "dad", "mum", "mama", "papa", "grandma", "grandpa", "granny", "nana"})


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was spoken of. `name` as it is written out in a statement ("Anna's sister Emma", "Emma"); `called`: the name alone,
    if one was said. `gender`: "she", "he", "they" (several people), or None."""

    name: str
    called: str | None
    gender: str | None
    token: "Token | None" = None


@dataclass(slots=True)
class Scene:
    """A message's speaker, whom they speak to, and who was spoken of, the last one last."""

    speaker: str
    listener: str | None
    known: Collection[str] = ()
    people: list[Person] = field(default_factory=list[Person])
    genders: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def author(self) -> str:
        """The speaker as a statement names them."""
        return "The user" if self.speaker.lower() in NAMELESS else self.speaker

    def taken_up(self, pronoun: str) -> Person | None:
        """Whom "he", "she" or "they" means: the last one that it fits, if no other fits as well."""
        wanted = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"}.get(pronoun, "they")
        recent = list(reversed(self.people[-4:]))
        sure = [one for one in recent if one.gender == wanted]
        maybe = [one for one in recent if one.gender is None] if wanted != "they" else []
        if sure and (not maybe or recent.index(sure[0]) <= recent.index(maybe[0])):
            return sure[0]
        names = {one.name for one in maybe}
        if not sure and len(names) == 1:
            return maybe[0]
        return None

    def note(self, person: Person) -> None:
        if person.called and person.gender in {"she", "he"}:
            self.genders[person.called] = person.gender
        self.people = [one for one in self.people if one.name != person.name]
        self.people.append(person)


def kin_of(token: "Token") -> str | None:
    """The role that a noun names ("sister"), if somebody has it: "my sister", "Anna's sister"."""
    role = ROLES.get(token.lower_) or (ROLES.get(token.lemma_.lower()) if token.tag_ == "NNS" else None)
    if role is None or token.pos_ not in {"NOUN", "PROPN"}:
        return None
    return role if any(one.dep_ == "poss" for one in token.children) else None


def name_of(token: "Token", known: Collection[str] = ()) -> str | None:
    """The name that a word is the head of, with its other parts ("St. Mary", "Tom Baker"); None where it is no name."""
    if token.pos_ != "PROPN" and not (token.ent_type_ in {"PERSON", "GPE", "ORG", "FAC", "LOC"} and token.text[:1].isupper()):
        if not (token.lower_ in known and token.text[:1].isupper() and not token.is_sent_start):
            return None
    if not token.text[:1].isupper() or not token.text[0].isalpha() or token.ent_type_ in {"DATE", "TIME"}:
        return None
    parts = [one for one in token.lefts if one.dep_ in {"compound", "nmod"} and one.text[:1].isupper()]
    first = min((one.i for one in parts), default=token.i)
    span = token.doc[first : token.i + 1]
    if any(not (one.text[:1].isupper() or one.lower_ in {"of", "de", "la", "the", "-", "&", "van", "von"}) for one in span):
        return token.text
    return span.text


def is_plural(token: "Token") -> bool:
    return token.tag_ in {"NNS", "NNPS"} or any(one.dep_ == "conj" for one in token.children)


def person_of(token: "Token", scene: Scene, owner: str) -> Person | None:
    """The person that a noun phrase names by kin or by name; `owner`: whose sister "my sister" is."""
    role = kin_of(token)
    if role is not None:
        named = next((one for one in token.children if one.dep_ in {"appos", "npadvmod", "nmod", "compound"} and one.pos_ == "PROPN" and one.i != token.i), None)
        called = name_of(named) if named is not None else None
        whose = next(one for one in token.children if one.dep_ == "poss")
        of = owner if whose.lower_ in {"my", "our"} else (name_of(whose) or None)
        if of is None:
            return None
        said = f"{of}'s {token.text.lower()}" + (f" {called}" if called else "")
        return Person(said, called, "they" if token.tag_ == "NNS" else gender(role), token)
    if token.ent_type_ in {"GPE", "ORG", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "NORP", "LANGUAGE"} and token.lower_ not in scene.known:
        return None
    called = name_of(token, scene.known)
    if called is None or called in {scene.speaker, scene.listener} or token.lower_ in PETS or token.lower_ in _KIN_NAMES:
        return None
    if token.ent_type_ != "PERSON" and called.lower() not in scene.known:
        return None
    if token.doc[token.left_edge.i].is_sent_start and " " not in called and called.lower() not in scene.known:
        return None
    return Person(called, called, scene.genders.get(called), token)
