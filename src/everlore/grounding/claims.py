"""Claims: the names, numbers, dates, addresses, paths and versions of a statement, each looked for in what it rests on.

Nothing of this understands a sentence. It compares: a date with the dates that the messages name, relative ones resolved
against the moment at which they were said; a number with their numbers, in digits or in words; a name with their words, with
the names of those who speak, and with the other names of the same entity.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from everlore.ports.analyst import WindowMessage
from everlore.text.dates import SaidDate, read_dates
from everlore.text.languages import language_of
from everlore.text.lexicon import numbered
from everlore.text.lexicon import words as lexicon
from everlore.text.names import NO_NAMES, STARTERS
from everlore.text.numbers import marks
from everlore.text.numerals import read_number, read_ordinal
from everlore.text.words import alike, fold, root, roots, telling, words

Names = Callable[[str], frozenset[str]]


@dataclass(frozen=True)
class Evidence:
    """All that a statement may rest on. `names`: words of the speakers' names, which count as said. `context`: words of the
    messages just before, for what an answer or a pronoun takes up."""

    messages: tuple[WindowMessage, ...]
    said: str
    words: frozenset[str]
    roots: frozenset[str]
    names: frozenset[str]
    context: frozenset[str]
    numbers: frozenset[float]
    dates: tuple[SaidDate, ...]
    variants: Names = field(repr=False)

    def holds(self, word: str) -> bool:
        """Whether a (folded) word was said, or is part of a speaker's name."""
        return word in self.words or word in self.names


def evidence(
    messages: Sequence[WindowMessage],
    variants: Names,
    *,
    names: Iterable[str] = (),
    context: Iterable[str] = (),
) -> Evidence:
    """`names`: speakers who count as named beside the authors. `context`: texts of the messages just before."""
    texts = [text for message in messages for text in (message.text, *message.captions)]
    said = "\n".join(texts)
    speakers = [message.speaker for message in messages]
    return Evidence(
        messages=tuple(messages),
        said=said,
        words=frozenset(words(said)),
        roots=roots(said),
        names=frozenset(word for name in (*speakers, *names) for word in words(name)),
        context=frozenset(word for text in context for word in words(text)),
        numbers=frozenset(_numbers_said(said)),
        dates=tuple(date for message in messages for date in dates_of(message)),
        variants=variants,
    )


def unfounded(text: str, source: Evidence) -> str | None:
    """What of `text` was never said, in words; None when everything that can be checked was."""
    rest, at = text, [message.at for message in source.messages]
    for mark in marks(text):
        kind = "version" if _DOTTED.fullmatch(mark.text) and mark.kind != "phone" else mark.kind
        if kind == "number" or (kind == "version" and _is_date(mark.text, at)):
            continue
        if not _is_said(kind, mark.text, source.said):
            return f"the {_CALLED[kind]} {mark.text} was not said"
        rest = _without(rest, mark.begin, mark.stop)
    for date in _dates_in(rest, at):
        written = rest[date[0].begin : date[0].stop]
        if not written.strip() or _is_year_like_number(written, source):
            continue
        if fold(written) not in fold(source.said) and not _date_is_said(date, written, text, source):
            return f'the date "{written}" cannot be derived from what was said'
        rest = _without(rest, date[0].begin, date[0].stop)
    for written, value in _numbers_in(rest):
        if value not in source.numbers:
            return f'the number "{written}" was not said'
    for name in names_in(rest, source):
        if not name_is_said(name, source):
            return f'the name "{name}" was not said'
    return None


def covered(text: str, source: Evidence, *, context: bool = True) -> float:
    """The share of the telling words of `text` that were said; 1 if it has none. `context`: there or just before."""
    wanted = {one for one in telling(text) if one not in {root(name) for name in source.names}}
    if not wanted:
        return 1.0
    said = source.roots | frozenset(map(root, source.context)) if context else source.roots
    return sum(alike(one, said) for one in wanted) / len(wanted)


