"""Who is who: whose sister somebody is, whose dog, and by which other names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from everlore.models.rules.clauses import Clause, child, is_negated, opens
from everlore.models.rules.kin import FORMER, PETS, ROLES, predicate_of
from everlore.models.rules.phrases import Said, called
from everlore.models.rules.scene import Scene, kin_of, name_of, owner_of

if TYPE_CHECKING:
    from spacy.tokens import Token


def relations(clause: Clause, scene: Scene) -> Iterator[tuple[Said, str]]:
    """Who is whose sister, with the description that is another name for them ("Anna's sister"); whose dog Max is."""
    yield from _had(clause, scene)
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


def _had(clause: Clause, scene: Scene) -> Iterator[tuple[Said, str]]:
    """ "I have two kids, Ola and Max", "he has a daughter called Iona"."""
    subject, thing = clause.subject, clause.child("dobj")
    role = ROLES.get(thing.lemma_.lower()) if thing is not None and clause.head.lemma_ == "have" else None
    if subject is None or thing is None or role is None or is_negated(clause.head):
        return
    owner = scene.speaker if subject.lower_ in {"i", "we"} else name_of(subject, scene.known)
    for name in called(thing) if owner else ():
        predicate, over = predicate_of(role)
        yield (
            Said(name.text, predicate, str(owner), name.i, name.i + 1, True, over),
            f"{owner}'s {thing.lemma_.lower()}",
        )


def _who(token: "Token", clause: Clause) -> "Token | None":
    """The name beside a role, or said to be it: "my sister Emma", "Emma is my sister", "my sister is called Emma"."""
    if token.dep_ == "appos" and token.head.pos_ == "PROPN":  # "Rosa, my wife, ..."
        return token.head
    beside = [
        one
        for one in token.children
        if one.dep_ in {"appos", "npadvmod", "nmod", "compound"} and one.pos_ == "PROPN"
    ]
    if not beside and token.dep_ == "attr":  # "Em is my sister Emma", read as two complements
        beside = [
            one
            for one in token.head.children
            if one.dep_ == "attr" and one.i == token.i + 1 and one.pos_ == "PROPN"
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
    theirs = (
        token.dep_ == "poss" and token.head == subject and token.head.lower_ == "name"
    )  # "my sister's name is Emma"
    if not beside and (token == subject or theirs) and not is_negated(head):
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
