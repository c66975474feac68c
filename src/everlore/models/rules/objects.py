"""Reads the object of a verb: names, places, employers, professions, plain things; one or a list."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from everlore.models.rules import english, spanish
from everlore.models.rules.entities import is_technical
from everlore.models.rules.grammar import Grammar, ObjectKind, Rule
from everlore.models.rules.reading import RuleStatement
from everlore.text.dates import SaidDate
from everlore.text.lexicon import words as listed_words
from everlore.text.names import Name

NamesAt: TypeAlias = dict[int, Name]
MAX_OBJECT_WORDS = 6
MAX_LIST = 6


@dataclass(frozen=True, slots=True)
class Object:
    """`predicate` where the object itself decides for another one than the rule's."""

    text: str
    begin: int
    stop: int
    is_name: bool = False
    predicate: str | None = None


LANGUAGES: Final = listed_words("spoken_languages")
INSTRUMENTS: Final = listed_words("instruments")
_PROFESSION: Final = re.compile(
    r"(?:\w+(?:ologist|ician|itect|ineer|ographer|eveloper|esigner|ccountant|ssistant|onsultant|rogrammer|nalyst"
    r"|eacher|ecturer|ofessor"
    r"|iologist|harmacist|herapist|urgeon|ournalist|ditor|irector|anager|fficer|dministrator|aralegal|iterinarian"
    r"|trician|umber"
    r"|mechanic|logist|smith|wright)|nurse|doctor|lawyer|attorney|judge|writer|author|poet|artist|painter|musician"
    r"|singer|actor|actress"
    r"|dancer|chef|cook|baker|butcher|barista|bartender|waiter|waitress|farmer|gardener|florist|carpenter|electrician"
    r"|builder"
    r"|driver|pilot|sailor|captain|soldier|firefighter|paramedic|midwife|vet|dentist|optician|translator|interpreter"
    r"|librarian"
    r"|scientist|researcher|postdoc|student|intern|apprentice|freelancer|founder|co-founder|ceo|cto|cfo|coo|vp|owner"
    r"|photographer|tailor"
    r"|mechanic|technician|welder|cashier|receptionist|secretary|clerk|banker|trader|broker|realtor|agent|tester|lead"
    r"|head|principal"
    r"|tutor|coach|trainer|instructor|nanny|carer|caretaker|social worker|counsell?or|psychologist|psychiatrist"
    r"|physicist|chemist|signaller|ranger|zookeeper|glazier|locum|conductor|steward|stewardess|bouncer|busker"
    r"|blacksmith|cooper|cobbler|seamstress"
    r"|upholsterer|arborist|gamekeeper|groundskeeper|porter|cleaner|concierge|croupier|cartographer|brewer|winemaker"
    r"|sommelier|barrister"
    r"|solicitor|notary|magistrate|registrar|orthodontist|anaesthetist|paediatrician|pediatrician|optometrist"
    r"|chiropractor|osteopath|masseuse|locksmith"
    r"|stonemason|bricklayer|plasterer|joiner|decorator|tiler|rigger|miner|logger|forester|fisher|shepherd|vintner"
    r"|butler|valet|diver|lifeguard"
    r"|mathematician|statistician|economist|historian|archaeologist|astronomer|geologist|biologist|curator|producer|animator"
    r"|composer|sculptor|potter|jeweller|beekeeper|fisherman|plumber|mason|roofer|surveyor|planner|recruiter|marketer"
    r"|copywriter"
    r"|bookkeeper|actuary|auditor|pharmacist|radiographer|physiotherapist|nutritionist|dietitian|stylist|hairdresser"
    r"|barber|model"
    r"|detective|police officer|policeman|policewoman|postman|courier|engineer|developer|designer|teacher|professor"
    r"|architect"
    r"|manager|director|editor|journalist|accountant|analyst|consultant|officer|sysadmin|devops|admin|guide|referee"
    r"|priest|pastor|rabbi"
    r"|enfermer[oa]|médic[oa]|abogad[oa]|maestr[oa]|profesora?|ingenier[oa]|programadora?|diseñadora?|arquitect[oa]"
    r"|cociner[oa]"
    r"|camarer[oa]|periodista|contable|dentista|fotógraf[oa]|músic[oa]|artista|pintora?|escritora?|traductora?|científic[oa]"
    r"|investigadora?|psicólog[oa]|biólog[oa]|químic[oa]|electricista|fontaner[oa]|carpinter[oa]|mecánic[oa]"
    r"|conductora?|piloto"
    r"|bomber[oa]|policía|veterinari[oa]|farmacéutic[oa]|panader[oa]|peluquer[oa]|estudiante|director[a]?|gerente|jefe"
    r"|jefa|desarrolladora?"
    r"|bibliotecari[oa]|jardiner[oa]|matrona|fisioterapeuta|economista|autónom[oa])$"
)
# "the Dunmore bakery": the noun belongs to the name.
_ORG_NOUN: Final = re.compile(
    r" (?:[a-z]+ )?(?:bakery|school|hospital|clinic|library|brewery|museum|hotel|restaurant|pub|café|cafe|theatre|zoo"
    r"|shipyard|garage|nursery|surgery"
    r"|pharmacy|observatory|ringers|runners|rowers|ramblers|swimmers|singers|dancers|climbers|cyclists|knitters|choir"
    r"|band|orchestra|club|society)\b"
)
# "Tamil at home, English at work".
_WHERE_SPOKEN: Final = re.compile(
    r" (?:(?:at|with|in|to) (?:my |the )?\w+|natively|fluently|badly|well|en (?:casa|el trabajo)|con \w+)(?= |,)"
)
_HEADS: Final = frozenset(("head", "director", "vp", "manager", "chief", "professor", "secretary", "captain"))
_GROUP_WORDS: Final = ("club", "band", "choir", "team", "coro", "banda", "equipo", "asociación")
_EMPTY_WORDS: Final = listed_words("empty_objects")
_SOMEWHERE: Final = re.compile(r"(?:the|an?) |(?:el|la|una?) ")
_GENERIC_PLACES: Final = listed_words("generic_places")


