"""Predicates of facts: which of them hold one object at a time, and how they are said.

An exclusive predicate conflicts with itself: who lives in Lisbon no longer lives in Porto. An additive one does not. A
predicate that is not listed is additive: a wrong conflict destroys a true fact, a missed one leaves two side by side.
"""

_EXCLUSIVE = {
    "lives_in": "lives in",
    "works_at": "works at",
    "works_as": "works as",
    "studies_at": "studies at",
    "born_in": "was born in",
    "born_on": "was born on",
    "married_to": "is married to",
    "engaged_to": "is engaged to",
    "partner_of": "is the partner of",
    "age": "is aged",
    "email": "has the e-mail address",
    "phone": "has the phone number",
}
_ADDITIVE = {
    "studies": "studies",
    "has_pet": "has the pet",
    "owns": "owns",
    "likes": "likes",
    "dislikes": "dislikes",
    "prefers": "prefers",
    "allergic_to": "is allergic to",
    "speaks": "speaks",
    "plays": "plays",
    "has_visited": "has visited",
    "works_on": "works on",
    "uses": "uses",
    "member_of": "is a member of",
    "grew_up_in": "grew up in",
    "volunteers_at": "volunteers at",
    "graduated_from": "graduated from",
    "comes_from": "comes from",
    "role": "has the role of",
    "has_condition": "has",
    "lives_with": "lives with",
    "works_with": "works with",
}
# Said of two people alike, whichever is named first.
SYMMETRIC = frozenset(
    {"married_to", "engaged_to", "partner_of", "friend_of", "colleague_of", "neighbour_of", "roommate_of",
     "cousin_of"}
)  # fmt: skip
# Two predicates that cannot both hold of one object.
OPPOSITES = {
    "likes": "dislikes", "dislikes": "likes",
    "eats": "does_not_eat", "does_not_eat": "eats", "drinks": "does_not_drink", "does_not_drink": "drinks",
}  # fmt: skip
# Amounts and names of which somebody has one at a time: "my rent is 640 euros".
_ONE_AT_A_TIME = frozenset(
    f"has_{one}" for one in ("rent", "salary", "wage", "weight", "height", "size", "shoe_size", "budget", "mortgage",
                             "address", "number", "password", "commute")
)  # fmt: skip


def is_exclusive(predicate: str) -> bool:
    """Whether a subject has one object of this predicate at a time. `favourite_...` and amounts (`has_rent`) always."""
    return predicate in _EXCLUSIVE or predicate in _ONE_AT_A_TIME or predicate.startswith("favourite_")


def in_words(predicate: str) -> str:
    """`lives_in` as "lives in", `sister_of` as "is the sister of", `favourite_food` as "has the favourite food"."""
    said = _EXCLUSIVE.get(predicate) or _ADDITIVE.get(predicate)
    if said is not None:
        return said
    if predicate.endswith("_of"):
        return f"is the {predicate.replace('_', ' ')}"
    if predicate.startswith("favourite_"):
        return f"has the {predicate.replace('_', ' ')}"
    if predicate.startswith("has_") and not predicate.startswith("has_to_"):
        return f"has the {predicate[4:].replace('_', ' ')}"
    return predicate.replace("_", " ")


KNOWN = frozenset(_EXCLUSIVE) | frozenset(_ADDITIVE)
