"""Facts whose predicate is the verb or the noun that was said: what somebody does by habit, and what theirs is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import Clause, auxiliaries, child, is_negated
from everlore.models.rules.kin import PETS, ROLES
from everlore.models.rules.phrases import SaidFact, is_fit, is_told, listed, object_of, phrase_span
from everlore.models.rules.scene import Scene, kin_of, name_of, owner_of
from everlore.models.rules.wording import inflected
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

_EMPTY: Final = words("statements.vague", "en")
_VAGUE: Final = _EMPTY | words("statements.referring", "en")
# Verbs that tell of no habit, or of one that has a predicate of its own.
_NO_HABIT: Final = frozenset[str]().union(
    *(words(f"statements.{one}", "en") for one in
      ("passing", "light", "reporting", "liking", "wanting", "deciding", "no_activity", "happening", "copulas"))
)  # fmt: skip
_NO_DEED: Final = (
    frozenset[str]().union(
        *(words(f"statements.{one}", "en") for one in ("passing", "reporting", "liking", "copulas"))
    )
    | {"find", "decide"}
) - {"get"}
# With these a belonging need not be told from others: there is but one.
_GETS_OR_LOSES: Final = words("statements.gets_or_loses", "en")
# What is begun or wanted is told by the verb behind them.
_LEADS: Final = frozenset({"want", "start", "begin"})
_APPOINTMENTS: Final = words("statements.appointments", "en")
_PERIODS: Final = words("statements.periods", "en")
_BELONGINGS: Final = words("statements.belongings", "en")
_TAKES_PLACE: Final = frozenset(
    {"be", "start", "begin", "open", "happen", "take", "move", "close", "end", "go", "come"}
)
_LIGHT, _OF_TIME = (
    words("statements.light", "en") - {"bring"},
    words("statements.before_a_date", "en") - {"at", "from", "for", "on", "in"},
)
_AGE: Final = frozenset({"old", "year", "years"})
_EVER: Final = frozenset({"anymore", "more", "longer", "any", "either", "all", "at", "now", "ever", "too"})
_AMOUNTS: Final = frozenset({"much", "many", "enough", "lot", "lots", "too", "so", "more"})


def habit(head: "Token", subject: str, frames: "frozenset[str]") -> Iterator[SaidFact]:
    """ "I design lighting", "she wears glasses", "I don't eat meat": a present tense with a thing that is told."""
    lemma, helpers = head.lemma_.lower(), [one.lemma_ for one in auxiliaries(head)]
    denied = (
        lemma in {"eat", "drink"} and is_negated(head) and helpers in ([], ["do"]) and not _is_limited(head)
    )
    plain = (
        head.tag_ in {"VBP", "VBZ"}
        and not helpers
        and not is_negated(head)
        and lemma not in _NO_HABIT | frames
    )
    if not (denied or plain) or child(head, "prt", "ccomp", "dative", "xcomp") is not None:
        return
    over = denied and any(one.lower_ in {"longer", "anymore", "more"} for one in head.subtree)
    predicate = f"does_not_{lemma}" if denied and not over else inflected(lemma)
    for one in (part for thing in head.children if thing.dep_ == "dobj" for part in listed(thing)):
        others = any(
            (part.dep_ == "poss" or part.tag_ == "PRP$") and part.lower_ not in {"my", "our"}
            for part in one.subtree
        )
        fits = is_fit(one, "anything") and one.lemma_.lower() not in _VAGUE and child(one, "relcl") is None
        if fits and not others and (said := object_of(one, subject, predicate)) is not None:
            yield replace(said, ended=over)


def _is_limited(head: "Token") -> bool:
    """ "I don't eat meat on Fridays", "on Fridays I don't eat meat", "I don't drink much wine": not never."""
    allowed = {"dobj", "punct", "neg"}
    if any(one.dep_ in {"prep", "advcl", "npadvmod"} for one in head.lefts):
        return True
    if any(one.dep_ not in allowed and one.lower_ not in _EVER for one in head.rights):
        return True
    things = [one for one in head.rights if one.dep_ == "dobj"]
    return any(one.lower_ in _AMOUNTS for thing in things for one in thing.subtree)


def deed(head: "Token", subject: str) -> Iterator[SaidFact]:
    """ "He engraved a tiny fish", "she went to an open-air concert", "Inês wants to visit the Azores": what was done once or is
    wanted, with a thing that is told from others."""
    verb, predicate = head, _as_predicate(head)
    doing = child(head, "xcomp")
    if predicate is not None and doing is not None:
        led = doing.tag_ in {"VB", "VBG"} and head.lemma_.lower() in _LEADS
        verb, predicate = doing, f"{predicate}_{'to_' * (doing.tag_ == 'VB')}{doing.lower_}" if led else None
    if predicate is None or verb.lemma_.lower() in _NO_DEED or is_negated(head) or is_negated(verb):
        return
    if verb.lemma_.lower() == "have":
        return
    if any(one.dep_ in {"ccomp", "dative", "xcomp"} for one in verb.rights):
        return
    for part in verb.children:
        if part.i == verb.i + 1 and (part.dep_ == "prt" or part.lower_ in {"together", "back"}):
            predicate = f"{predicate}_{part.lower_}"
    things = [one for one in verb.children if one.dep_ == "dobj"]
    if not things:
        beside = next((one for one in verb.rights if one.dep_ != "prt"), None)
        if (
            beside is None
            or beside.dep_ != "prep"
            or beside.i > verb.i + 2
            or beside.lower_ in _OF_TIME | {"from"}
        ):
            return
        predicate, things = (
            f"{predicate}_{beside.lower_}",
            [one for one in beside.children if one.dep_ == "pobj"],
        )
    for one in (part for thing in things for part in listed(thing)):
        if _is_told(one, verb) and (said := object_of(one, subject, predicate)) is not None:
            yield said


def _as_predicate(head: "Token") -> str | None:
    """A verb as what is said of somebody: "engraved", "wants"; None for forms that state nothing done. What goes on or is planned
    is none: no fact says when that is over, and memories of it expire."""
    helpers = auxiliaries(head)
    if any(one.dep_ == "auxpass" for one in helpers):
        return None
    match head.tag_:
        case "VBD" if not helpers:
            return head.lower_
        case "VBN" if helpers and helpers[0].lemma_ == "have" and not head.lower_.endswith("n"):
            return head.lower_
        case "VBP" | "VBZ" if not helpers and head.lemma_ == "want":
            return "wants"
        case _:
            return None


def _is_told(thing: "Token", verb: "Token") -> bool:
    """Whether a thing is told from others of its kind: by its name, or by a word that says what it is like; where the verb tells
    nothing ("had", "made"), by a word that says of which kind it is ("a sewing class", and not "a calm supper")."""
    if {thing.lower_, thing.lemma_.lower()} & (_EMPTY | _PERIODS) or kin_of(thing) is not None:
        return False
    if thing.pos_ not in {"NOUN", "PROPN"} or thing.ent_type_ in {"DATE", "TIME"}:
        return False
    if (thing.ent_type_ == "PERSON" and thing.dep_ == "dobj") or any(
        one.dep_ == "poss" and one.tag_ != "PRP$" for one in thing.children
    ):
        return False
    light = verb.lemma_.lower() in _LIGHT
    if name_of(thing) is not None:
        return thing.dep_ != "pobj" or thing.head.lower_ != "in"  # "shouted in Leeds": where, and not what
    if thing.tag_ == "NN" and thing.lower_ in _BELONGINGS and verb.lemma_.lower() in _GETS_OR_LOSES:
        return True
    if is_told(thing, frozenset({"compound"}) if light else frozenset({"compound", "amod"})):
        return True
    beside = next((one for one in thing.rights if one.dep_ == "prep"), None)
    if beside is not None and beside.lower_ in {"with", "to"}:
        return any(name_of(one) is not None for one in beside.children)
    return beside is not None and beside.lower_ in {"for", "about"} and not light


def of_owner(clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "My laptop is a ThinkPad", "my birthday is on 12 May", "Anna's car is called Torsten", "my sister's name is Emma"."""
    subject, head = clause.subject, clause.head
    whose = child(subject, "poss") if subject is not None else None
    if (
        subject is None
        or (whose is None and not is_appointment(clause))
        or next(iter(auxiliaries(head)), head).tag_ not in {"VBZ", "VBP"}
        or is_negated(head)
        or head.lemma_ not in {"be", "call"}
    ):
        return
    if (
        whose is not None
        and subject.lower_ == "name"
        and kin_of(whose) is None
        and whose.lower_ not in {"my", "our"}
    ):
        return
    owner = scene.speaker if whose is None or whose.lower_ in {"my", "our"} else _named(whose, scene)
    value = clause.child("attr", "oprd")
    if owner is None or kin_of(subject) is not None or subject.pos_ != "NOUN" or subject.tag_ == "NNS":
        return
    noun = "_".join(
        [*(one.lower_ for one in subject.lefts if one.dep_ == "compound"), subject.lemma_.lower()]
    )
    if subject.lemma_.lower() in {"birthday", "bday"}:
        yield from _dated(clause, owner, "born_on")
    elif subject.lemma_.lower() in _VAGUE | PETS | ROLES.keys() | {"name", "number", "phone", "mobile"}:
        return
    elif head.lemma_ == "be" and (
        whose is None or (value is None and clause.child("prep", "npadvmod") is not None)
    ):
        yield from _dated(clause, owner, f"has_{noun}_on")
    elif value is not None and (
        value.pos_ in {"PROPN", "NUM"} or any(one.dep_ == "nummod" for one in value.children)
    ):
        begin, stop = phrase_span(value)
        if not any(one.lower_ in {"favorite", "favourite", "fave", "best"} for one in subject.children):
            yield SaidFact(
                owner, f"has_{noun}", value.doc[begin:stop].text, begin, stop, value.pos_ == "PROPN"
            )