def object_at(
    statement: RuleStatement,
    names_at: NamesAt,
    dates: tuple[SaidDate, ...],
    grammar: Grammar,
    match: re.Match[str],
    rule: Rule,
) -> tuple[Object, ...]:
    """The objects that begin where `match` ends; none where there is nothing that can be one."""
    found = list(_listed(statement, names_at, dates, grammar, match, rule))
    if not found:
        return ()
    if rule.role and (role := match.groupdict().get("role")) and len(role.split()) <= 4:
        begin = match.start("role")
        found.append(
            Object(statement.text[begin : begin + len(role)], begin, begin + len(role), predicate="works_as")
        )
    if rule.role_at:
        found += _employer(statement, names_at, grammar, found[0].stop)
    if rule.then and (then := re.compile(rule.then[0]).match(statement.low, found[-1].stop)):
        more = _one(statement, names_at, dates, grammar, then.end(), rule.then[2])
        if more:
            found.append(Object(more.text, more.begin, more.stop, more.is_name, rule.then[1]))
    if rule.predicate == "works_at":
        found += _as_role(statement, grammar, found[0].stop)
        # "the Riverside choir" is joined, not worked for.
        of = english.GROUP if statement.language == "en" else spanish.GROUP
        if rule.group and of.search(statement.low, found[0].begin, found[0].stop + 14):
            found[0] = Object(found[0].text, found[0].begin, found[0].stop, found[0].is_name, "member_of")
    return tuple(found)


