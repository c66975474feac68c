"""Descriptions that stand for a name: "Anna's sister", "my boss Tom", "the brother of Ben", "Emma from accounting".

They tell people of one name apart, and join a name to what somebody is called without one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from everlore.text.folding import fold
from everlore.text.lexicon import forms, phrases, table, words
from everlore.text.variants import key

_CANONICAL = {role: role for role in table("roles", "en")} | dict(forms("roles"))
# Who is one of these to somebody is nothing else to him: a sister is not called a friend, nor a daughter.
_KIN = phrases("kin")
_SAID_OF_KIN = frozenset({"child", "relative", "twin"})

_POSSESSIVE = re.compile(
    r"(?:the\s+|la\s+|el\s+)?(?P<owner>\S.*?)(?:'s|(?<=s)')\s+(?P<rest>\S.*)", re.IGNORECASE
)
_MY = re.compile(r"(?:my|our|mi|nuestr[ao])\s+(?P<rest>\S.*)", re.IGNORECASE)
_OF = re.compile(
    r"(?:the\s+|la\s+|el\s+)?(?P<role>[^\W\d_][\w' -]*?)\s+(?:of|de)\s+(?P<owner>[^\W\d_].*)", re.IGNORECASE
)
_THE = re.compile(r"^[^\W\d_][\w'-]* the [a-zà-ÿ]")
_FROM = re.compile(
    r"(?P<name>\S.*?),?\s+(?:from|at|in|de|del|en)\s+(?:the\s+|la\s+|el\s+)?(?P<where>\S.*)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Description:
    """`owner` is None for "my ...". `role` as it was said, in its plain form; `name` if one follows ("my boss Tom")."""

    owner: str | None
    role: str
    name: str | None = None

    @property
    def kind(self) -> str:
        """The role in the one word that stands for it in all languages: `mum` and `madre` are `mother`."""
        words = fold(self.role).replace("-", " ").split()
        words = words[1:] if len(words) > 1 and words[0] in _QUALITIES else words
        return _CANONICAL.get(" ".join(words), " ".join(words))

    def said_of(self, owner: str) -> str:
        """The description as a name of its own: "Anna's sister"."""
        return f"{owner}'s {self.role}"


_QUALITIES = words("qualities")


def described(text: str) -> Description | None:
    """What a possessive description says, or None where the text is none."""
    text = " ".join(text.replace("\u2019", "'").split())
    if found := _MY.fullmatch(text):
        return _of(None, found["rest"])
    if found := _POSSESSIVE.fullmatch(text):
        return _of(found["owner"], found["rest"])
    if (found := _OF.fullmatch(text)) and is_role(found["role"]):
        return Description(found["owner"], fold(found["role"]))
    return None


def _of(owner: str | None, rest: str) -> Description | None:
    """`business partner Ali` into role and name: the name is what begins with a capital letter at the end."""
    words = rest.split()
    names = len(words)
    while names > 0 and words[names - 1][:1].isupper():
        names -= 1
    if names == 0:
        # All in capitals: either a name alone ("Anna's Emma") or a role that was written so.
        return Description(owner, fold(rest)) if is_role(rest) else None
    return Description(owner, fold(" ".join(words[:names])).rstrip(","), " ".join(words[names:]) or None)


def is_role(text: str) -> bool:
    """Whether it is a noun for what somebody is to somebody, as far as they are known here."""
    kind = Description(None, text).kind
    return kind in _KIN or kind in _CANONICAL.values() or kind in _SAID_OF_KIN


def same_role(one: str, other: str) -> bool:
    """Whether two words, in whatever languages, are nouns for the same role: `brother` and `hermano`."""
    return one in _CANONICAL and _CANONICAL.get(one) == _CANONICAL.get(other)


def affiliation(text: str) -> tuple[str, str] | None:
    """ "Emma from accounting" as (name, key of where), or None."""
    found = _FROM.fullmatch(" ".join(text.split()))
    if found is None or is_role(found["name"]) or described(text) is not None:
        return None
    return found["name"], key(found["where"])


def tells_apart(name: str) -> bool:
    """Whether a name says which of several is meant: "Emma from accounting", "Mia the intern"."""
    return affiliation(name) is not None or _THE.search(name) is not None


def in_conflict(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two sets of names with descriptions cannot be of one person.

    They cannot if somebody's kin has another role for the same owner, if both are from different places, or if one is
    somebody's kin and the other is told apart by where he is from.
    """
    roles_of_one, from_one = _told(one)
    roles_of_other, from_other = _told(other)
    for owner, roles in roles_of_one.items():
        others = roles_of_other.get(owner)
        if others and not roles & others and (roles | others) & _KIN and not (roles | others) & _SAID_OF_KIN:
            return True
    if from_one and from_other:
        return not from_one & from_other
    kin_of_one = any(roles & _KIN for roles in roles_of_one.values())
    kin_of_other = any(roles & _KIN for roles in roles_of_other.values())
    return bool(
        (from_one and kin_of_other and not kin_of_one) or (from_other and kin_of_one and not kin_of_other)
    )


def _told(names: Iterable[str]) -> tuple[dict[str, set[str]], set[str]]:
    roles: dict[str, set[str]] = {}
    places: set[str] = set()
    for name in names:
        if description := described(name):
            roles.setdefault(key(description.owner or ""), set()).add(description.kind)
        elif found := affiliation(name):
            places.add(found[1])
    return roles, places