# --- dates -------------------------------------------------------------------------------------------------

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_AS_OF = re.compile(
    r"(?:as of|said on|told on|mentioned on|in a conversation on|stand|a fecha de)\s{0,2}$", re.IGNORECASE
)
_WEEK_OF = timedelta(days=7)


@lru_cache(maxsize=256)
def dates_of(message: WindowMessage) -> tuple[SaidDate, ...]:
    """All readings of the dates that a message names: looking back and looking ahead."""
    found: dict[tuple[datetime, datetime], SaidDate] = {}
    for text in (message.text, *message.captions):
        english = language_of(text) == "en"
        for ahead in (False, True):
            for date in read_dates(text, message.at, ahead=ahead, english=english):
                found.setdefault((date.start, date.end), date)
        found |= {(date.start, date.end): date for date in _durations(text, message.at)}
    return tuple(found.values())


def derived(moment: datetime, source: Evidence) -> bool:
    """Whether a moment is one that the sources name, or the day on which they were said."""
    slack = timedelta(days=1)
    if any(abs(moment - message.at) <= slack for message in source.messages):
        return True
    return any(date.start - slack <= moment <= date.end + slack for date in source.dates)


_DURATION = re.compile(
    r"\b(?:for|next|durante|por|für|pendant) (?:the (?:next )?)?(?P<count>a|an|\d{1,3}|[a-z]{3,9}) (?P<unit>day|week|month|year"
    r"|día|semana|mes|año|tag|woche|monat|jahr|jour|semaine|an)(?:e?s|en?)?\b",
    re.IGNORECASE,
)
_DAYS = {"d": 1, "t": 1, "w": 7, "s": 7, "m": 30, "y": 365, "a": 365}


def _durations(text: str, at: datetime) -> Iterator[SaidDate]:
    """ "For two weeks" lasts until two weeks from now."""
    for match in _DURATION.finditer(text):
        written = fold(match["count"])
        count = 1 if written in ("a", "an") else _value([written])
        if count and count <= 400:
            unit = fold(match["unit"])
            days = 1 if unit in ("jour", "dia") else 365 if unit.startswith("jahr") else _DAYS[unit[0]]
            end = at + timedelta(days=count * days)
            yield SaidDate(
                end - timedelta(days=1), end + timedelta(days=1), "day", "until", match.start(), match.end()
            )


def _dates_in(text: str, at: Sequence[datetime]) -> list[tuple[SaidDate, ...]]:
    """The dates of a statement, each in all its readings."""
    if not at:
        return []
    english = language_of(text) == "en"
    found: dict[tuple[int, int], dict[tuple[datetime, datetime], SaidDate]] = {}
    for moment in dict.fromkeys(at):
        for ahead in (False, True):
            for date in read_dates(text, moment, ahead=ahead, english=english):
                found.setdefault((date.begin, date.stop), {}).setdefault((date.start, date.end), date)
    return [tuple(readings.values()) for _, readings in sorted(found.items())]


def _date_is_said(readings: Sequence[SaidDate], written: str, text: str, source: Evidence) -> bool:
    yearless = not _YEAR.search(written) and re.search(r"\d|[^\W\d_]{3}", written) is not None
    for mine in readings:
        if _AS_OF.search(text[: mine.begin]) and any(
            mine.start <= message.at < mine.end for message in source.messages
        ):
            return True
        for said in source.dates:
            if _implied(mine, said):
                return True
            if yearless and mine.grain == said.grain == "day" and _same_day_of_year(mine, said):
                return True
    return False


def _implied(mine: SaidDate, said: SaidDate) -> bool:
    """Whether who said `said` said `mine`: the same, or a longer stretch around it; for a week also the day it begins on."""
    if mine.start <= said.start and said.end <= mine.end:
        return True
    length = said.end - said.start
    if length <= timedelta(days=2):
        return said.start <= mine.start and mine.end <= said.end
    return length <= _WEEK_OF and mine.start == said.start


