"""Addresses and numbers in a text: e-mail, telephone, handles, web addresses, paths, versions."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

MarkKind: TypeAlias = Literal["url", "email", "handle", "phone", "path", "version", "number"]


@dataclass(frozen=True, slots=True)
class Numeral:
    """One such thing: what it is, as it is written, and its characters."""

    kind: MarkKind
    text: str
    begin: int
    stop: int


# The order is the order of trust: an address is looked for before the numbers in it.
_MARKS = re.compile(
    r"(?P<url>https?://[^\s<>\"'`]{1,300}|www\.[^\s<>\"'`]{1,200})"
    r"|(?P<email>(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24}(?![\w-]))"
    r"|(?P<handle>(?<![\w@./])@[A-Za-z0-9_](?:[\w.-]{0,38}\w)?)"
    r"|(?P<path>(?<![\w./~])(?:~|\.{1,2})/[\w.@-]{1,100}(?:/[\w.@-]{1,100}){0,20}/?"
    r"|(?<![\w./~])/[\w.@-]{1,100}(?:/[\w.@-]{1,100}){1,20}/?|(?<!\w)[A-Za-z]:\\[\w .\\-]{2,200})"
    r"|(?P<phone>(?<![\w.,/:-])\+?\(?\d{1,4}\)?(?:[ .-]\(?\d{1,4}\)?){2,6}(?![\w/]|[-,:]\d)"
    r"|(?<!\w)\+\d{1,3}(?:[ .-]\d{2,8}){1,5}(?![\w/])|(?<!\w)\+\d{7,15}(?!\w)"
    r"|(?<![\w.,/:-])\d{3}-\d{4}(?![\w-]))"
    r"|(?P<version>(?<![\w.])[vV]?\d{1,4}(?:\.\d{1,5}){2,3}(?:-[\w.]{1,20})?(?![\w.])"
    r"|(?<![\w.])[vV]\d{1,4}(?:\.\d{1,5})?(?!\w))"
    r"|(?P<number>(?<![\w.,])\d{1,15}(?:[.,:]\d{1,6}){0,3}(?!\w))"
)
_DIGIT_OR_AT = re.compile(r"[\d@/\\]|www\.")
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,5}){2,3}")
_ISO = re.compile(r"\d{4}-\d\d?-\d\d?$")


def marks(text: str) -> tuple[Numeral, ...]:
    """The addresses and numbers of `text` in order. A date written in digits counts as a number."""
    if not _DIGIT_OR_AT.search(text):
        return ()
    found: list[Numeral] = []
    for match in _MARKS.finditer(text):
        kind: MarkKind = match.lastgroup  # type: ignore[assignment]
        written = match[0].rstrip(".,;:!?)") if kind in {"url", "path"} else match[0]
        if kind == "phone" and (_ISO.match(written) or sum(one.isdigit() for one in written) < 7):
            kind = "version" if _VERSION.fullmatch(written) else "number"
        found.append(Numeral(kind, written, match.start(), match.start() + len(written)))
    return tuple(found)
