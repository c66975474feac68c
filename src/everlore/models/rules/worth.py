"""What a statement is worth: its type, whether it is shown, and its importance, from how concrete and how asserted it is.

A statement is shown or a key. Shown is what names something of somebody who takes part or belongs to one who does: it must score
`SHOWN_FROM`, stand alone and be asserted. Everything else helps to find the message that it stands in, and is never shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import MemoryType
from everlore.models.rules.clauses import Clause, auxiliaries, child, is_negated, opens
from everlore.models.rules.habits import has_a_day
from everlore.models.rules.kin import PETS
from everlore.models.rules.phrases import SaidFact
from everlore.models.rules.scene import Scene, kin_of, name_of
from everlore.models.rules.times import looks_ahead
from everlore.models.rules.wording import Wording
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

SHOWN_FROM: Final = 2.75
_PASSING, _REPORTS, _LIKES, _WANTS, _DECIDES = (
    words(f"statements.{one}", "en") for one in ("passing", "reporting", "liking", "wanting", "deciding")
)
_VAGUE, _EVALUATES, _DOUBTS, _OFTEN, _ABLE = (
    words(f"statements.{one}", "en") for one in ("vague", "evaluating", "doubting", "often", "able")
)
_HYPOTHETICAL: Final = words("statements.hypothetical", "en")
_LEADING, _AWAY, _REFERRING = (words(f"statements.{one}", "en") for one in ("leading", "away", "referring"))
_NOT_SAID: Final = words("statements.not_said", "en")
_STATES: Final = frozenset(
    {"lives_in", "works_at", "works_as", "studies_at", "member_of", "married_to", "engaged_to", "is"}
)
_STATIVE, _FAMILIAR, _MOMENTARY = (
    words(f"statements.{one}", "en") for one in ("stative", "familiar", "momentary")
)
_LIGHT: Final = words("statements.light", "en")
_FUTURE: Final = frozenset({"will", "'ll", "wo"})
_STAND_INS: Final = frozenset(
    {"it", "they", "them", "he", "she", "him", "her", "this", "that"}
)  # of which "her" may own something, too
_PRESENT: Final = frozenset({"VBP", "VBZ", "VB"})
_COPULAS: Final = words("statements.copulas", "en")
_TELLING_TYPES: Final = frozenset(
    {"identity", "relationship", "decision", "preference", "goal", "habit", "skill", "project", "task"}
)


@dataclass(frozen=True, slots=True)
class Worth:
    """`score`: see `weigh`. `importance` grows with it from 0.25 to 0.9. `reason`: what it is made of, or what speaks against."""

    type: MemoryType
    score: float
    reason: str

    @property
    def shown(self) -> bool:
        return self.score >= SHOWN_FROM

    @property
    def importance(self) -> float:
        return round(min(0.25 + 0.1 * max(self.score, 0.0), 0.9), 2)


def doubt(clause: Clause) -> str | None:
    """Why a clause asserts nothing: a hypothesis, an order, a report, a hedge."""
    head, lemma = clause.head, clause.head.lemma_.lower()
    if clause.modal in _HYPOTHETICAL and not _is_wished(clause):
        return "hypothetical"
    if clause.modal in {"can", "ca"} and not (
        lemma in _ABLE or (is_negated(head) and lemma in {"eat", "have", "drink", "take", "stand"})
    ):
        return "hypothetical"
    if any(one.dep_ == "mark" and one.lower_ in {"if", "unless", "whether", "lest"} for one in head.subtree):
        return "hypothetical"
    if any(one.tag_ in {"WP", "WRB", "WDT"} and one.head == head and one.i < head.i for one in clause.words):
        return "a question"
    what = clause.child("attr") if clause.subject is not None and clause.subject.lower_ == "we" else None
    if (what is not None and what.tag_ == "NNS") or any(one.lower_ == "ta" for one in head.subtree):
        return "not of one person"
    plain = clause.subject is None or (
        not auxiliaries(head) and clause.subject.lower_ not in {"i", "we", "they"}
    )
    if head.tag_ == "VB" and plain:
        return "an order"
    named = lemma == "call" and clause.child("nsubjpass") is not None
    if _is_inverted(clause):
        return "a question"
    doing = clause.child("xcomp")
    if lemma in {"keep", "go", "start", "stop"} and doing is not None and doing.lemma_.lower() in _REPORTS:
        return "a report"  # "my mum keeps telling people I live in Leeds"
    if (
        lemma in _REPORTS
        and not named
        and (
            clause.child("ccomp") is not None or clause.child("dobj") is None or not _is_first(clause.subject)
        )
    ):
        return "a report"
    return "hedged" if any(one.lower_ in _DOUBTS for one in head.subtree) else None


def _is_inverted(clause: Clause) -> bool:
    """ "Is Bobbin the ferret": a question without its mark."""
    first = next(iter(auxiliaries(clause.head)), clause.head)
    asks = first.pos_ == "AUX" and opens(first) and clause.words[0] == first
    return asks and clause.subject is not None and first.i < clause.subject.i


def weigh(clause: Clause, wording: Wording, scene: Scene, *, dated: bool, facts: Sequence[SaidFact]) -> Worth:
    """A point and a half for a fact, a point and a quarter for each name (two count); half a point for each noun that tells
    something (three count) and for each word that tells it from others; three quarters for a number, as much again for a date,
    half for a person or a pet of somebody's; one or more for a predicate that says something of somebody who takes part. Half a
    point less for a thing that is nobody's and for each pronoun that is left.

    The points were set by hand and then held against what readers said of 940 statements (tests/golden): in quarters, so that
    the order that they give puts what was called good first.
    """
    head, type_ = clause.head, type_of(clause)
    if type_ in {"event", "fact"} and any(one.predicate in _STATES for one in facts):
        type_ = "identity"  # "I moved to Leeds" says where somebody lives, which does not pass
    names = {one.text for one in clause.words if _is_name(one, scene) and not _is_part_of_name(one, scene)}
    nouns = {
        one.lemma_.lower()
        for one in clause.words
        if one.pos_ == "NOUN"
        and one.lemma_.lower() not in _VAGUE
        and one.dep_ != "npadvmod"
        and one != clause.subject
    }
    numbers = any(one.pos_ == "NUM" and one.lower_ not in {"one", "once"} for one in clause.words)
    doing = {
        one.lemma_
        for one in clause.words
        if one.pos_ == "VERB" and one.dep_ in {"xcomp", "pcomp", "conj"} and one.lemma_ not in _PASSING
    }
    people = any(kin_of(one) is not None or one.lower_ in PETS for one in clause.words)
    passing = _is_passing(clause, type_) and not ((names or numbers) and dated)
    comments = (
        type_ == "preference"
        and clause.child("ccomp", "advcl") is not None
        and clause.child("dobj", "xcomp") is None
    )
    scene_only = type_ in {"fact", "identity"} and not facts and not dated and _tells_a_scene(clause)
    someday = clause.modal in _FUTURE and not dated
    this_one = not facts and not names and _points_at(clause)
    given_up = type_ == "goal" and head.tag_ == "VBD" and not dated
    parts = {
        "about somebody": _about(clause, wording, scene, type_, dated=dated),
        "a fact": 1.5 * bool(facts),
        "names": 1.25 * min(len(names), 2),
        "numbers": 0.75 * (numbers or dated),
        "a date": 0.75 * dated,
        "nouns": 0.5 * min(len(nouns), 3),
        "told apart": 0.5 * min(_told_apart(clause), 2),
        "verbs": 0.25 * min(len(doing), 2),
        "people": 0.5 * people,
        "how often": 0.5 * (type_ == "habit"),
        "going on": 0.5 * (head.tag_ == "VBG"),
        "a thing": -0.5 * _is_of_a_thing(clause),
        "pronouns": -0.5 * sum(one.lower_ in _STAND_INS and one != clause.subject for one in clause.words),
        "says how, not what": -2.0 * (not facts and _evaluates(clause, names)),
        "of the moment": -1.25 * (passing or comments or given_up or someday or this_one or scene_only),
        "nothing named": -1.0 * (not nouns and not names and not facts),
        "too short": -1.0 * (len(wording.text.split()) < 4 and not facts),
    }
    score = sum(parts.values())
    reason = ", ".join(f"{what} {points:+.2f}" for what, points in parts.items() if points)
    if not parts["about somebody"] > 0:
        score = min(score, SHOWN_FROM - 0.5)
    if wording.unclear:
        score, reason = min(score, SHOWN_FROM - 0.5), f"unclear: {', '.join(wording.unclear)}"
    return Worth(type_, score, reason)


def _is_name(token: "Token", scene: Scene) -> bool:
    if token.pos_ != "PROPN" or not token.text[:1].isupper() or token.ent_type_ in {"DATE", "TIME"}:
        return False
    return token.text not in {scene.speaker, scene.listener} and (
        token.dep_ == "compound" or name_of(token, scene.known) is not None
    )


def _is_part_of_name(token: "Token", scene: Scene) -> bool:
    return token.dep_ in {"compound", "nmod"} and _is_name(token.head, scene)


def _is_first(subject: "Token | None") -> bool:
    return subject is None or subject.lower_ in {"i", "we"}


def _is_wished(clause: Clause) -> bool:
    return clause.modal in {"would", "'d"} and clause.head.lemma_.lower() in {"like", "love", "prefer"}


def _about(clause: Clause, wording: Wording, scene: Scene, type_: MemoryType, *, dated: bool) -> float:
    """What the predicate says of somebody who takes part, or belongs to one who does; less than nothing where nobody does."""
    subject = clause.subject
    if type_ == "relationship":
        return 1.25
    if subject is not None and not _is_first(subject) and wording.person is None:
        if any(one.lower_ in {"your", "ur"} for one in subject.children):
            return -1.0
        owned = (
            kin_of(subject) is not None
            or (has_a_day(clause) and looks_ahead(clause))
            or any(one.lower_ in {"my", "our"} for one in subject.subtree)
        )
        if not owned:
            named = name_of(subject, scene.known) is not None
            return 0.5 if named else -1.0 if subject.pos_ == "NOUN" else -0.5
        if kin_of(subject) is None and type_ != "preference":  # what is somebody's says less than somebody
            return 0.25 + 0.5 * dated
    return 1.25 if type_ in _TELLING_TYPES else 1.0


def _is_of_a_thing(clause: Clause) -> bool:
    """Whether its subject is a thing that is nobody's: "the wall", "delivery"."""
    subject = clause.subject
    return (
        subject is not None
        and subject.pos_ == "NOUN"
        and kin_of(subject) is None
        and not (has_a_day(clause) and looks_ahead(clause))
        and not any(one.lower_ in {"my", "our"} for one in subject.subtree)
    )