def _same_day_of_year(one: SaidDate, other: SaidDate) -> bool:
    return (one.start.month, one.start.day) == (other.start.month, other.start.day)


def _is_year_like_number(written: str, source: Evidence) -> bool:
    """A year that was said is said, whatever it was the year of."""
    return _YEAR.fullmatch(written.strip()) is not None and float(written) in source.numbers


# --- numbers -----------------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"(?<![\w.,])(?:(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b\.?|(?P<h24>\d{1,2}):(?P<m24>\d\d)(?!\d)"
    r"|(?P<figure>\d{1,3}(?:[,. '’ ]\d{3})+(?:[.,]\d{1,2})?|\d{1,15}(?:[.,]\d{1,6})?)(?![.,]?\d)(?:st|nd|rd|th|er|º|ª)?"
    r"(?:\s?(?P<scale>k|m|bn|thousand|grand|million|billion|mil|millones|tausend|millionen)\b|(?=\D|$)))",
    re.IGNORECASE,
)
_SCALES = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "mil": 1e3, "tausend": 1e3, "m": 1e6, "million": 1e6, "millones": 1e6,
           "millionen": 1e6, "bn": 1e9, "billion": 1e9}  # fmt: skip
_COUNTED = {"couple": 2.0, "both": 2.0, "twice": 2.0, "pair": 2.0, "twins": 2.0, "half": 0.5, "dozen": 12.0, "once": 1.0,
            "single": 1.0, "thrice": 3.0, "triplets": 3.0, "a": 1.0, "an": 1.0, "docena": 12.0, "dutzend": 12.0,
            "eins": 1.0, "zwei": 2.0, "drei": 3.0, "vier": 4.0, "funf": 5.0, "sechs": 6.0, "sieben": 7.0, "acht": 8.0,
            "neun": 9.0, "zehn": 10.0, "deux": 2.0, "trois": 3.0, "quatre": 4.0, "cinq": 5.0, "sept": 7.0, "huit": 8.0,
            "neuf": 9.0, "dix": 10.0}  # fmt: skip
# As claims these are mostly no numbers: "one of her friends", "at first".
_NO_CLAIM = frozenset(
    {"one", "uno", "una", "un", "first", "a", "an", "once", "single", "half", "both", "couple", "pair"}
)
_MULTIPLIERS = {"hundred": 100.0, "thousand": 1e3, "million": 1e6, "billion": 1e9, "mil": 1e3, "dozen": 12.0}


def _numbers_said(text: str) -> Iterator[float]:
    """Generous: every way in which a number may have been meant."""
    for match in _NUMBER.finditer(text):
        yield from _figures(match)
    for _, value in _in_words(text):
        yield value
    for word in words(text):
        if (value := _COUNTED.get(word)) is not None:
            yield value
    for figure in re.findall(r"(?<![\d.,])\d{1,15}(?!\d|[.,]\d)", text):
        yield float(figure)


def _numbers_in(text: str) -> Iterator[tuple[str, float]]:
    """The numbers that a statement claims, as they are written and by their value."""
    for match in _NUMBER.finditer(text):
        figures = list(_figures(match))
        if figures:
            yield match[0].strip(), figures[0]
    yield from ((written, value) for written, value in _in_words(text) if written not in _NO_CLAIM)
    for word in words(text):
        if word in _COUNTED and word not in _NO_CLAIM:
            yield word, _COUNTED[word]


