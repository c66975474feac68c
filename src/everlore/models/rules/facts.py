"""Facts of a clause: subject, predicate and object, read off the arguments of its verbs by frames."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from everlore.models.rules.clauses import Clause, auxiliaries, child, is_negated, opens
from everlore.models.rules.kin import FORMER, PETS, predicate_of
from everlore.models.rules.scene import Scene, kin_of, name_of, named_kin, owner_of
from everlore.models.rules.wording import Wording
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token


@dataclass(frozen=True, slots=True)
class Said:
    """A fact as it is said. `begin` and `stop`: the indices of the object's words in what was parsed."""

    subject: str
    predicate: str
    object: str
    begin: int
    stop: int
    is_name: bool = False
    ended: bool = False


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


_PLACES: Final = frozenset({"GPE", "LOC", "FAC"})
_NOT_NAMES_OF: Final = {
    "name": frozenset({"DATE", "TIME", "PERSON", "GPE"}),
    "place": frozenset({"DATE", "TIME", "NORP"}),
}
_WENT: Final = (_Frame("has_visited", ("to",), "city", "then"),)
_KEPT: Final = (_Frame("owns", ("dobj",), "belongings"),)
_FRAMES: Final[dict[str, tuple[_Frame, ...]]] = {
    "live": (_Frame("lives_in", ("in", "at", "near", "outside"), "place", "now"),),
    "reside": (_Frame("lives_in", ("in", "at"), "place", "now"),),
    "move": (_Frame("lives_in", ("to", "into"), "place", "then"),),
    "relocate": (_Frame("lives_in", ("to",), "place", "then"),),
    "work": (
        _Frame("works_at", ("at", "for"), "name", "now"),
        _Frame("works_as", ("as",), "anything", "now"),
        _Frame("works_on", ("on",), "named or long", "now"),
    ),
    "volunteer": (
        _Frame("volunteers_at", ("at", "for", "with"), "anything", "now"),
        _Frame("works_as", ("as",), "professions", "now"),
    ),
    "study": (_Frame("studies_at", ("at",), "name"), _Frame("studies", ("dobj",), "anything", "now")),
    "major": (_Frame("studies", ("in",), "anything"),),
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
    "have": (_Frame("owns", ("dobj",), "belongings", "now"),),
    "do": (_Frame("practises", ("dobj",), "hobbies", "now"),),
    "practice": (_Frame("practises", ("dobj",), "hobbies"),), "practise": (_Frame("practises", ("dobj",), "hobbies"),),
    "start": (_Frame("practises", ("dobj",), "hobbies"),), "take": (_Frame("practises", ("dobj", "up"), "hobbies"),),
    "write": (_Frame("works_on", ("dobj",), "projects", "now"),), "build": (_Frame("works_on", ("dobj",), "projects", "now"),),
    "develop": (_Frame("works_on", ("dobj",), "projects", "now"),),
    "rewrite": (_Frame("works_on", ("dobj",), "projects", "now"),),
    "graduate": (_Frame("graduated_from", ("from",), "name", "then"),),
    "collect": (_Frame("collects", ("dobj",), "anything", "now"),),
    "drive": (_Frame("drives", ("dobj",), "anything", "now"),),
}  # fmt: skip
_DISLIKES: Final = frozenset({"hate", "dislike", "detest", "loathe"})
_TASTES: Final = frozenset({"love", "like", "enjoy", "adore", "prefer", *_DISLIKES})
_FORMS: Final[dict[_Tense, frozenset[str]]] = {
    "now": frozenset({"VBP", "VBZ", "VB", "VBG"}), "then": frozenset({"VBD", "VBN"}),
    "ever": frozenset({"VBP", "VBZ", "VB", "VBG", "VBD", "VBN"}),
}  # fmt: skip
_UNSURE: Final = words("statements.unsure", "en")
_NOTHING: Final = words("statements.vague", "en") | frozenset(
    [
        "look",
        "sound",
        "view",
        "outcome",
        "color",
        "colour",
        "texture",
        "game",
        "texture",
        "team",
        "picture",
        "show",
        "movie",
        "book",
    ]
)
_POINTERS: Final = words("statements.pointers", "en")