def _listed(
    statement: RuleStatement,
    names_at: NamesAt,
    dates: tuple[SaidDate, ...],
    grammar: Grammar,
    match: re.Match[str],
    rule: Rule,
) -> Iterator[Object]:
    if rule.kind == "what":
        begin = match.start("what")
        yield Object(match["what"].strip(), begin, begin + len(match["what"].rstrip()))
        return
    position = match.end()
    for count in range(MAX_LIST if rule.many else 1):
        one = _one(statement, names_at, dates, grammar, position, rule.kind, owned=rule.predicate == "owns")
        if one is None or (count and rule.kind == "taste" and not _may_go_on(statement, grammar, one)):
            return
        yield one
        behind = _WHERE_SPOKEN.match(statement.low, one.stop) if rule.kind == "language" else None
        joint = grammar.joint.match(statement.low, behind.end() if behind else one.stop)
        if joint is None:
            return
        position = joint.end()


def _may_go_on(statement: RuleStatement, grammar: Grammar, one: Object) -> bool:
    """Whether what follows a comma is one more thing and no new clause: short, and nothing but a mark or "and" behind it."""
    low = statement.low
    if len(one.text.split()) > 3 or re.match(
        r"(?:i|i'm|we|my|he|she|they|it|you|yo|mi|me|but|so|no)\b", low[one.begin :]
    ):
        return False
    behind = low[one.stop : one.stop + 6]
    return bool(
        re.match(r"\s*(?:$|[.,!;)]|and\b|or\b|y\b|too\b|but\b|pero\b|as\b)", behind)
    ) and not re.search(r"\b(?:is|are|was|has|have|es|son|tiene)\b", one.text.lower())


def _one(
    statement: RuleStatement,
    names_at: NamesAt,
    dates: tuple[SaidDate, ...],
    grammar: Grammar,
    position: int,
    kind: ObjectKind,
    *,
    owned: bool = False,
) -> Object | None:
    low, text = statement.low, statement.text
    if kind == "date":
        date = next((one for one in dates if one.begin >= position - 4 and one.grain == "day"), None)
        return Object(date.start.date().isoformat(), date.begin, date.stop) if date else None
    article = grammar.article.match(low, position)
    after = article.end() if article else position
    name = names_at.get(position) or names_at.get(after)
    if (
        name
        and kind == "place"
        and re.match(r"(?:'s)? [a-zà-ÿ]", low[name.stop :])
        and not grammar.stop.match(low, name.stop)
    ):
        return None  # "the Kraftwerk concert" is no place
    if kind == "place" and name and is_technical(name.text):
        return None
    if kind == "tool" and name and (version := re.compile(r" v?\d[\w.]*\w|(?: \d+)").match(text, name.stop)):
        return Object(text[name.begin : version.end()], name.begin, version.end(), is_name=True)
    if kind == "org" and name and (more := _ORG_NOUN.match(low, name.stop)):
        return Object(text[name.begin : more.end()], name.begin, more.end(), is_name=True)
    if kind in {"place", "org", "named", "person", "names", "tool"} and name:
        return Object(name.text, name.begin, name.stop, is_name=True)
    if kind in {"named", "person", "names"} and not _is_small(text):
        return None
    begin, stop = _phrase(low, grammar, after)
    if kind in {"role", "job"} and (of := low.find(" of ", begin, stop)) > 0:
        stop = of
    words = low[begin:stop].split()
    if not words or len(words) > MAX_OBJECT_WORDS or words[0] in _EMPTY_WORDS:
        return None
    written = text[begin:stop]
    match kind:
        case "place":
            small = _is_small(text) and not article and len(words) <= 3 and not _GENERIC_PLACES & set(words)
            inner = next((names_at[at] for at in range(begin, stop) if at in names_at), None)
            if inner and article is None:
                return Object(inner.text, inner.begin, inner.stop, is_name=True)
            return Object(written, begin, stop, is_name=True) if small else None
        case "org":
            inner = next((names_at[at] for at in range(begin, stop) if at in names_at), None)
            whole = (
                article
                and inner
                and inner.stop == stop
                and low[begin : inner.begin].rstrip().endswith(_GROUP_WORDS)
            )
            if whole:
                return Object(written, begin, stop, is_name=True)
            if inner and inner.stop >= stop - 12:
                return Object(inner.text, inner.begin, inner.stop, is_name=True)
            if (not article and not _is_small(text)) or words[-1] in _GENERIC_PLACES:
                return None
            return Object(written, begin, stop)
        case "named" | "person" | "names":
            return (
                Object(words[0], begin, begin + len(words[0]), is_name=True)
                if not article and len(words) == 1
                else None
            )
        case "role":
            if of := re.compile(r" of (?!the\b|my\b|our\b)").match(low, stop):
                further = _phrase(low, grammar, of.end())[1]
                stop = (
                    further
                    if of.end() not in names_at
                    and further > of.end()
                    and low[begin:stop].split()[-1] in _HEADS
                    else stop
                )
                return (
                    Object(text[begin:stop], begin, stop)
                    if low[begin : of.start()].split()[-1] in _HEADS or is_profession(low[begin : of.start()])
                    else None
                )
            return Object(written, begin, stop) if is_profession(low[begin:stop]) else None
        case "instrument":
            first = words[0]
            return (
                Object(text[begin : begin + len(first)], begin, begin + len(first))
                if first in INSTRUMENTS
                else None
            )
        case "language":
            foreign = words[0] in LANGUAGES or (text[begin].isupper() and len(words[0]) > 3)
            return (
                Object(text[begin : begin + len(words[0])], begin, begin + len(words[0])) if foreign else None
            )
        case "tool":
            named = any(one.isdigit() or one in "+#." for one in written) or _is_small(text)
            return (
                Object(written, begin, stop, is_name=True)
                if named and len(words) <= 3 and not article
                else None
            )
        case _:
            inner = next((names_at[at] for at in range(begin + 1, stop) if at in names_at), None)
            if owned and inner and inner.stop == stop:
                return Object(inner.text, inner.begin, inner.stop, is_name=True)
            return Object(written, begin, stop)


