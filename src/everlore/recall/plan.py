"""Plan: what the question itself says about where its answer lies. Pure functions on text."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from everlore.text.dates import TimeRange, read_times

# English with capitals and without, but neither "US" nor the numeral ("World War I", "i.e."); then the commonest forms of
# Swedish, German, Spanish, Portuguese and French that are no English words.
_FIRST_PERSON = re.compile(
    r"(?<!War )(?<!Part )(?<!Act )\b[Ii]\b(?!\.)|\b(?:[Mm](?:e|y|yself)|mine|[Ww]e|us|[Oo]ur(?:s|selves)?)\b"
    r"|\b(?:[Jj]ag|[Mm](?:ig|itt|ina|ir|ich|ein(?:e[nmrs]?)?|is?|eu|inha|oi)|[Ii]ch|[Uu]ns|[Ww]ir|[Yy]o|[Ee]u|[Jj]e)\b"
)
# What the assistant did say: past forms only, for "can you suggest ..." asks for something that suits the person.
_TOLD = "said|told|suggested|recommended|advised|explained|mentioned|listed|proposed"
_OF_ASSISTANT = re.compile(
    rf"\b(?:did|had|were|was) you\b|\bhave you (?:ever )?(?:given|written|{_TOLD})\b|\byou (?:wrote|gave|{_TOLD})\b"
    r"|\byour (?:advice|answer|suggestions?|recommendations?|explanation)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:now|nowadays|currently|current|at the moment|these days|at present|still|today|latest)\b",
    re.IGNORECASE,
)
# What was once and is no longer. (With a date, as in "before 2020", it is the date that counts.)
_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|before|history|in the past|originally|at first|over the years|over time"
    r"|all the places|anterior(?:es|mente)?|antes|solía[ns]?|solias?|historial|en el pasado|al principio|alguna vez"
    r"|a lo largo de)\b"
    r"|\bdid(?:n['’]t)?\b[^.?!]*\buse to\b|\b(?:has|have|had|did|was|were)(?:n['’]t)?\b[^.?!]*\bever\b",
    re.IGNORECASE,
)
# States that last, in forms of the past. They are listed: "has Emma got a dog" and "how has Emma been" are about today.
_WHO = r"(?:n['’]t)?\s+(?:[\w'’.-]+\s+){1,4}?"
_STATES = re.compile(
    r"\b(?:has|have|had)(?:n['’]t)?\s+(?:[\w'’.-]+\s+){0,4}?"
    r"(?:lived|resided|stayed|worked|studied|taught|owned|rented|dated|driven|been\s+(?:married|engaged|employed))\b"
    rf"|\bdid{_WHO}(?:live|reside|work|study|teach|own|rent|date)\b"
    rf"|\b(?:was|were){_WHO}(?:living|residing|staying|working|studying|teaching|training|renting|dating|seeing|driving"
    r"|playing|learning|using|attending|running|married|engaged|employed)\b"
    r"|\b(?:he|has|ha|hemos|han) (?:vivido|residido|trabajado|estudiado)\b"
    r"|\b(?:viv[ií]a|resid[ií]a|trabajaba|estudiaba)[ns]?\b",
    re.IGNORECASE,
)
# About what was asked, not what was answered: English, and the commonest forms of German, Spanish, Portuguese, French, Swedish.
_ASKING = re.compile(
    r"\b(?:ask(?:ed|s|ing)?|questions?|wonder(?:ed|s|ing)?|(?:ge)?fragt?e?n?|pregunt\w+|pergunt\w+|demandé\w*|fråga\w*)\b",
    re.IGNORECASE,
)
# How long something has lasted: it still does.
_UNTIL_NOW = re.compile(
    r"\b(?:how long|since|lately|recently|cu[aá]nto tiempo|desde|[uú]ltimamente)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Plan:
    """`prefers` is whose messages the question is about: the person's own, the assistant's, or nobody's in particular.
    `about_past`: it asks for what was true once; `about_asking`: for what was asked."""

    question: str
    times: tuple[TimeRange, ...]
    prefers: Literal["user", "assistant"] | None
    about_present: bool
    about_past: bool = False
    about_asking: bool = False


def plan(question: str, now: datetime) -> Plan:
    prefers: Literal["user", "assistant"] | None = None
    if _OF_ASSISTANT.search(question):
        prefers = "assistant"
    elif _FIRST_PERSON.search(question):
        prefers = "user"
    times = read_times(question, now)
    present = bool(_PRESENT.search(question))
    return Plan(
        question=question,
        times=times,
        prefers=prefers,
        about_present=present,
        about_past=_about_past(question, present) and not times,
        about_asking=bool(_ASKING.search(question)),
    )


def _about_past(question: str, present: bool) -> bool:
    if _PAST.search(question):
        return True
    return bool(_STATES.search(question)) and not present and not _UNTIL_NOW.search(question)