def _told_apart(clause: Clause) -> int:
    """How many words tell a thing from others of its kind: "an online clothing store", "my first dance"."""
    return sum(
        one.dep_ in {"amod", "compound"}
        and one.pos_ != "PROPN"
        and one.head.pos_ == "NOUN"
        and not {one.lemma_.lower(), one.lower_} & (_EVALUATES | _VAGUE | _NOT_SAID)
        for one in clause.words
    )


def _is_passing(clause: Clause, type_: MemoryType) -> bool:
    """Whether its verb tells of talk, effort or mood only: "I had to figure it out", "we will stay strong", "I'm off to bed"."""
    head, doing = clause.head, clause.child("xcomp")
    if doing is not None and doing.tag_ == "VB" and head.lemma_.lower() in _LEADING:
        return doing.lemma_.lower() in _PASSING or (head.tag_ == "VBD" and head.lemma_ in {"have", "need"})
    if head.tag_ == "VBG" and head.lemma_.lower() in _MOMENTARY:
        return True
    if head.lemma_ == "be" and any(
        one.lower_ in _AWAY and one.dep_ in {"prep", "advmod", "acomp"} for one in head.children
    ):
        return True
    if head.lemma_.lower() in _LIGHT:
        thing = clause.child("dobj")
        return thing is None or thing.pos_ in {"PRON", "NUM"} or thing.lemma_.lower() in _VAGUE
    return head.lemma_.lower() in _PASSING and type_ not in {"preference", "task", "skill"}


