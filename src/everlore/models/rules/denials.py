"""Denials of everything: "I'm not allergic to anything", "we have no pets at all". All of a predicate ends."""

import re
from typing import Final

from everlore.models.rules.clauses import Claim, Scene
from everlore.models.rules.reading import RuleStatement

# How a sentence begins that says something itself, or puts it right; whoever is quoted or spoken to stands before that.
_OPENS: Final = (
    r"^(?:(?:oh|well|no|nope|ok|okay|and|but|so|wait|hm+|actually|correction|sorry|oops|my mistake|my bad|scratch that"
    r"|in fact|really|to be (?:clear|honest|fair)|(?:it )?turns out(?: that)?|(?:that|this|it) was (?:wrong|a mistake)"
    r"|i (?:was|got (?:it|that)) wrong|i misspoke|as it turns out|these days|now|anymore)[\s,:;.!–—-]+)*"
)
_NOT: Final = r"(?:not|never|no longer)"
_DO_NOT: Final = r"(?:do not|don't|dont|does not|doesn't|no longer)"
# What may follow without taking any of it back.
_CLOSES: Final = (
    r"(?=(?: (?:at all|after all|any ?more|any longer|whatsoever|actually|really|in fact|as it turns out|though|sorry|now))*"
    r"\s*(?:$|[.!;:)…]|, (?!but|except|apart|besides|only|just|other|save)))"
)
_ANY: Final = r"(?P<what>anything|any (?:{0})|nothing|no (?:{0}))"
# What is denied, by predicate: the words before, and what there is none of.
_DENIED: Final[tuple[tuple[str, str, str], ...]] = (
    ("allergic_to", rf"(?:'m|'s|’m|’s| am| is) (?:{_NOT} )?allergic to ", "foods?|substances?|things?"),
    ("allergic_to", rf"(?:(?:'ve|’ve)? {_DO_NOT} have| have| has|(?:'ve|’ve) got) ", "allerg(?:y|ies)"),
    ("speaks", rf"(?: {_DO_NOT})? speaks? ", "(?:foreign |other )?languages?"),
    ("plays", rf"(?: {_DO_NOT})? plays? ", "(?:musical )?instruments?"),
    ("has_pet", rf"(?:(?:'ve|’ve)? {_DO_NOT} have| have| has|(?:'ve|’ve) got) ", "pets?|animals?"),
    ("member_of", rf"(?:'m|'s|’m|’s| am| is) (?:{_NOT} )?a member of ", "clubs?|part(?:y|ies)|choirs?|teams?|groups?"),
    ("likes", rf" {_DO_NOT} (?:like|love|enjoy) ", "of it"),
    ("dislikes", rf" {_DO_NOT} (?:dislike|hate|mind) ", "of it"),
)  # fmt: skip
_PATTERNS: Final = tuple(
    (predicate, re.compile(f"{_OPENS}(?P<who>i|we|[a-zà-ÿ'-]+){before}{_ANY.format(things)}{_CLOSES}"))
    for predicate, before, things in _DENIED
)
_NEGATED: Final = re.compile(rf"\b(?:{_NOT}|{_DO_NOT})\b")


def find_denials(statement: RuleStatement, scene: Scene) -> list[Claim]:
    """What a statement denies altogether, as claims that end; their object is the word for everything."""
    if statement.language != "en" or statement.text.rstrip().endswith("?"):
        return []
    found = ((predicate, pattern.search(statement.low)) for predicate, pattern in _PATTERNS)
    return [
        Claim(who, predicate, statement.text[slice(*match.span("what"))], *match.span("what"), ended=True)
        for predicate, match in found
        if match is not None and _denies(match) and (who := _who(match, scene)) is not None
    ]


def _denies(match: re.Match[str]) -> bool:
    """Exactly one of the two says no: not "allergic to anything", nor "not allergic to nothing"."""
    before = match.string[match.start("who") : match.start("what")]
    return match["what"].startswith("no") != (_NEGATED.search(before) is not None)


def _who(match: re.Match[str], scene: Scene) -> str | None:
    if match["who"] in ("i", "we"):
        return scene.speaker
    return next((name.text for name in scene.names if name.begin == match.start("who")), None)
