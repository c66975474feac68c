"""What somebody likes, owns and is: facts that no single argument of a verb shows."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from everlore.models.rules.clauses import Clause, auxiliaries, child, is_negated
from everlore.models.rules.habits import age, of_owner
from everlore.models.rules.kin import PETS
from everlore.models.rules.phrases import (
    NOTHING,
    SaidFact,
    called,
    is_fit,
    is_the,
    is_told,
    listed,
    name_span,
    object_of,
    phrase_span,
    slot,
)
from everlore.models.rules.scene import Scene, kin_of, name_of
from everlore.text.dates import read_dates
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token


_DISLIKES: Final = frozenset({"hate", "dislike", "detest", "loathe"})
TASTES: Final = frozenset({"love", "like", "enjoy", "adore", "prefer", *_DISLIKES})


def taste(head: "Token", subject: str) -> Iterator[SaidFact]:
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
    for one in () if (thing := child(head, "dobj")) is None else listed(thing):
        plain = one.lemma_.lower() not in NOTHING or is_told(one)
        fits = is_fit(one, "anything") and plain and kin_of(one) is None
        if fits and child(one, "relcl") is None and (said := object_of(one, subject, predicate)) is not None:
            yield replace(said, ended=over)
    doing = child(head, "xcomp")
    for one in (
        ()
        if doing is None
        else (doing, *(part for part in doing.children if part.dep_ == "conj" and part.pos_ == "VERB"))
    ):
        if one.tag_ == "VBG" and (span := _activity(one)) is not None:
            yield SaidFact(subject, predicate, one.doc[span[0] : span[1]].text, *span)


_NO_ACTIVITY: Final = words("statements.no_activity", "en")


def _activity(doing: "Token") -> tuple[int, int] | None:
    """ "hiking", "playing the piano", as far as it says what is done at all."""
    thing = child(doing, "dobj")
    if doing.lemma_ in _NO_ACTIVITY and not (
        thing is not None and (is_told(thing) or name_of(thing) is not None)
    ):
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


def _pets(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    things = [
        one for part in head.children if part.lower_ == "with" for one in part.children if one.dep_ == "pobj"
    ]
    things = things if head.lemma_ == "live" else list(slot(head, ("dobj",)))
    if is_negated(head) or (head.lemma_ in {"get", "buy"} and head.tag_ not in {"VBD", "VBN"}):
        return
    for one in (part for thing in things for part in listed(thing)):
        kind = next((part for part in one.children if part.dep_ == "compound" and part.lower_ in PETS), None)
        if kind is not None and one.pos_ == "PROPN":  # "a dog Rex"
            yield SaidFact(subject, "has_pet", one.text, one.i, one.i + 1, True)
        if one.lemma_.lower() not in PETS or kin_of(one) is not None:
            continue
        if names := called(one):
            for name in names:
                yield SaidFact(subject, "has_pet", name.text, name.i, name.i + 1, True)
        elif (
            one.dep_ in {"dobj", "pobj", "conj"}
            and one.tag_ == "NN"
            and not is_the(one)
            and not any(part.lower_ == "no" for part in one.children)
            and (said := object_of(one, subject, "has_pet")) is not None
        ):
            yield said


def _sold(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "I sold the canoe to Petra": it is theirs no longer."""
    if is_negated(head) or head.tag_ not in {"VBD", "VBN"}:
        return
    for one in (part for thing in slot(head, ("dobj",)) for part in listed(thing)):
        if one.pos_ == "NOUN" and (said := object_of(one, subject, "owns")) is not None:
            yield replace(said, ended=True)


