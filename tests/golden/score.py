"""Scores extractions against golden cases: right, allowed, wrong and missed items, pooled. Knows nothing of Everlore's code.

An output is given as plain values (`Output`), so that any extractor can be scored, or what a whole pipeline has stored.
`supersedes` is scored only where the caller hands pairs of texts in (the whole pipeline can; an extractor alone cannot).
"""

import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

Case = dict[str, Any]
KINDS = ("memories", "facts", "aliases", "supersedes")
SYMMETRIC = frozenset(
    (
        "married_to",
        "engaged_to",
        "partner_of",
        "friend_of",
        "colleague_of",
        "neighbour_of",
        "roommate_of",
        "cousin_of",
    )
)
_ARTICLES = frozenset(
    ("the", "a", "an", "el", "la", "los", "las", "un", "una", "unos", "unas", "der",
     "die", "das", "ein", "eine", "le", "les", "o", "os")
)  # fmt: skip


@dataclass(frozen=True)
class Memory:
    type: str
    text: str
    event_on: date | None = None


@dataclass(frozen=True)
class Fact:
    subject: str
    predicate: str
    object: str
    ended: bool = False


@dataclass(frozen=True)
class Output:
    """What one case yielded. `aliases`: pairs of an entity and another name; `supersedes`: pairs of texts, old and new."""

    memories: Sequence[Memory] = ()
    facts: Sequence[Fact] = ()
    aliases: Sequence[tuple[str, str]] = ()
    supersedes: Sequence[tuple[str, str]] | None = None


@dataclass
class Tally:
    right: int = 0
    wrong: int = 0
    expected: int = 0
    found: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.expected if self.expected else 1.0

    def add(self, other: "Tally") -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.expected += other.expected
        self.found += other.found


@dataclass
class Score:
    """The tallies by kind, all of them together, and every failure in words."""

    kinds: dict[str, Tally] = field(default_factory=lambda: {kind: Tally() for kind in KINDS})
    trap_wrong: dict[str, int] = field(default_factory=dict[str, int])
    failures: list[str] = field(default_factory=list[str])

    @property
    def all(self) -> Tally:
        pooled = Tally()
        for tally in self.kinds.values():
            pooled.add(tally)
        return pooled


def load(path: Path) -> list[Case]:
    """The cases of a golden file."""
    return json.loads(path.read_text(encoding="utf-8"))


def plain(text: object) -> str:
    """Without case, accents, blanks at the ends and a leading article."""
    folded = unicodedata.normalize("NFKD", str(text).casefold())
    bare = " ".join(
        "".join(one for one in folded if not unicodedata.combining(one)).replace("’", "'").split()
    )
    first, _, rest = bare.partition(" ")
    return rest if rest and first in _ARTICLES else bare


def score(cases: Iterable[Case], outputs: dict[str, Output]) -> Score:
    """Every case against the output under its id; a case without one counts as having yielded nothing. A fact whose predicate no
    case asks for counts neither way, but for traps: these are not what the cases were written for."""
    total, cases = Score(), list(cases)
    asked = {one["predicate"] for case in cases for one in case["expect"].get("facts", [])}
    for case in cases:
        wrong = 0
        output = outputs.get(case["id"], Output())
        for kind in KINDS:
            given: Sequence[Any] | None = getattr(output, kind)
            if given is None:
                continue
            if kind == "facts" and not case["trap"]:
                given = [one for one in given if one.predicate in asked]
            tally, failures = _of_kind(kind, case, given)
            total.kinds[kind].add(tally)
            total.failures += failures
            wrong += tally.wrong
        if case["trap"]:
            total.trap_wrong[case["id"]] = wrong
    return total


def _of_kind(kind: str, case: Case, given: Sequence[Any]) -> tuple[Tally, list[str]]:
    expected = case["expect"].get(kind, [])
    allowed = case.get("allow", {}).get(kind, [])
    names = _names(case)
    met: set[int] = set()
    tally, failures = Tally(expected=len(expected)), list[str]()
    for item in given:
        fits = [place for place, want in enumerate(expected) if _matches(kind, item, want, names)]
        if fits:
            tally.right += not met.issuperset(fits)
            met.update(fits)
        elif not any(_matches(kind, item, want, names) for want in allowed):
            tally.wrong += 1
            failures.append(f"{case['id']}: wrong {kind}: {item}")
    tally.found = len(met)
    failures += [
        f"{case['id']}: missed {kind}: {want}" for place, want in enumerate(expected) if place not in met
    ]
    return tally, failures


def _matches(kind: str, item: Any, want: Any, names: dict[str, set[str]]) -> bool:
    match kind:
        case "memories":
            return _memory(item, want)
        case "facts":
            return _fact(item, want, names)
        case "aliases":
            return _same_name(item[0], want["entity"], names) and plain(item[1]) == plain(want["alias"])
        case _:
            return _has_all(item[0], want["old"]) and _has_all(item[1], want["new"])


def _has_all(text: str, parts: Iterable[str]) -> bool:
    whole = plain(text)
    return all(plain(part) in whole for part in parts)


def _memory(item: Memory, want: dict[str, Any]) -> bool:
    if item.type not in want["types"] or not _has_all(item.text, want.get("must", [])):
        return False
    if any(plain(part) in plain(item.text) for part in want.get("must_not", [])):
        return False
    on = want.get("event_on")
    return on is None or item.event_on == date.fromisoformat(on)


def _fact(item: Fact, want: dict[str, Any], names: dict[str, set[str]]) -> bool:
    if want["predicate"] not in (item.predicate, "*") or want.get("ended", False) != item.ended:
        return False
    if _side(item.subject, want["subject"], names) and _side(item.object, want["object"], names):
        return True
    turned = item.predicate in SYMMETRIC
    return (
        turned and _side(item.object, want["subject"], names) and _side(item.subject, want["object"], names)
    )


def _side(given: str, want: str, names: dict[str, set[str]]) -> bool:
    day = _as_date(given)
    return want == "*" or _same_name(given, want, names) or (day is not None and day == _as_date(want))


def _as_date(text: str) -> date | None:
    try:
        return datetime.fromisoformat(str(text)).date()
    except ValueError:
        return None


def _same_name(given: str, want: str, names: dict[str, set[str]]) -> bool:
    one, other = plain(given), plain(want)
    return one == other or one in names.get(other, ()) or other in names.get(one, ())


def _names(case: Case) -> dict[str, set[str]]:
    """The names that go together in this case: an entity and the aliases that the case itself gives it."""
    together: dict[str, set[str]] = {}
    for part in (case["expect"], case.get("allow", {})):
        for pair in part.get("aliases", []):
            group = together.setdefault(plain(pair["entity"]), {plain(pair["entity"])})
            group.add(plain(pair["alias"]))
    return together