def _phrase(low: str, grammar: Grammar, begin: int) -> tuple[int, int]:
    """The noun phrase from `begin` on: up to a mark or a word that opens something else."""
    match = grammar.stop.search(low, begin, begin + 100)
    stop = match.start() if match else min(len(low), begin + 100)
    while stop > begin and low[stop - 1] in " '*_~😊😂🙂❤":
        stop -= 1
    return begin, stop


def is_profession(low: str) -> bool:
    words = low.split()
    return 0 < len(words) <= 5 and bool(_PROFESSION.search(low.strip()))


def _is_small(text: str) -> bool:
    """Whether somebody writes without capital letters, so that a name cannot show itself."""
    return text.islower() or (text[1:].islower() and text.startswith("I"))


def _employer(statement: RuleStatement, names_at: NamesAt, grammar: Grammar, position: int) -> list[Object]:
    """ "at Acme" behind a profession."""
    match = re.compile(r" (?:at|for|with|of|en|de|del) (?:the |el |la )?").match(statement.low, position)
    name = names_at.get(match.end()) if match else None
    return [Object(name.text, name.begin, name.stop, is_name=True, predicate="works_at")] if name else []


def _as_role(statement: RuleStatement, grammar: Grammar, position: int) -> list[Object]:
    """ "as a nurse" behind an employer."""
    match = re.compile(r"(?:'s)? (?:as|como) (?:an? |the |una? )?").match(statement.low, position)
    if match is None:
        return []
    begin, stop = _phrase(statement.low, grammar, match.end())
    words = statement.low[begin:stop].split()
    if not 0 < len(words) <= 4 or words[0] in _EMPTY_WORDS or words[-1] in {"result", "whole", "rule", "kid"}:
        return []
    return [Object(statement.text[begin:stop], begin, stop, predicate="works_as")]