def _job(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "I started a new job at Globex", "she quit her job at Acme", "I resigned from Acme"."""
    job = child(head, "dobj")
    ends = head.lemma_.lower() in _LEAVES
    if (
        is_negated(head)
        or head.tag_ not in {"VBD", "VBN"}
        or (job is None) != (head.lemma_.lower() == "resign")
    ):
        return
    if job is not None and job.lemma_.lower() not in (_NOTICE if head.lemma_.lower() == "hand" else _JOBS):
        return
    for one in (
        part for token in (head, job) if token is not None for part in slot(token, ("at", "with", "from"))
    ):
        if is_fit(one, "place") and (said := object_of(one, subject, "works_at")) is not None:
            yield replace(said, ended=ends)
    for one in slot(job, ("as",)) if job is not None and not ends else ():
        if is_fit(one, "professions") and (said := object_of(one, subject, "works_as")) is not None:
            yield said


_LEAVES: Final = words("statements.leaves", "en")
_NOTICE: Final = frozenset({"notice", "resignation"})  # handed in, as nothing else is that ends a job
_JOBS: Final = words("statements.jobs", "en")


def _born(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "I was born on 3 May 1990": the day, as a date."""
    words_of = [one for token in slot(head, ("on",)) for one in token.subtree]
    if not words_of or is_negated(head):
        return
    text = head.doc.text[words_of[0].idx : words_of[-1].idx + len(words_of[-1])]
    for date in read_dates(text, _ANY_DAY)[:1]:
        if date.grain == "day" and str(date.start.year) in text:
            yield SaidFact(subject, "born_on", f"{date.start:%Y-%m-%d}", words_of[0].i, words_of[-1].i + 1)


_ANY_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)


