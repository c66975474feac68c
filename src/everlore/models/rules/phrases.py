"""Noun phrases: what a verb's argument names, with its words as they are said."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from everlore.models.rules.scene import name_of
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token


@dataclass(frozen=True, slots=True)
class SaidFact:
    """A fact as it is said. `begin` and `stop`: the indices of the object's words in what was parsed."""

    subject: str
    predicate: str
    object: str
    begin: int
    stop: int
    is_name: bool = False
    ended: bool = False


PLACES: Final = frozenset({"GPE", "LOC", "FAC"})
_NOT_NAMES_OF: Final = {
    "name": frozenset({"DATE", "TIME", "PERSON", "GPE"}),
    "place": frozenset({"DATE", "TIME"}),
}
NOTHING: Final = words("statements.vague", "en") | frozenset(
    [
        "look",
        "sound",
        "view",
        "outcome",
        "color",
        "colour",
        "texture",
        "game",
        "team",
        "picture",
        "show",
        "movie",
        "book",
    ]
)
# Nouns that say something only with the kind that is meant: "a jazz club", "coeliac disease".
_OF_SOME_KIND: Final = frozenset(
    {"group", "team", "society", "union", "club", "disease", "disorder", "syndrome", "allergy"}
)
_DAYS: Final = words("statements.capitalised", "en") | words("statements.periods", "en")
_TELLS_NOTHING: Final = frozenset[str]().union(
    *(words(f"statements.{one}", "en") for one in ("not_said", "not_telling", "evaluating", "vague"))
)
_POINTERS: Final = words("statements.pointers", "en") - {"another", "some"}


def slot(head: "Token", slots: tuple[str, ...]) -> "Iterator[Token]":
    for one in head.children:
        if one.dep_ == "dobj" and "dobj" in slots:
            yield one
        elif one.dep_ in {"prep", "agent", "dative"} and one.lower_ in slots:
            yield from (next(iter(called(inner)), inner) for inner in one.children if inner.dep_ == "pobj")
            for again in one.children:  # "to penicillin and to cashews"
                if again.dep_ == "conj" and again.lower_ in slots:
                    yield from (inner for inner in again.children if inner.dep_ == "pobj")
            for inner in one.children:  # "in a flat in Malmö"
                if inner.dep_ == "pobj" and one.lower_ in {"in", "at"} and name_of(inner) is None:
                    yield from slot(inner, ("in",))
        elif one.dep_ == "advmod" and one.lower_ == "back":  # "moved back to Leeds"
            yield from slot(one, slots)
        elif one.dep_ == "prep" and one.lower_ == "as":  # "works as a nurse at Saint Mary"
            for job in one.children:
                yield from slot(job, slots)


def is_fit(token: "Token", of: str) -> bool:
    low, named = token.lemma_.lower(), name_of(token) is not None
    # "I joined a club last Tues", "he cooks fridays"
    if {token.lower_, token.lower_.removesuffix("s")} & _DAYS:
        return False
    noun = token.pos_ in {"NOUN", "PROPN"} or "tongues" in of
    if not noun or (low in words("statements.vague", "en") and not named):
        return False
    match of:
        case "name" | "place":
            return named and token.ent_type_ not in _NOT_NAMES_OF[of]
        case "person":
            return named and token.ent_type_ in {"PERSON", "GPE", ""}  # many a name is a town's as well
        case "city":
            return named and token.ent_type_ in PLACES
        case "organisation":
            return named and token.ent_type_ == "ORG"
        case "named or long":
            told = (one for one in token.children if one.dep_ in {"compound", "amod"})
            return named or any(one.lower_ not in _NOT_SAID for one in told)
        case "anything":
            return (
                token.ent_type_ not in {"DATE", "TIME", "PERSON"}
                and (token.lower_ not in NOTHING or is_told(token))
                and (not is_the(token) or named)
            )
        case _:
            if low in _OF_SOME_KIND and not any(part.dep_ in _LEFT for part in token.lefts):
                return False
            classes = {word for one in of.split(" or ") for word in words(f"statements.{one}", "en")}
            listed = token.dep_ == "conj" and token.pos_ == "PROPN" and token.head.lower_ in classes
            return low in classes or token.lower_ in classes or listed


def is_told(token: "Token", labels: frozenset[str] = frozenset({"compound", "amod"})) -> bool:
    """Whether a word of these labels tells it from others of its kind, and does not only praise it: "spy films"."""
    lefts = (one for one in token.lefts if one.dep_ in labels and one.pos_ not in {"NUM", "PRON"})
    return any(one.lower_ not in _TELLS_NOTHING for one in lefts)