def _figures(match: re.Match[str]) -> Iterator[float]:
    """The value that a figure stands for, the likeliest first. A time of day is minutes, out of the way of other numbers."""
    if match["hour"] or match["h24"]:
        hour, minute = int(match["hour"] or match["h24"]), int(match["minute"] or match["m24"] or 0)
        if match["half"] and match["half"].lower() == "p" and hour < 12:
            hour += 12
        yield -1.0 - (hour % 24 * 60 + minute)
        if match["half"] and not minute:
            return
        # "7:30" may be half past seven in the evening.
        if match["h24"] and hour < 12:
            yield -1.0 - ((hour + 12) * 60 + minute)
        return
    figure = re.sub(r"[ '’ ]", "", match["figure"])
    scale = _SCALES.get((match["scale"] or "").lower(), 1.0)
    grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", figure)
    if grouped:
        yield float(re.sub(r"[.,]", "", figure)) * scale
    last = max(figure.rfind("."), figure.rfind(","))
    if last < 0:
        yield float(figure) * scale
    elif not grouped or figure.count(figure[last]) == 1:
        yield round(float(re.sub(r"[.,]", "", figure[:last]) + "." + figure[last + 1 :]) * scale, 6)


def _in_words(text: str) -> Iterator[tuple[str, float]]:
    """Numbers in words ("twenty-five", "three hundred thousand", "third")."""
    found = [part for word in words(text) for part in word.split("-")]
    at = 0
    while at < len(found):
        value, taken = read_number(found[at:], sure=False)
        if taken:
            number = float(value)
            written = " ".join(found[at : at + taken])
            at += taken
            while at < len(found) and found[at] in _MULTIPLIERS:
                number *= _MULTIPLIERS[found[at]]
                at += 1
            yield written, number
            continue
        ordinal = read_ordinal(found[at])
        # "A second" is time, or another one.
        if ordinal is not None and ordinal > 2:
            yield found[at], float(ordinal)
        at += 1


def _value(written: list[str]) -> float:
    if written[0].isdigit():
        return float(written[0])
    value, taken = read_number(written, sure=True)
    return float(value) if taken else _COUNTED.get(written[0], 0.0)


# --- addresses ---------------------------------------------------------------------------------------------

_SCHEME = re.compile(r"\bhttps?://(?:www\.)?|\bwww\.")
_CALLED = {"url": "address", "email": "e-mail address", "handle": "name", "phone": "telephone number", "path": "path",
           "version": "version"}  # fmt: skip


_DOTTED = re.compile(r"[vV]?\d{1,4}(?:\.\d{1,5}){2,3}(?:-[\w.]{1,20})?")


def _is_date(written: str, at: Sequence[datetime]) -> bool:
    """14.03.2025 has three parts too."""
    return bool(at) and len(read_dates(written, at[0], english=False)) > 0


def _is_said(kind: str, written: str, said: str) -> bool:
    if kind == "phone":
        digits = re.sub(r"\D", "", written)
        return digits in re.sub(r"[^\d\n]", "", re.sub(r"(?<=\d)[ ().-]{1,3}(?=[\d(])", "", said))
    if kind in ("url", "email", "handle"):
        written, said = (_SCHEME.sub("", text.lower()).rstrip("/") for text in (written, said))
    if kind == "version":
        written = written.lstrip("vV")
    before = (
        r"(?<![\w.@/-])"
        if kind in ("email", "handle")
        else r"(?<![\d.])"
        if kind == "version"
        else r"(?<![\w])"
    )
    # A dot goes on where something follows it: in "config.toml", not at the end of a sentence.
    return re.search(rf"{before}{re.escape(written)}(?![\w-]|[./@][\w])", said) is not None


# --- names -------------------------------------------------------------------------------------------------

_CAPITAL = re.compile(r"(?<!\w)[^\W\d_][\w'’&+.-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n\s*|[-*•]\s+)[\"'“‘(\[]*$")
_ROLES = lexicon("person_titles")
_VERBS = lexicon("claim_verbs")
_LIKE_A_WORD = re.compile(r".{3,}(?:ing|ed|ly|tion|sion|ment|ness|able|ful|ism|ship|hood|ity)$")
_KINDS = ("ian", "ean", "ese", "ish", "an", "ic")
_LANDS = {"spanish": "spain", "french": "france", "dutch": "netherlands", "polish": "poland", "turkish": "turkey",
          "danish": "denmark", "greek": "greece", "swiss": "switzerland", "welsh": "wales"}  # fmt: skip


