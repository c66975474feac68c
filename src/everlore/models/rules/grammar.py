"""The shape of a grammar: which verbs say which predicate, and what may stand around them."""

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal, TypeAlias

# What an object is: a named place, an employer or school, something with a name only, a person, several names, a profession,
# whatever stands behind "work as a", a noun phrase, something that one likes, a language, a tool, a date, or a part of the
# pattern itself.
ObjectKind: TypeAlias = Literal[
    "place",
    "org",
    "named",
    "person",
    "names",
    "role",
    "job",
    "thing",
    "taste",
    "language",
    "tool",
    "date",
    "what",
    "instrument",
]
# What a plain past means: it is over ("lived"), it holds since then ("moved to"), nothing.
Past: TypeAlias = Literal["ended", "same", "skip", "pet"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`verbs`: the words that may open it; `pattern` begins with that word and ends where the object begins."""

    verbs: str
    pattern: str
    predicate: str
    kind: ObjectKind
    past: Past = "skip"
    many: bool = False  # the object may be a list
    ends: bool = False  # it tells the end of it ("moved out of")
    needs_be: bool = False
    needs_not: bool = False
    left: str | None = None  # the predicate that ends for the pattern's group `left` ("from Porto to Lisbon")
    role: bool = False  # the pattern's group `role` is a profession
    role_at: bool = False  # "the CTO of Acme": an employer follows the profession
    group: bool = False  # the object may be a club rather than an employer
    then: tuple[str, str, ObjectKind] | None = None  # what may follow the object: words, predicate, kind
    only: str = ""  # verbs that count, where the pattern has more
    person: Literal[1, 3, 0] = 0  # the person that the verb form says by itself (Spanish)
    confidence: float = 0.8


Verbs: TypeAlias = dict[str, tuple[tuple[Rule, re.Pattern[str]], ...]]


def rules(*given: Rule) -> Verbs:
    """The rules by the word that opens them, in their order."""
    table: defaultdict[str, list[tuple[Rule, re.Pattern[str]]]] = defaultdict(list)
    for rule in given:
        compiled = re.compile(rule.pattern)
        for word in dict.fromkeys(rule.verbs.split()):
            if not rule.only or word in rule.only.split():
                table[word].append((rule, compiled))
    return {word: tuple(found) for word, found in table.items()}


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of one language, all over lower case. See `english` for what each is."""

    head: re.Pattern[str]
    aux: re.Pattern[str]
    negative: re.Pattern[str]
    ended: re.Pattern[str]
    ahead: re.Pattern[str]
    have: re.Pattern[str]
    anymore: re.Pattern[str]
    past: re.Pattern[str]
    stop: re.Pattern[str]
    joint: re.Pattern[str]
    article: re.Pattern[str]
    verbs: Verbs