def is_appointment(clause: Clause) -> bool:
    """ "Visa appointment is the 8th of June": in a chat what has a day, and no article, is the speaker's own."""
    subject = clause.subject
    return (
        has_a_day(clause)
        and subject is not None
        and clause.head.lemma_ == "be"
        and subject.lemma_.lower() in _APPOINTMENTS
        and all(one.dep_ == "compound" for one in subject.children)
    )


def has_a_day(clause: Clause) -> bool:
    """Whether it says when something is, by a date that is written out: "the resit will take place on 24 April"."""
    subject = clause.subject
    if subject is None or clause.head.lemma_.lower() not in _TAKES_PLACE or clause.child("acomp") is not None:
        return False
    if subject.tag_ != "NN" or kin_of(subject) is not None or subject.lemma_.lower() in _EMPTY | _PERIODS:
        return False
    behind = [one for one in clause.words if one.i > clause.head.i]
    return any(one.ent_type_ == "DATE" and any(map(str.isdigit, one.text)) for one in behind)


def _named(whose: "Token", scene: Scene) -> str | None:
    if kin_of(whose) is not None:
        owner = owner_of(whose, scene)
        return f"{scene.speaker if owner == 'The user' else owner}'s {whose.lower_}" if owner else None
    return name_of(whose, scene.known)


