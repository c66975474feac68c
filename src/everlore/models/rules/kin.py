"""What one person is to another: the words for it, and the predicates that they stand for."""

import re
from collections.abc import Iterable
from typing import Final

from everlore.text.lexicon import words

_WRITTEN: Final = """
mother: mom mum mam mama mamma mommy mummy
father: dad papa pops daddy
sister: sis stepsis half-sister
brother: bro half-brother
son: child kid
daughter:
wife: missus
husband: hubby
girlfriend: gf
boyfriend: bf
fiancé: fiance
fiancée: fiancee
partner:
ex:
ex-wife:
ex-husband:
ex-girlfriend:
ex-boyfriend:
cousin:
aunt: auntie
uncle:
niece:
nephew:
grandmother: grandma granny nana gran mormor farmor nonna oma abuela
grandfather: grandpa granddad grandad gramps morfar farfar nonno opa abuelo
granddaughter:
grandson:
mother-in-law:
father-in-law:
sister-in-law:
brother-in-law:
son-in-law:
daughter-in-law:
stepmother: stepmom stepmum
stepfather: stepdad
stepson:
stepdaughter:
godmother:
godfather:
goddaughter:
godson:
friend: buddy pal mate bestie
colleague: coworker co-worker workmate teammate
boss:
manager:
supervisor: advisor adviser
mentor:
co-founder: cofounder
roommate: flatmate housemate
neighbour: neighbor
landlord: landlady
teacher:
doctor: gp
dentist:
physio: physiotherapist
surgeon:
therapist: psychologist
lawyer:
accountant:
coach: trainer
tutor:
vet:
assistant:
client:
babysitter: nanny
hairdresser:
twin:
"""
ROLES: Final = {
    word: stem.replace("-", "_")
    for line in _WRITTEN.strip().splitlines()
    for stem, _, others in (line.partition(":"),)
    for word in (stem, *others.split())
} | {"kid": "child", "child": "child"}
# What somebody does for others: "my carpenter" is the speaker's, as "my sister" is.
PROFESSIONS: Final = words("statements.professions", "en")
_FEMALE: Final = words("statements.female", "en")
_MALE: Final = words("statements.male", "en")
# Who is called by the word alone: "Mum", "Grandma".
FAMILY: Final = words("statements.family", "en")
# A pair bond says who the two are to each other.
_PAIRS: Final = {
    "wife": "married_to", "husband": "married_to", "fiancé": "engaged_to", "fiancée": "engaged_to",
    "partner": "partner_of", "girlfriend": "partner_of", "boyfriend": "partner_of",
}  # fmt: skip
_OVER: Final = {"ex": "partner_of", "ex_wife": "married_to", "ex_husband": "married_to", "ex_girlfriend": "partner_of",
                "ex_boyfriend": "partner_of"}  # fmt: skip
FORMER: Final = frozenset({"former", "late", "ex", "previous", "old"})
PETS: Final = words("statements.pets", "en")


def gender(role: str) -> str | None:
    """ "she", "he", or None where the word does not tell."""
    return "she" if role in _FEMALE else "he" if role in _MALE else None


def predicate_of(role: str) -> tuple[str, bool]:
    """The predicate of a role, and whether it is over."""
    if role in _OVER:
        return _OVER[role], True
    return _PAIRS.get(role, f"{role}_of"), False


# Who is one of these to somebody may be another of the same line as well, or become it.
_LIKEWISE: Final = (
    frozenset({"friend", "colleague", "roommate", "neighbour"}),
    frozenset({"boss", "manager", "supervisor", "mentor"}),
    frozenset({"girlfriend", "boyfriend", "partner", "fiancé", "fiancée", "wife", "husband", *_OVER}),
)


def is_another(name: str, aliases: Iterable[str], known: Iterable[str]) -> bool:
    """Whether a name is told apart from everybody whom the known statements call so: "Petra's friend Jan" is not her boss."""
    told = set(aliases)
    said = re.compile(
        rf"(\w[\w-]*'s [a-z-]+) {re.escape(name)}\b|\b({re.escape(name)} (?:from|at|in|the) (?:the )?[a-z][\w-]*)"
    )
    before = {found[1] or found[2] for content in known for found in said.finditer(content)}
    return bool(told and before) and not any(_may_be_one(one, other) for one in told for other in before)


def _may_be_one(one: str, other: str) -> bool:
    if one == other:
        return True
    roles = [ROLES.get(said.partition("'s ")[2]) for said in (one, other)]
    return None not in roles and (roles[0] == roles[1] or any(set(roles) <= line for line in _LIKEWISE))