def facts(clause: Clause, wording: Wording, scene: Scene) -> Iterator[Said]:
    """All facts that the clause states of its subject."""
    sure = clause.modal not in _UNSURE or (
        clause.modal in {"can", "ca"} and clause.head.lemma_ in {"speak", "play"}
    )
    for subject in _subjects(clause, wording, scene) if sure else ():
        for head in clause.heads:
            yield from _facts_of(head, subject, clause, scene)
    yield from _favourites(clause, scene)


def _facts_of(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    lemma = head.lemma_.lower()
    for frame in _FRAMES.get(lemma, ()):
        yield from _framed(frame, head, subject)
    if lemma in _TASTES:
        yield from _taste(head, subject)
    for verbs, rule in _RULES:
        if lemma in verbs:
            yield from rule(head, subject, clause, scene)


def _subjects(clause: Clause, wording: Wording, scene: Scene) -> Iterator[str]:
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
    return name_of(token, scene.known) if token.ent_type_ in {"PERSON", ""} else None


def _framed(frame: _Frame, head: "Token", subject: str) -> Iterator[Said]:
    lasting = any(one.lower_ in {"since", "for"} for one in head.children)  # "has lived there since 2019"
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
    if (frame.tense == "now" and helped and head.tag_ != "VBN") or (
        head.lemma_ == "be" and head.tag_ != "VBN"
    ):
        return
    negated = is_negated(head)
    over = negated and any(one.lower_ in {"longer", "anymore", "more"} for one in head.subtree)
    if negated and not over:
        return
    found = list(_slot(head, frame.slots))
    for token in found[:1] if frame.of == "place" else found:
        for one in _listed(token) if frame.of != "place" else (token,):
            if _fits(one, frame.of) and (said := _thing(one, subject, frame.predicate)) is not None:
                yield replace(said, ended=frame.ended or over)


def _slot(head: "Token", slots: tuple[str, ...]) -> "Iterator[Token]":
    for one in head.children:
        if one.dep_ == "dobj" and "dobj" in slots:
            yield one
        elif one.dep_ in {"prep", "agent", "dative"} and one.lower_ in slots:
            yield from (inner for inner in one.children if inner.dep_ == "pobj")
            for again in one.children:  # "to penicillin and to cashews"
                if again.dep_ == "conj" and again.lower_ in slots:
                    yield from (inner for inner in again.children if inner.dep_ == "pobj")
        elif one.dep_ == "advmod" and one.lower_ == "back":  # "moved back to Leeds"
            yield from _slot(one, slots)
        elif one.dep_ == "prep" and one.lower_ == "as":  # "works as a nurse at Saint Mary"
            for job in one.children:
                yield from _slot(job, slots)


def _fits(token: "Token", of: str) -> bool:
    if token.pos_ not in {"NOUN", "PROPN"} or token.lemma_.lower() in words("statements.vague", "en"):
        return False
    low, named = token.lemma_.lower(), name_of(token) is not None
    match of:
        case "name" | "place":
            return named and token.ent_type_ not in _NOT_NAMES_OF[of]
        case "city":
            return named and token.ent_type_ in _PLACES
        case "organisation":
            return named and token.ent_type_ == "ORG"
        case "named or long":
            return named or any(one.dep_ in {"compound", "amod"} for one in token.children)
        case "anything":
            return (
                token.ent_type_ not in {"DATE", "TIME", "PERSON"}
                and token.lower_ not in _NOTHING
                and (not _is_the(token) or named)
            )
        case _:
            if low in {"group", "team", "society", "union", "club"} and not any(
                part.dep_ in _LEFT for part in token.lefts
            ):
                return False
            classes = {word for one in of.split(" or ") for word in words(f"statements.{one}", "en")}
            listed = token.dep_ == "conj" and token.pos_ == "PROPN" and token.head.lower_ in classes
            return low in classes or token.lower_ in classes or listed


def _is_the(token: "Token") -> bool:
    """Whether it, or the list that it stands in, is told from others: "the dark sky and green scenery"."""
    told = any(one.dep_ == "poss" or one.lower_ == "the" for one in token.children)
    return told or (token.dep_ == "conj" and token.head.pos_ in {"NOUN", "PROPN"} and _is_the(token.head))


def _thing(token: "Token", subject: str, predicate: str) -> Said | None:
    if any(one.lower_ in _POINTERS for one in token.children):
        return None
    if (title := _title(token)) is not None:
        return Said(subject, predicate, token.doc[title[0] : title[1]].text, *title, True)
    if name_of(token) is not None:
        begin, stop = _name(token)
        return Said(subject, predicate, token.doc[begin:stop].text, begin, stop, True)
    begin, stop = _phrase(token)
    text = token.doc[begin:stop].text
    return Said(subject, predicate, text, begin, stop) if len(text) > 2 and len(text.split()) < 9 else None


def _title(token: "Token") -> tuple[int, int] | None:
    """The words between the quotation marks that it stands in."""
    doc = token.doc
    before = next((one.i for one in reversed(doc[: token.i]) if one.text in {'"', "“"}), None)
    after = next((one.i for one in doc[token.i + 1 :] if one.text in {'"', "”"}), None)
    inside = (
        before is not None
        and after is not None
        and sum(one.text in {'"', "“"} for one in doc[: token.i]) % 2 == 1
    )
    return (before + 1, after) if inside and before is not None and after is not None else None


def _name(token: "Token") -> tuple[int, int]:
    """A name with what belongs to it: "Lord of the Rings", "Amy Ellis Nutt"."""
    begin, stop = token.i, token.i + 1
    while (
        begin > 0
        and token.doc[begin - 1].dep_ in {"compound", "nmod"}
        and token.doc[begin - 1].text[:1].isupper()
    ):
        begin -= 1
    linked = next(
        (one for one in token.rights if one.dep_ == "prep" and one.lower_ == "of" and one.i == stop), None
    )
    if linked is not None and linked.right_edge.text[:1].isupper() and linked.right_edge.i - token.i < 5:
        stop = linked.right_edge.i + 1
    return begin, stop


_LEFT: Final = frozenset({"amod", "compound", "nummod", "nmod", "quantmod", "punct", "advmod"})
_NOT_SAID: Final = words("statements.not_said", "en")


def _phrase(token: "Token") -> tuple[int, int]:
    """A noun phrase without its article, and without clauses, times and whose it is behind it."""
    begin, stop = token.i, token.i + 1
    for one in reversed(list(token.lefts)):
        if (
            one.dep_ not in _LEFT
            or one.lower_ in _NOT_SAID
            or one.right_edge.i + 1 != begin
            or one.text in {",", "(", '"'}
        ):
            break
        begin = one.left_edge.i
    for one in token.rights:
        inner = list(one.subtree)
        plain = one.dep_ == "prep" and one.lower_ in {"of", "for", "about", "with"} and one.i == stop
        if not plain or any(
            part.pos_ in {"PRON", "VERB"} or part.ent_type_ in {"DATE", "TIME"} or part.tag_ == "PRP$"
            for part in inner
        ):
            break
        stop = one.right_edge.i + 1
    while token.doc[begin].is_punct and begin < token.i:
        begin += 1
    return begin, stop


def _listed(token: "Token") -> "Iterator[Token]":
    """A noun and those that are listed with it."""
    yield token
    for one in token.children:
        if one.dep_ == "conj" and one.pos_ in {"NOUN", "PROPN"}:
            yield from _listed(one)


# --- tastes ------------------------------------------------------------------------------------------------


def _taste(head: "Token", subject: str) -> Iterator[Said]:
    lemma = head.lemma_.lower()
    if head.tag_ not in {"VBP", "VBZ", "VB"} or any(
        one.lower_ in {"did", "to", "used"} for one in auxiliaries(head)
    ):
        return
    predicate = "dislikes" if lemma in _DISLIKES else "prefers" if lemma == "prefer" else "likes"
    over = is_negated(head) and any(one.lower_ in {"more", "longer", "anymore"} for one in head.subtree)
    if is_negated(head) and not over:
        if predicate != "likes":
            return
        predicate = "dislikes"
    for one in () if (thing := child(head, "dobj")) is None else _listed(thing):
        fits = _fits(one, "anything") and one.lemma_.lower() not in _NOTHING and kin_of(one) is None
        if fits and child(one, "relcl") is None and (said := _thing(one, subject, predicate)) is not None:
            yield replace(said, ended=over)
    doing = child(head, "xcomp")
    for one in (
        ()
        if doing is None
        else (doing, *(part for part in doing.children if part.dep_ == "conj" and part.pos_ == "VERB"))
    ):
        if one.tag_ == "VBG" and (span := _activity(one)) is not None:
            yield Said(subject, predicate, one.doc[span[0] : span[1]].text, *span)


_NO_ACTIVITY: Final = words("statements.no_activity", "en")


def _activity(doing: "Token") -> tuple[int, int] | None:
    """ "hiking", "playing the piano", as far as it says what is done at all."""
    if doing.lemma_ in _NO_ACTIVITY:
        return None
    stop = doing.i + 1
    for one in doing.rights:
        if one.dep_ in {"cc", "conj", "punct", "npadvmod", "advmod", "advcl"}:
            break
        fits = one.dep_ in {"dobj", "prt", "prep", "xcomp"} and one.left_edge.i == stop
        if not fits or any(
            part.pos_ == "PRON" or (part.pos_ == "DET" and part.lower_ not in {"the", "a", "an"})
            for part in one.subtree
        ):
            return None
        stop = one.right_edge.i + 1
    return (
        (doing.i, stop)
        if stop - doing.i < 6
        and not any(one.pos_ == "SCONJ" or one.dep_ == "relcl" for one in doing.doc[doing.i : stop])
        else None
    )


# --- what is owned, what somebody is -----------------------------------------------------------------------


def _pets(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    thing = child(head, "dobj")
    if (
        thing is None
        or is_negated(head)
        or (head.lemma_ in {"get", "buy"} and head.tag_ not in {"VBD", "VBN"})
    ):
        return
    for one in _listed(thing):
        if one.lemma_.lower() not in PETS or kin_of(one) is not None:
            continue
        if names := _called(one):
            for called in names:
                yield Said(subject, "has_pet", called.text, called.i, called.i + 1, True)
        elif one.tag_ == "NN" and not _is_the(one) and (said := _thing(one, subject, "has_pet")) is not None:
            yield said


def _called(token: "Token") -> "list[Token]":
    """The names of "a cat called Max", "two cats, Miso and Tofu"."""
    first = next(
        (one for one in token.subtree if one.dep_ in {"oprd", "appos", "npadvmod"} and one.pos_ == "PROPN"),
        None,
    )
    return [] if first is None else [one for one in _listed(first) if one.text[:1].isupper()]


def _is(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    if head.tag_ not in {"VBP", "VBZ"} or head != clause.head:
        return
    adjective, noun, negated = child(head, "acomp"), child(head, "attr"), is_negated(head)
    if adjective is not None and adjective.lower_ == "allergic":
        for one in (part for token in _slot(adjective, ("to",)) for part in _listed(token)):
            if (
                said := _thing(one, subject, "allergic_to")
            ) is not None and one.lemma_.lower() not in _NOTHING:
                yield replace(said, ended=negated)
    for origin in _slot(head, ("from",)):
        if (
            not negated
            and origin.ent_type_ == "GPE"
            and (said := _thing(origin, subject, "comes_from")) is not None
        ):
            yield said
    if noun is None or negated:
        return
    if noun.lemma_.lower() in {"fan", "lover"}:
        for one in (part for token in _slot(noun, ("of",)) for part in _listed(token)):
            if not _is_the(one) and (said := _thing(one, subject, "likes")) is not None:
                yield said
    yield from _profession(noun, subject, clause)


def _profession(noun: "Token", subject: str, clause: Clause) -> Iterator[Said]:
    if noun.lemma_.lower() not in words("statements.professions", "en") or noun.pos_ not in {"NOUN", "PROPN"}:
        return
    if any(
        one.dep_ == "poss"
        or one.lower_ in {"the", "no", "such", "great", "good", "real", "former", "best", "bit"}
        for one in noun.children
    ):
        return
    begin, stop = _phrase(noun)
    yield Said(subject, "works_as", noun.doc[begin:stop].text, begin, stop)
    for place in _slot(noun, ("at", "for")):
        if _fits(place, "name") and (said := _thing(place, subject, "works_at")) is not None:
            yield said


_KEEN: Final = {
    "passionate": ("about",),
    "crazy": ("about",),
    "obsessed": ("with",),
    "interested": ("in",),
    "fond": ("of",),
    "be": ("into",),
}


def _keen(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "I am passionate about pottery", "she is into climbing"."""
    word = child(head, "acomp") or head
    if head.tag_ == "VBD" or is_negated(head) or any(one.tag_ == "VBD" for one in auxiliaries(head)):
        return
    for one in (
        part
        for token in _slot(word, _KEEN.get(word.lemma_.lower(), _KEEN.get(word.lower_, ())))
        for part in _listed(token)
    ):
        if _fits(one, "anything") and (said := _thing(one, subject, "likes")) is not None:
            yield said


_SPELLED: Final = {"color": "colour", "flavor": "flavour"}


def _titled(said: Said, token: "Token") -> Said:
    """With the small words that a title holds: "The Station at Dusk"."""
    begin, stop, doc = said.begin, said.stop, token.doc
    while stop + 1 < len(doc) and doc[stop].pos_ in {"ADP", "DET"} and doc[stop + 1].text[:1].isupper():
        stop += 2
    if begin and doc[begin - 1].text == "The":
        begin -= 1
    return replace(said, object=doc[begin:stop].text, begin=begin, stop=stop) if said.is_name else said


_BONDS: Final = {"engaged": "engaged_to", "married": "married_to", "divorced": "married_to"}


def _bond(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "Ola and I got married", "I am engaged to Ola"; of two the speaker is the subject."""
    word = next((one for one in (head, *head.children) if one.lower_ in _BONDS), None)
    first = clause.subject
    if word is None or first is None or is_negated(head) or subject != scene.speaker:
        return
    others = [one for one in (first, *first.children) if one == first or one.dep_ == "conj"]
    others += [one for part in (head, word) for one in _slot(part, ("to", "with"))]
    before = first.doc[first.i - 2 : first.i]
    others += [before[0]] if len(before) == 2 and before[1].lower_ == "and" else []
    for one in others:
        if one.pos_ == "PROPN" and name_of(one, {*scene.known, one.lower_}):
            begin, stop = _name(one)
            said = one.doc[begin:stop].text
            yield Said(subject, _BONDS[word.lower_], said, begin, stop, True, word.lower_ == "divorced")


def _used_to(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "I used to play tennis": what is over."""
    doing = child(head, "xcomp")
    if head.tag_ == "VBD" and doing is not None and not is_negated(head):
        for frame in _FRAMES.get(doing.lemma_.lower(), ()):
            yield from (replace(said, ended=True) for said in _framed(frame, doing, subject))


def _favourites(clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "My favourite band is Low", "Blue is my favourite colour"."""
    subject, complement = clause.subject, clause.child("attr", "acomp")
    if (
        clause.head.lemma_ != "be"
        or clause.head.tag_ == "VBD"
        or subject is None
        or complement is None
        or is_negated(clause.head)
    ):
        return
    for kind, value in ((subject, complement), (complement, subject)):
        adjective = next(
            (one for one in kind.children if one.lower_ in {"favorite", "favourite", "fave"}), None
        )
        whose = child(kind, "poss")
        if (
            adjective is None
            or whose is None
            or kind.pos_ != "NOUN"
            or kind.tag_ == "NNS"
            or value.pos_ not in {"NOUN", "PROPN", "ADJ"}
        ):
            continue
        owner = scene.speaker if whose.lower_ in {"my", "our"} else name_of(whose, scene.known)
        if (
            owner
            and (not _is_the(value) or value.pos_ == "PROPN")
            and value.lemma_.lower() not in _NOTHING
            and (said := _thing(value, owner, f"favourite_{_SPELLED.get(kind.lemma_, kind.lemma_.lower())}"))
        ):
            yield _titled(said, value)


_Rule: TypeAlias = "Callable[[Token, str, Clause, Scene], Iterator[Said]]"
_RULES: Final[tuple[tuple[frozenset[str], _Rule], ...]] = (
    (frozenset({"have", "own", "get", "adopt", "buy"}), _pets),
    (frozenset({"be"}), _is),
    (frozenset({"be", "interest", "obsess"}), _keen),
    (frozenset({"be", "get", "marry", "engage", "divorce"}), _bond),
    (frozenset({"use"}), _used_to),
)


# --- who is who --------------------------------------------------------------------------------------------


def relations(clause: Clause, scene: Scene) -> Iterator[tuple[Said, str]]:
    """Who is whose sister, with the description that is another name for them ("Anna's sister"); whose dog Max is."""
    for token in clause.words:
        role, pet = kin_of(token), token.lower_ in PETS and child(token, "poss") is not None
        owner = owner_of(token, scene) if role or pet else None
        named = _who(token, clause) if owner is not None else None
        called = name_of(named, {*scene.known, named.lower_}) if named is not None else None
        if (
            owner is None
            or named is None
            or called is None
            or called == owner
            or (child(named, "conj") is not None and token.tag_ != "NNS")
        ):
            continue
        owner = scene.speaker if owner == "The user" else owner
        if role is None:
            yield Said(owner, "has_pet", called, named.i, named.i + 1, True), f"{owner}'s {token.lower_}"
            continue
        nick = (
            clause.subject
            if token.dep_ == "attr" and clause.subject is not None and clause.subject.text[:1].isupper()
            else None
        )
        predicate, over = predicate_of(role)
        over = over or any(one.lower_ in FORMER - {"old", "late"} for one in token.children)
        yield Said(called, predicate, owner, named.i, named.i + 1, True, over), f"{owner}'s {token.lower_}"
        if nick is not None and nick != named and called.startswith(nick.text[:1]):  # "Em is my sister Emma"
            yield Said(called, predicate, owner, named.i, named.i + 1, True, over), nick.text


def _who(token: "Token", clause: Clause) -> "Token | None":
    """The name beside a role, or said to be it: "my sister Emma", "Emma is my sister", "my sister is called Emma"."""
    if token.dep_ == "appos" and token.head.pos_ == "PROPN":  # "Rosa, my wife, ..."
        return token.head
    beside = [
        one
        for one in token.children
        if one.dep_ in {"appos", "npadvmod", "nmod", "compound"} and one.pos_ == "PROPN"
    ]
    subject, head = clause.subject, clause.head
    if (
        not beside
        and token.dep_ == "attr"
        and token.head == head
        and head.lemma_ == "be"
        and subject is not None
        and not is_negated(head)
    ):
        beside = [subject] if subject.pos_ == "PROPN" else []
    if not beside and token == subject and not is_negated(head):
        complement = clause.child("attr", "oprd") if head.lemma_ in {"be", "call", "name"} else None
        beside = [complement] if complement is not None and complement.pos_ == "PROPN" else []
    return next(
        (
            one
            for one in beside
            if (one.ent_type_ in {"PERSON", "", "ORG", "GPE"} and one.text[:1].isupper() and not opens(one))
            or one == subject
        ),
        None,
    )