def _dated(clause: Clause, owner: str, predicate: str) -> Iterator[SaidFact]:
    """The day as it is said, whatever the year: "my exam is on 3 May"."""
    dates = [one for one in clause.words if one.ent_type_ == "DATE" and one.i > clause.head.i]
    if any(one.like_num or any(map(str.isdigit, one.text)) for one in dates):
        begin, stop = dates[0].i, dates[-1].i + 1
        if dates[0].lower_ == "the" and stop - begin > 1:
            begin += 1
        yield SaidFact(owner, predicate, dates[0].doc[begin:stop].text, begin, stop)


def is_dated(fact: SaidFact) -> bool:
    """Whether a fact says on which day something is, in the words that were said."""
    dated = fact.predicate.endswith("_on") and any(map(str.isdigit, fact.object))
    return dated or fact.predicate == "born_on"


def age(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[SaidFact]:
    """ "I turned 34", "she is 64", "Max is four years old"."""
    ahead = any(
        one.ent_type_ in {"DATE", "TIME"} and one.dep_ != "attr" and one.lower_ not in _AGE
        for one in head.subtree
        if not one.like_num
    )
    several = clause.subject is not None and clause.subject.lower_ == "we"
    held = any(one.dep_ in {"prep", "mark"} and one.i < head.i for one in head.children)  # "till I am 85"
    if (
        is_negated(head)
        or several
        or held
        or (head.lemma_ == "be" and (ahead or head.tag_ not in {"VBP", "VBZ"}))
    ):
        return
    value = child(head, "attr", "acomp", "dobj", "oprd", "npadvmod")
    if value is None:
        return
    number = value if value.like_num else next((one for one in value.subtree if one.like_num), None)
    said = value.like_num or {value.lower_, *(one.lower_ for one in value.children)} & _AGE
    alone = value.like_num and all(
        one.dep_ in {"cc", "conj", "punct", "prep", "advmod"} for one in value.children
    )
    if (
        number is None
        or number.lower_ == "one"  # "she is one of them"
        or not said
        or (value.like_num and not alone)
        or (value.lower_ != "old" and not value.like_num)
    ):
        return
    plain = number.text.isdigit() and 0 < int(number.text) < 120
    if not plain and not (number.is_alpha and said):
        return
    stop = value.i + 1 if value.lower_ == "old" else number.i + 1
    yield SaidFact(subject, "age", number.doc[number.i : stop].text, number.i, stop)