def names_in(text: str, source: Evidence) -> Iterator[str]:
    """Runs of capitalised words, without what is capitalised only because a sentence begins there."""
    run: list[str] = []
    end = 0
    german = re.search(r"\b(?:der|die|das|und|ist|nicht|ich|ein|eine)\b", text) is not None
    for match in _CAPITAL.finditer(text):
        word = match[0].rstrip(".'’-+&") if not re.search(r"[+&]$", match[0]) else match[0]
        if re.search(r"['’]s$", word):
            word = word[:-2]
        taken = _is_name(word, text, match.start(), source, german)
        if run and (
            not taken
            or not text[end : match.start()].isspace()
            or _SENTENCE_START.search(text[: match.start()])
        ):
            yield " ".join(run)
            run = []
        if taken:
            run.append(word)
            end = match.start() + len(word)
    if run:
        yield " ".join(run)


def name_is_said(name: str, source: Evidence) -> bool:
    """Whether all parts of a name, or all of another name of the same entity, were said."""
    parts = words(name)
    if all(_part_is_said(part, source) for part in parts):
        return True
    variants = source.variants(name)
    if any(found and all(map(source.holds, found)) for found in map(words, variants)):
        return True
    if len(parts) > 1:
        return all(
            _part_is_said(part, source) or _variant_is_said(part, source) for part in parts
        ) or _short_for(name, source)
    return _short_for(name, source)


def _is_name(word: str, text: str, start: int, source: Evidence, german: bool) -> bool:
    if not word or not word[0].isupper():
        return re.search(r"[a-z][A-Z]", word) is not None  # iPhone, macOS
    folded = fold(word)
    if folded in _ROLES or folded in NO_NAMES or re.match(r"i['’]", folded):
        return folded in NO_NAMES and folded in _CHECKED_ANYWAY
    if german and re.search(
        r"\b(?:der|die|das|den|dem|des|\w*ein(?:e[rnms]?)?|ihre?n?|seine?n?)\s$", text[:start]
    ):
        return False
    if _SENTENCE_START.search(text[:start]):
        return not (
            folded in STARTERS
            or folded in _VERBS
            or _LIKE_A_WORD.match(folded)
            or alike(root(folded), source.roots)
        )
    return True


# Capitalised by habit only, and yet nothing to invent.
_CHECKED_ANYWAY = lexicon("feasts") | lexicon("nations") | frozenset(numbered("dates.weekdays", 0, "en"))


def _part_is_said(part: str, source: Evidence) -> bool:
    if source.holds(part) or part in source.context:
        return True
    if (part.endswith("s") and source.holds(part[:-1])) or source.holds(part + "s"):
        return True
    if "-" in part or "." in part:
        pieces = [piece for piece in re.split(r"[-.]", part) if piece]
        return bool(pieces) and all(map(source.holds, pieces))
    if source.holds(_LANDS.get(part, part)):
        return True
    if part.endswith(_KINDS) and len(part) >= 6:
        return any(word[:4] == part[:4] for word in source.words if len(word) >= 4)
    # Other scripts inflect names: Анна, Анну.
    return (
        not part.isascii()
        and len(part) >= 4
        and any(
            word[: len(part) - 1] == part[:-1] and abs(len(word) - len(part)) <= 2 for word in source.words
        )
    )


def _variant_is_said(part: str, source: Evidence) -> bool:
    return any(found and all(map(source.holds, found)) for found in map(words, source.variants(part)))


def _short_for(name: str, source: Evidence) -> bool:
    """NYC for New York City, and the other way round."""
    parts = name.split()
    if len(parts) >= 2:
        return source.holds("".join(part[0] for part in parts).lower())
    if not (name.isupper() and 2 <= len(name) <= 6):
        return False
    capitals = "".join(
        word[0] if word[0].isupper() else " " for word in re.findall(r"[^\W\d_]+", source.said)
    )
    return name in capitals


def _without(text: str, begin: int, stop: int) -> str:
    return text[:begin] + " " * (stop - begin) + text[stop:]