def is_the(token: "Token") -> bool:
    """Whether it, or the list that it stands in, is told from others: "the grey roof and blue door"."""
    told = any(one.dep_ == "poss" or one.lower_ == "the" for one in token.children)
    return told or (token.dep_ == "conj" and token.head.pos_ in {"NOUN", "PROPN"} and is_the(token.head))


def object_of(token: "Token", subject: str, predicate: str) -> SaidFact | None:
    if any(one.lower_ in _POINTERS for one in token.children):
        return None
    if (title := _title(token)) is not None:
        return SaidFact(subject, predicate, token.doc[title[0] : title[1]].text, *title, True)
    if name_of(token) is not None:
        begin, stop = name_span(token)
        return SaidFact(subject, predicate, token.doc[begin:stop].text, begin, stop, True)
    if names := called(token):
        return SaidFact(
            subject, predicate, names[0].doc[slice(*name_span(names[0]))].text, *name_span(names[0]), True
        )
    begin, stop = phrase_span(token)
    text = token.doc[begin:stop].text
    return (
        SaidFact(subject, predicate, text, begin, stop) if len(text) > 2 and len(text.split()) < 9 else None
    )


def called(token: "Token") -> "list[Token]":
    """The names of "a cat called Max", "two cats, Miso and Tofu"."""
    first = next(
        (
            one
            for one in token.subtree
            if one.dep_ in {"oprd", "dobj", "attr"}
            and one.pos_ == "PROPN"
            and one.head.lower_ in {"called", "named"}
        ),
        None,
    ) or next(
        (
            one
            for one in token.children
            if one.dep_ == "appos"
            and one.pos_ == "PROPN"
            and token.pos_ == "NOUN"
            and one.ent_type_ not in {"DATE", "TIME"}
        ),
        None,
    )
    names = [] if first is None else [one for one in listed(first) if one.text[:1].isupper()]
    return [one for one in names if not {one.lower_, one.lower_.removesuffix("s")} & _DAYS]


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


def name_span(token: "Token") -> tuple[int, int]:
    """A name with what belongs to it: "Lord of the Rings", "Amy Ellis Nutt"."""
    begin, stop = token.i, token.i + 1
    whose = next((one for one in token.lefts if one.dep_ == "poss" and one.pos_ == "PROPN"), None)
    if whose is not None:  # "Harald's Bakery"
        return whose.left_edge.i, stop
    while (
        begin > 0
        and token.doc[begin - 1].dep_ in {"compound", "nmod"}
        and token.doc[begin - 1].text[:1].isupper()
    ):
        begin -= 1
    while (
        stop + 1 < len(token.doc) and token.doc[stop].text == "&" and token.doc[stop + 1].text[:1].isupper()
    ):
        stop += 2
    linked = next(
        (one for one in token.rights if one.dep_ == "prep" and one.lower_ == "of" and one.i == stop), None
    )
    if linked is not None and linked.right_edge.text[:1].isupper() and linked.right_edge.i - token.i < 5:
        stop = linked.right_edge.i + 1
    return begin, stop


_LEFT: Final = frozenset({"amod", "compound", "nummod", "nmod", "quantmod", "punct", "advmod"})
_NOT_SAID: Final = words("statements.not_said", "en")


def phrase_span(token: "Token") -> tuple[int, int]:
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
        to_a_name = one.lower_ == "to" and any(name_of(part) is not None for part in one.children)
        plain = (
            one.dep_ == "prep"
            and (one.lower_ in {"of", "for", "about", "with"} or to_a_name)
            and one.i == stop
        )
        if not plain or any(
            part.pos_ in {"PRON", "VERB"} or part.ent_type_ in {"DATE", "TIME"} or part.tag_ == "PRP$"
            for part in inner
        ):
            break
        stop = one.right_edge.i + 1
    while token.doc[begin].is_punct and begin < token.i:
        begin += 1
    return begin, stop


def listed(token: "Token") -> "Iterator[Token]":
    """A noun and those that are listed with it."""
    yield token
    for one in token.children:
        noun = one.pos_ in {"NOUN", "PROPN"} or one.ent_type_ in {"LANGUAGE", "NORP"}
        if one.dep_ == "conj" and noun and one.nbor(-1).text != "&":
            yield from listed(one)