def _tells_a_scene(clause: Clause) -> bool:
    """Whether it says what happens right now, as games and stories do: "I raise my staff", "I'm in the bakery"."""
    head = clause.head
    if (
        head.tag_ not in {"VBP", "VBZ"}
        or auxiliaries(head)
        or any(one.lower_ in _OFTEN for one in clause.words)
    ):
        return False
    if head.lemma_ == "be":
        away = clause.child("advmod")
        return away is not None if clause.child("prep") is None else clause.child("attr", "acomp") is None
    return head.lemma_.lower() not in _STATIVE


def _points_at(clause: Clause) -> bool:
    """Whether only the conversation knows which one is meant: "the colour and texture", "at the event"."""
    for one in clause.words:
        bare = child(one, "prep", "relcl", "compound", "amod", "acl", "appos") is None
        if one.pos_ != "NOUN" or not bare or not any(part.lower_ == "the" for part in one.children):
            continue
        if one.lemma_.lower() in _REFERRING or (one.dep_ == "dobj" and one.lemma_.lower() not in _FAMILIAR):
            return True
    return False


def _evaluates(clause: Clause, names: set[str]) -> bool:
    """Whether it only says how something is: "I am so proud of it", "the kids are our future"."""
    head, complement = clause.head, clause.child("acomp", "attr", "oprd")
    if head.lower_ in _EVALUATES:
        return True
    if complement is None or head.lemma_ not in _COPULAS:
        return False
    lemma = complement.lemma_.lower()
    if (
        any(one.lower_ in {"such", "so", "what", "too"} for one in complement.children)
        or {lemma, complement.lower_} & _EVALUATES
    ):
        return True
    if complement.pos_ == "NOUN" and lemma in _VAGUE:
        return not names
    return complement.dep_ == "acomp" and not names and child(complement, "prep") is None