def _is(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    if head.tag_ not in {"VBP", "VBZ"} or head != clause.head:
        return
    adjective, noun = child(head, "acomp"), child(head, "attr")
    negated = is_negated(head) and not any(
        one.lower_ in {"just", "only"} for one in head.subtree
    )  # "not just to peanuts"
    if adjective is not None and adjective.lower_ == "allergic":
        also = [
            one
            for again in head.children
            if again.dep_ == "conj" and again.lower_ == "to"
            for one in again.children
        ]
        things = [
            *slot(adjective, ("to",)),
            *(one for one in also if one.dep_ == "pobj"),
        ]  # "not to nuts, but to dust"
        for one in (part for token in things for part in listed(token)):
            if (
                said := object_of(one, subject, "allergic_to")
            ) is not None and one.lemma_.lower() not in NOTHING:
                but = any(
                    between.lower_ == "but" for between in head.doc[head.i : one.i]
                )  # "not to nuts, but to dust"
                yield replace(said, ended=negated and not but)
    yield from (replace(said, ended=negated) for said in _lasting(adjective or noun, subject))
    for origin in slot(head, ("from",)):
        if (
            not negated
            and origin.ent_type_ != "ORG"
            and is_fit(origin, "place")
            and not is_the(origin)
            and (said := object_of(origin, subject, "comes_from")) is not None
        ):
            yield said
    over = negated and any(one.lower_ in {"longer", "anymore", "more"} for one in head.subtree)
    if noun is None or negated != over:
        return
    if noun.lemma_.lower() == "member":
        for one in slot(noun, ("of",)):
            if (
                said := object_of(one, subject, "member_of")
            ) is not None and one.lemma_.lower() not in NOTHING:
                yield replace(said, ended=over)
    elif noun.lemma_.lower() in {"fan", "lover"}:
        for one in (part for token in slot(noun, ("of",)) for part in listed(token)):
            if not is_the(one) and (said := object_of(one, subject, "likes")) is not None:
                yield replace(said, ended=over)
    yield from (
        replace(said, ended=over) for said in (*_profession(noun, subject, clause), *_office(noun, subject))
    )


_LASTING: Final = words("statements.lasting", "en")


def _lasting(word: "Token | None", subject: str) -> Iterator[SaidFact]:
    """ "Her husband is vegetarian", "he is Scottish": what somebody stays."""
    if word is None or any(one.dep_ not in {"punct", "det"} for one in word.children):
        return
    if word.i > 0 and word.nbor(-1).pos_ in {"NOUN", "PROPN", "ADJ"}:
        return  # "colour blind" is something else, whatever the parse makes of it
    if word.lower_ in _LASTING or (
        word.dep_ == "acomp" and word.tag_ == "JJ" and word.text[:1].isupper() and not word.is_upper
    ):
        yield SaidFact(subject, "is", word.text, word.i, word.i + 1)


def _profession(noun: "Token", subject: str, clause: Clause) -> Iterator[SaidFact]:
    if noun.lemma_.lower() not in words("statements.professions", "en") or noun.pos_ not in {"NOUN", "PROPN"}:
        return
    if any(
        one.dep_ == "poss"
        or one.lower_ in {"the", "no", "such", "great", "good", "real", "former", "best", "bit"}
        for one in noun.children
    ):
        return
    begin, stop = phrase_span(noun)
    yield SaidFact(subject, "works_as", noun.doc[begin:stop].text, begin, stop)
    for place in slot(noun, ("at", "for")):
        if is_fit(place, "name") and (said := object_of(place, subject, "works_at")) is not None:
            yield said


def _office(noun: "Token", subject: str) -> Iterator[SaidFact]:
    """ "I'm design lead", "Ali is head of software": of one that has no article there is only one."""
    bare = noun.tag_ == "NN" and not any(one.dep_ in {"det", "poss", "nummod"} for one in noun.children)
    fits = is_fit(noun, "anything") or noun.lower_ == "head"
    of = any(
        one.tag_ in {"NN", "NNP"}
        and one.pos_ != "PRON"
        and child(one, "det", "poss") is None
        and one.lower_ != "nothing"
        for one in slot(noun, ("of",))
    )
    kind = any(one.dep_ == "compound" or one.tag_ == "VBG" for one in noun.children)
    if bare and fits and (of or kind) and noun.lemma_.lower() not in words("statements.professions", "en"):
        begin, stop = phrase_span(noun)
        yield SaidFact(subject, "role", noun.doc[begin:stop].text, begin, stop)


_KEEN: Final = {
    "passionate": ("about",),
    "crazy": ("about",),
    "obsessed": ("with",),
    "interested": ("in",),
    "fond": ("of",),
    "be": ("into",),
}


def _keen(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "I am passionate about pottery", "she is into climbing"."""
    word = child(head, "acomp") or head
    if head.tag_ == "VBD" or is_negated(head) or any(one.tag_ == "VBD" for one in auxiliaries(head)):
        return
    for one in (
        part
        for token in slot(word, _KEEN.get(word.lemma_.lower(), _KEEN.get(word.lower_, ())))
        for part in listed(token)
    ):
        if is_fit(one, "anything") and (said := object_of(one, subject, "likes")) is not None:
            yield said


_SPELLED: Final = {"color": "colour", "flavor": "flavour"}


def _titled(said: SaidFact, token: "Token") -> SaidFact:
    """With the small words that a title holds: "The Station at Dusk"."""
    begin, stop, doc = said.begin, said.stop, token.doc
    while stop + 1 < len(doc) and doc[stop].pos_ in {"ADP", "DET"} and doc[stop + 1].text[:1].isupper():
        stop += 2
    if begin and doc[begin - 1].text == "The":
        begin -= 1
    return replace(said, object=doc[begin:stop].text, begin=begin, stop=stop) if said.is_name else said


_MAIL: Final = frozenset({"email", "e-mail", "mail"})
_PHONE: Final = frozenset({"phone", "number", "mobile"})


def _contact(clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "My e-mail is lea@nord.example", "Mia's number is 555 010 2030"."""
    subject, doc = clause.subject, clause.head.doc
    whose = child(subject, "poss") if subject is not None else None
    if subject is None or whose is None or clause.head.lemma_ != "be" or is_negated(clause.head):
        return
    owner = scene.speaker if whose.lower_ in {"my", "our"} else name_of(whose, {*scene.known, whose.lower_})
    behind = [one for one in doc[clause.head.i + 1 :] if one in clause.words]
    mail = next((one for one in behind if one.like_email), None)
    digits = [one for one in behind if sum(map(str.isdigit, one.text)) > 1 or one.text in {"-", "+"}]
    said = {one.lower_ for one in (subject, *subject.children)}
    if owner and mail is not None and said & {*_MAIL, "address"}:
        yield SaidFact(owner, "email", mail.text, mail.i, mail.i + 1)
    elif (
        owner and digits and said & _PHONE and sum(map(str.isdigit, "".join(one.text for one in digits))) > 5
    ):
        begin, stop = digits[0].i, digits[-1].i + 1
        yield SaidFact(owner, "phone", doc[begin:stop].text, begin, stop)


def of_possession(clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """What a clause says of something that is somebody's: their favourites, how they are reached."""
    yield from favourites(clause, scene)
    yield from _contact(clause, scene)
    yield from _naming(clause, scene)
    yield from of_owner(clause, scene)


def _naming(clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "His name is Rufus", where a dog was spoken of; "the cat is called Miso"."""
    subject, head, name = clause.subject, clause.head, clause.child("attr", "oprd")
    if subject is None or name is None or name.pos_ != "PROPN" or is_negated(head):
        return
    pet = child(subject, "poss") if subject.lower_ == "name" and head.lemma_ == "be" else None
    if head.lemma_ in {"call", "name"} and clause.child("auxpass") is not None:
        pet = subject
    if pet is None:
        return
    if pet.pos_ == "PRON":
        person = scene.taken_up(pet.lower_)
        mine = person is not None and person.name.removeprefix(f"{scene.author}'s ") in PETS
    else:
        mine = pet.lower_ in PETS and any(one.lower_ in {"the", "my", "our"} for one in pet.children)
    if mine:
        yield SaidFact(scene.speaker, "has_pet", name.text, name.i, name.i + 1, True)


_BONDS: Final = {
    "engaged": ("engaged_to", False), "married": ("married_to", False), "divorced": ("married_to", True),
    "together": ("partner_of", False), "dating": ("partner_of", False), "break": ("partner_of", True),
    "split": ("partner_of", True),
}  # fmt: skip


def _bond(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "Ola and I got married", "I am engaged to Ola", "Ola and I are no longer together"; of two the speaker is the subject."""
    parts = head.lemma_ in {"break", "split"} and child(head, "prt") is not None
    word = head if parts else next((one for one in (head, *head.children) if one.lower_ in _BONDS), None)
    first, negated = clause.subject, is_negated(head)
    over = negated and any(one.lower_ in {"longer", "anymore", "more"} for one in head.children)
    if word is None or first is None or negated != over:
        return
    predicate, ended = _BONDS[head.lemma_ if parts else word.lower_]
    others = [one for one in (first, *first.children) if one == first or one.dep_ == "conj"]
    if subject != scene.speaker and any(one.lower_ in {"i", "we"} for one in others):
        return
    others += [one for part in (head, word) for one in slot(part, ("to", "with"))]
    before = first.doc[first.i - 2 : first.i]
    others += [before[0]] if len(before) == 2 and before[1].lower_ == "and" else []
    for one in dict.fromkeys(others):
        if one.pos_ == "PROPN" and name_of(one, {*scene.known, one.lower_}):
            begin, stop = name_span(one)
            said = one.doc[begin:stop].text
            if said != subject:
                yield SaidFact(subject, predicate, said, begin, stop, True, ended or over)


def favourites(clause: Clause, scene: Scene) -> Iterator[SaidFact]:
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
            and (not is_the(value) or value.pos_ == "PROPN")
            and value.lemma_.lower() not in NOTHING
            and (
                said := object_of(value, owner, f"favourite_{_SPELLED.get(kind.lemma_, kind.lemma_.lower())}")
            )
        ):
            yield _titled(said, value)


_Rule: TypeAlias = "Callable[[Token, str, Clause, Scene], Iterator[SaidFact]]"
RULES: Final[tuple[tuple[frozenset[str], _Rule], ...]] = (
    (frozenset({"have", "own", "get", "adopt", "buy", "live"}), _pets),
    (words("statements.takes", "en") | _LEAVES, _job),
    (frozenset({"sell"}), _sold),
    (frozenset({"bear"}), _born),
    (frozenset({"be", "stay", "become", "remain"}), _is),
    (frozenset({"be", "turn"}), age),
    (frozenset({"be", "interest", "obsess"}), _keen),
    (frozenset({"be", "get", "marry", "engage", "divorce", "break", "split", "date"}), _bond),
)
