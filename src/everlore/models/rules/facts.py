"""Facts of a clause: subject, predicate and object, read off the arguments of its verbs by frames."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from everlore.models.rules.clauses import Clause, auxiliaries, child, is_negated
from everlore.models.rules.habits import deed, habit
from everlore.models.rules.phrases import SaidFact, is_fit, listed, object_of, slot
from everlore.models.rules.scene import Scene, is_somebody, kin_of, name_of, named_kin, owner_of
from everlore.models.rules.states import RULES, TASTES, of_possession, taste
from everlore.models.rules.wording import Wording
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

_Tense: TypeAlias = Literal["now", "then", "ever"]


@dataclass(frozen=True, slots=True)
class _Frame:
    """A verb's argument that makes a fact. `slots`: prepositions, or "dobj". `of`: what the object must be: a name, a place (a
    name, too), one of a class of words of the lexicon, or anything. `then`: a past tense; `now`: a present one."""

    predicate: str
    slots: tuple[str, ...]
    of: str = "anything"
    tense: _Tense = "ever"
    ended: bool = False


_WENT: Final = (_Frame("has_visited", ("to",), "city", "then"),)
_KEPT: Final = (_Frame("owns", ("dobj",), "belongings"),)
_HELD: Final = (
    _Frame("owns", ("dobj",), "belongings", "now"),
    _Frame("has_condition", ("dobj",), "conditions", "now"),
)
_FRAMES: Final[dict[str, tuple[_Frame, ...]]] = {
    "live": (
        _Frame("lives_in", ("in", "at", "near", "outside"), "place", "now"),
        _Frame("lives_with", ("with",), "person", "now"),
    ),
    "reside": (_Frame("lives_in", ("in", "at"), "place", "now"),),
    "move": (_Frame("lives_in", ("to", "into"), "place", "then"),),
    "relocate": (_Frame("lives_in", ("to",), "place", "then"),),
    "work": (
        _Frame("works_at", ("at",), "place", "now"),
        _Frame("works_at", ("for",), "name", "now"),
        _Frame("works_as", ("as",), "anything", "now"),
        _Frame("works_on", ("on",), "named or long", "now"),
    ),
    "volunteer": (
        _Frame("volunteers_at", ("at", "for", "with"), "anything", "now"),
        _Frame("works_as", ("as",), "professions", "now"),
    ),
    "study": (_Frame("studies_at", ("at",), "name"), _Frame("studies", ("dobj",), "anything", "now")),
    "major": (_Frame("studies", ("in",), "anything"),),
    "grow": (_Frame("grew_up_in", ("in",), "place", "then"),),
    "bear": (_Frame("born_in", ("in",), "place"),),
    "play": (_Frame("plays", ("dobj",), "instruments", "now"),),
    "speak": (_Frame("speaks", ("dobj",), "tongues", "now"),),
    "visit": (_Frame("has_visited", ("dobj",), "city", "then"),),
    "go": _WENT, "travel": _WENT, "fly": _WENT, "be": _WENT,
    "use": (_Frame("uses", ("dobj",), "name", "now"),),
    "own": (_Frame("owns", ("dobj",), "anything", "now"),),
    "buy": _KEPT,
    "run": (_Frame("runs", ("dobj",), "groups or belongings", "now"),),
    "teach": (_Frame("teaches", ("dobj",), "anything", "now"),),
    "join": (_Frame("member_of", ("dobj",), "groups", "then"),),
    "leave": (_Frame("works_at", ("dobj",), "organisation", "then", True), _Frame("lives_in", ("dobj",), "city", "then", True)),
    "quit": (_Frame("works_at", ("dobj",), "organisation", "then", True),),
    "have": _HELD, "get": _HELD, "diagnose": (_Frame("has_condition", ("with",)),),
    "learn": (_Frame("learns", ("dobj",), "tongues or instruments or hobbies", "now"),),
    "do": (_Frame("practises", ("dobj",), "hobbies", "now"), _Frame("works_as", ("as",), "professions", "now")),
    "practice": (_Frame("practises", ("dobj",), "hobbies"),), "practise": (_Frame("practises", ("dobj",), "hobbies"),),
    "start": (_Frame("practises", ("dobj",), "hobbies"),), "take": (_Frame("practises", ("dobj", "up"), "hobbies"),),
    "write": (_Frame("works_on", ("dobj",), "projects", "now"),), "build": (_Frame("works_on", ("dobj",), "projects", "now"),),
    "develop": (_Frame("works_on", ("dobj",), "projects", "now"),),
    "rewrite": (_Frame("works_on", ("dobj",), "projects", "now"),),
    "graduate": (_Frame("graduated_from", ("from",), "name", "then"),),
    "collect": (_Frame("collects", ("dobj",), "anything", "now"),),
    "drive": (_Frame("drives", ("dobj",), "anything", "now"),),
}  # fmt: skip
_FORMS: Final[dict[_Tense, frozenset[str]]] = {
    "now": frozenset({"VBP", "VBZ", "VB", "VBG"}), "then": frozenset({"VBD", "VBN"}),
    "ever": frozenset({"VBP", "VBZ", "VB", "VBG", "VBD", "VBN"}),
}  # fmt: skip
_UNSURE: Final = words("statements.unsure", "en")


def facts(clause: Clause, wording: Wording, scene: Scene) -> Iterator[SaidFact]:
    """All facts that the clause states of its subject."""
    sure = clause.modal not in _UNSURE or (
        clause.modal in {"can", "ca"} and clause.head.lemma_ in {"speak", "play"}
    )
    for subject in subjects(clause, wording, scene) if sure else ():
        for head in clause.heads:
            yield from _facts_of(head, subject, clause, scene)
    yield from of_possession(clause, scene)


def deeds(clause: Clause, wording: Wording, scene: Scene, said: Sequence[SaidFact]) -> tuple[SaidFact, ...]:
    """What else its subjects did or want, beside the facts that were read: objects that no fact has yet."""
    if clause.modal is not None:
        return ()
    taken = {one.object for one in said}
    return tuple(
        one
        for subject in subjects(clause, wording, scene)
        for head in clause.heads
        for one in deed(head, subject)
        if one.object not in taken
    )


def _facts_of(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    lemma = head.lemma_.lower()
    for frame in _FRAMES.get(lemma, ()):
        yield from _framed(frame, head, subject)
    if lemma in TASTES:
        yield from taste(head, subject)
    if lemma == "use":
        yield from _used_to(head, subject)
    yield from habit(head, subject, frozenset(_FRAMES))
    for verbs, rule in RULES:
        if lemma in verbs:
            yield from rule(head, subject, clause, scene)


def subjects(clause: Clause, wording: Wording, scene: Scene) -> Iterator[str]:
    """By name who does it: of "Anna and Jonas" both."""
    token = clause.subject
    if token is None:
        yield scene.speaker
        return
    for one in (token, *(part for part in token.children if part.dep_ == "conj")):
        if one == token and wording.person is not None:
            if wording.person.gender != "they":
                yield wording.person.called or wording.person.name
        elif (named := _named_subject(one, scene)) is not None:
            yield named


def _named_subject(token: "Token", scene: Scene) -> str | None:
    if token.lower_ in {"i", "we"}:
        return scene.speaker
    if token.tag_ in {"NNS", "NNPS"}:
        return None
    if kin_of(token) is not None:
        owner = owner_of(token, scene)
        return named_kin(token, scene) or (f"{owner}'s {token.lower_}" if owner else None)
    person = token.ent_type_ in {"PERSON", ""} or token.lower_ in scene.known or is_somebody(token)
    name = name_of(token, scene.known) if person else None
    return None if name is None else scene.in_full(name)


def _framed(frame: _Frame, head: "Token", subject: str) -> Iterator[SaidFact]:
    # "has lived there since 2019", "I've got a van"
    lasting = head.lower_ == "got" or any(one.lower_ in {"since", "for"} for one in head.children)
    if (
        head.tag_ == "VBN"
        and frame.tense == "now"
        and lasting
        and any(one.tag_ in {"VBP", "VBZ"} for one in auxiliaries(head))
    ):
        frame = replace(frame, tense="then")
    helped = any(one.lemma_ == "have" or one.tag_ == "VBD" for one in auxiliaries(head))
    if head.tag_ not in _FORMS[frame.tense] or (
        head.tag_ == "VBG" and frame.tense == "now" and not auxiliaries(head)
    ):
        return
    still = head.tag_ == "VBG" and any(
        one.tag_ in {"VBP", "VBZ"} for one in auxiliaries(head)
    )  # "has been working there"
    if (frame.tense == "now" and helped and head.tag_ != "VBN" and not still) or (
        head.lemma_ == "be" and head.tag_ != "VBN"
    ):
        return
    negated = is_negated(head)
    over = negated and any(one.lower_ in {"longer", "anymore", "more"} for one in head.subtree)
    if negated and not over:
        return
    found = list(slot(head, frame.slots))
    for token in found[:1] if frame.of == "place" else found:
        for one in listed(token) if frame.of != "place" else (token,):
            if head.lemma_ in {"have", "get"} and any(part.lower_ == "the" for part in one.children):
                continue  # "we've got the caravan from the 2nd": not for good
            if is_fit(one, frame.of) and (said := object_of(one, subject, frame.predicate)) is not None:
                yield replace(said, ended=frame.ended or over)


def _used_to(head: "Token", subject: str) -> Iterator[SaidFact]:
    """ "I used to play tennis": what is over."""
    doing = child(head, "xcomp")
    if head.tag_ == "VBD" and doing is not None and not is_negated(head):
        for frame in _FRAMES.get(doing.lemma_.lower(), ()):
            yield from (replace(said, ended=True) for said in _framed(frame, doing, subject))