def type_of(clause: Clause) -> MemoryType:
    """The type, by the class of the predicate."""
    head, lemma, xcomp = clause.head, clause.head.lemma_.lower(), clause.child("xcomp")
    if (
        _is_wished(clause)
        or lemma in _WANTS
        or (lemma in {"go", "look"} and xcomp is not None and head.tag_ == "VBG")
    ):
        if head.tag_ in {"VBD", "VBN"} or is_negated(head):  # what was wanted once is none of today's goals
            return "event"
        return "goal" if lemma != "need" or xcomp is None else "task"
    if lemma in _LIKES:
        return "preference"
    if lemma == "be":
        return _type_of_being(clause)
    if lemma == "try" and xcomp is not None and head.tag_ == "VBG":
        return "goal"
    if lemma in _DECIDES and clause.child("prt") is None:
        return "decision"
    if lemma == "have" and xcomp is not None:
        return "task" if head.tag_ in _PRESENT else "event"
    if clause.modal in _FUTURE:
        return "goal"
    if clause.modal in {"can", "ca"}:
        return "skill"
    if head.tag_ in _PRESENT and any(one.lower_ in _OFTEN for one in clause.words):
        return "habit"
    if lemma in {"live", "work", "study", "bear"}:
        return "identity"
    if lemma == "learn" and head.tag_ in {"VBD", "VBN"}:
        return "lesson"
    if (
        head.tag_ == "VBG"
        and looks_ahead(clause)
        and lemma in {"build", "write", "develop", "design", "rewrite", "create", "make"}
    ):
        return "project"
    return "event" if head.tag_ in {"VBD", "VBN", "VBG"} else "fact"


def _type_of_being(clause: Clause) -> MemoryType:
    attribute, subject = clause.child("attr"), clause.subject
    if any(one.lemma_.lower() in {"favorite", "favourite", "fave"} for one in clause.words):
        return "preference"
    if attribute is None or subject is None:
        return "fact"
    if attribute.lemma_.lower() in {"fan", "lover", "sucker", "addict", "enthusiast"}:
        return "preference"
    if kin_of(attribute) or (kin_of(subject) and attribute.pos_ == "PROPN"):
        return "relationship"
    return "identity" if subject.pos_ in {"PRON", "PROPN"} and clause.head.tag_ in _PRESENT else "fact"
