"""Which type a statement is a memory of: by its facts, by the patterns of `kinds`, by what else stands in it."""

import re
from dataclasses import dataclass
from typing import Final

from everlore.domain.memories import MemoryType
from everlore.models.rules.clauses import Claim
from everlore.models.rules.kinds import AROUND, ELSEWHERE, START, TypeRule
from everlore.models.rules.reading import RuleStatement
from everlore.text.clock import clock
from everlore.text.dates import SaidDate
from everlore.text.names import Name
from everlore.text.numbers import Numeral


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found in a statement before it is judged."""

    statement: RuleStatement
    names: tuple[Name, ...]
    marks: tuple[Numeral, ...]
    dates: tuple[SaidDate, ...]
    claims: tuple[Claim, ...]
    aliased: bool

    @property
    def told(self) -> tuple[SaidDate, ...]:
        """The dates at or until which something is; not those since when it holds."""
        at = self.statement.message.at
        return tuple(date for date in self.dates if date.side != "since" or date.start > at)

    @property
    def technical(self) -> bool:
        return any(mark.kind in {"path", "version"} for mark in self.marks)

    @property
    def rare(self) -> int:
        """How many names, numbers and times stand in it."""
        return (
            len({name.text for name in self.names})
            + len(self.marks)
            + len(self.dates)
            + (clock(self.statement.low) is not None)
        )


_BY_PREDICATE: Final[dict[str, MemoryType]] = {
    "lives_in": "fact", "works_at": "fact", "works_as": "identity", "born_in": "identity", "born_on": "identity",
    "married_to": "relationship", "engaged_to": "relationship", "partner_of": "relationship", "email": "fact",
        "phone": "fact",
    "likes": "preference", "dislikes": "preference", "prefers": "preference", "allergic_to": "fact", "speaks": "skill",
    "plays": "skill", "works_on": "project", "has_visited": "event", "has_pet": "fact", "owns": "fact",
        "uses": "system_config",
    "studies": "fact", "studies_at": "fact", "member_of": "fact",
}  # fmt: skip
_DEMANDS: Final = re.compile(r"\b(?:wants?|needs?|expects?|asked for|is waiting for|due|deadline)\b")
_GOAL: Final = re.compile(
    r"\b(?:want to|wanna|trying to|aiming (?:for|to)|goal|aim|dream|saving|training for|hope to|hoping to"
    r"|working towards?|learning|resolution"
    r"|quiero|meta|objetivo|espero|sueño|i'd (?:love|like) to)\b"
)
_HAPPENING: Final = re.compile(
    r"\b(?:appointment|meeting|wedding|flight|train|conference|interview|exam|concert|party|trip|surgery|operation"
    r"|graduation|funeral|ceremony|festival|workshop|reunion|race"
    r"|match|presentation|demo|launch|deadline|tournament|show|scheduled|postponed|rescheduled|defen[cs]e|delivery"
    r"|opening|lease|contract|visit|dentist|doctor|physio|checkup|check-up|vet|gp|hairdresser|haircut|rehearsal"
    r"|practice|gig|call|class|lesson|session|dinner|lunch|brunch|bbq|barbecue|picnic|game|play|recital|viewing"
    r"|mot|hearing|arrives?|starts?|begins?|ends?|expires?|opens?|closes?|moved to|due|cita"
    r"|reunión|boda|vuelo"
    r"|examen|entrevista|concierto|fiesta|operación|entrega|empieza|termina|llega|inauguración|termin|hochzeit|prüfung"
    r"|rendez-vous)\b"
)
_INTRODUCES: Final = re.compile(r"^(?:(?:hi|hello|hey|hola)[,! ]*)?(?:i'm|i am|this is|soy|me llamo) (?=\S)")
DROPPED_I: Final = re.compile(
    START + AROUND + r"(?:dropped|broke|lost|found|bought|sold|got|met|saw|finished|started|signed|booked"
    r"|moved|quit|adopted|ran|won|passed|failed|installed|upgraded|switched|put|set|picked|watched|burnt|burned|went|had"
    r"|tried|ate|made|took|left|joined|decided|settled|chose|gave|handed|relocated|enrolled|majoring|doing|studying"
    r"|working|living|staying|learning|teaching|writing|building|training|saving|aiming|trying|planning|hoping|playing"
    r"|practi[sc]ing|off|on|at|stuck|based|born|raised|allergic|married|engaged|employed|diagnosed|fluent|originally"
    r"|been|gotta|need|have|must|can't|cannot|haven't|never|always|want|wanna|love|hate|prefer|visited|landed|flew"
    r"|drove|flying|driving|moving|heading|leaving|fixed|forgot|spilled|spilt|dyed|painted|planted|baked|cooked|spent"
    r"|heading|not|big|huge|used|switched|migrated|using|running|done|sick|home|back|down|knocked|reached|hit|read"
    r"|ordered|wrote|built|sent|paid|renewed|cancelled|called|told|taught|lent|borrowed|returned|cleaned|turned|fell"
    r"|cut|hurt|sprained|twisted|caught|came|slept|wore|binged|sitting|waiting|expecting|pregnant|single|divorced"
    r"|retired|self-employed|vegetarian|vegan|lactose|coeliac|celiac|diabetic)\b(?! (?:you|your|it\b|the way|so\b"
    r"|that\b|this\b|me\b))"
)
_CODE: Final = re.compile(r"\b(?=\w*\d)(?=\w*[A-Z])[A-Z0-9]{4,}\b|\d{3,}")
_STATES: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|wants?|needs?|likes?|runs?|uses?|opens?|costs?|es|está|son|tiene|quiere"
    r"|necesita)\b|\w+(?:'s) "
)
STRONG: Final = frozenset(("reminder", "decision", "task", "blocker", "lesson", "note"))
_FIRMEST: Final = frozenset(("lives_in", "works_at", "studies_at"))
_TASTES: Final = frozenset(("likes", "dislikes", "prefers", "allergic_to"))


# First-person verbs that report a passing state of mind or are half of another verb: they make no fact by themselves.
_PASSING: Final = re.compile(
    r"(?:think|thought|feel|felt|guess|know|knew|mean|meant|see|saw|hear|heard|agree|understand|hope|hoped|wonder"
    r"|suppose|believe"
    r"|remember|forget|forgot|thank|appreciate|apologi[sz]e|bet|wish|doubt|can|can't|could|couldn't|would|wouldn't"
    r"|should|shouldn't"
    r"|will|won't|may|might|must|need|want|wanted|look|said|say|just|get|got|love|like|hate|had|did|do|don't|didn't"
    r"|was|were|am|are|have"
    r"|haven't|tried|try|come|came|go|gotta|gonna|totally|really|also|never|always|still|only|even|saw|told|asked|ask"
    r"|tell|noticed"
    r"|imagine|recommend|suggest|promise|swear|admit|care|mind|miss|missed|laughed|cried|liked|loved|enjoyed|wanted"
    r"|needed|used)\b"
)
_HAPPENS: Final = re.compile(r"\b(?:i|we|my|our|yo|mi|nos|nuestr[oa]|me|got|was|were|has been|\w+ed)\b")
# How something around us is: "our street floods whenever ...", "the tram stops at six".
_RUNS: Final = re.compile(
    r"(?:(?:btw|fyi|also|so|and|but),? )?(?:(?:the|our|my|every|all|most) )[\w'-]+(?: [\w'-]+){0,3}? (?!was\b|sounds\b"
    r"|looks\b"
    r"|feels\b|seems\b|means\b|makes\b)(?:is|are|has|have|doesn't|don't|won't|can't|never|always|only|[a-z]{2,}s)\b"
    r"|[a-z]{3,} (?:in|on|at|behind|near|under) (?:the|our|my) [^,.]{2,40}? (?:is|are|has|costs?|opens?|closes?)\b"
    r"|(?:el|la|los|las|nuestr[oa]s?|mi|mis) [\wà-ÿ]+(?: (?:del?|de la) [\wà-ÿ]+)? (?:es|está|están|son|tiene|cierra"
    r"|abre|para|pasa|sale|no|se|cuesta)\b"
)
_LASTS: Final = re.compile(
    r"\b(?:when(?:ever)?|every|always|never|only|until|after|before|under|behind|near|next to|on (?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)days?|(?:at|after) (?:\d|noon|midnight|night|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"|opens?|closes?"
    r"|costs?|free|straight|cuando|siempre|nunca|sólo|solo|hasta|debajo|detrás|al lado|los (?:lunes|martes|miércoles"
    r"|jueves|viernes|sábados|domingos)|a las)\b"
)
# A number, code or place that goes with a thing: "locker 118", "spare key is under the pot", "wifi: Kestrel-5G".
_CODED: Final = re.compile(
    r"(?i)\b(?:locker|seat|gate|room|row|platform|booking|confirmation|order|reference|ref|ticket|code|combination|combo|key"
    r"|size|sizes|plate|licen[cs]e|account|iban|membership|policy|serial|model|extension|ext|tracking|apartment|flat"
    r"|buzzer|intercom|box|shelf|drawer|taquilla|código|talla|matrícula|asiento|localizador|llaves?|piso|puerta)\b"
    r"[^.!?]{0,30}?(?:\d|\b(?:is|are|es|está|están) (?:in|on|under|behind|at|with|en|debajo|detrás|encima|al)\b)"
)
_MINE_AHEAD: Final = re.compile(r"(?:my|our|mi|mis|nuestr[oa]s?) \w+")
_DOES: Final = re.compile(
    r"(?:(?:and|but|so|because|btw|fyi|well|actually|personally),? )?(?:i|we) (?P<verb>[a-z']+) "
)


def type_of(looked: Looked, kind: TypeRule | None, first: bool) -> tuple[MemoryType, bool] | None:
    """The type, and whether the reason for it is strong. None: nothing says that this is worth keeping."""
    found = _by_taste(looked, kind)
    if found is None and kind is not None and kind.type in STRONG:
        found = kind.type, kind.sure
    return (
        found
        or _by_time(looked, kind)
        or _by_claims(looked, kind)
        or _by_kind(looked, kind)
        or _by_rest(looked, first)
    )


def _by_taste(looked: Looked, kind: TypeRule | None) -> tuple[MemoryType, bool] | None:
    """What somebody likes or cannot bear goes before "must", "doesn't work" and the like."""
    if any(claim.predicate == "allergic_to" for claim in looked.claims):
        return "fact", True
    if kind is not None and kind.type not in {"task", "blocker", "event", "fact", "note"}:
        return None
    for claim in looked.claims:
        if claim.predicate in _TASTES or claim.predicate.startswith("favourite_"):
            return "preference", True
    return None


def _by_time(looked: Looked, kind: TypeRule | None) -> tuple[MemoryType, bool] | None:
    """A plan with a date is an event, a wish with a date a goal; something datable that happened is an event too."""
    low, at = looked.statement.low, looked.statement.message.at
    if kind is None:
        return None
    dates = looked.told
    if kind.type == "goal" and (not dates or _GOAL.search(low)):
        return "goal", True
    if kind.type == "project" and not _HAPPENING.search(low):
        return None
    if kind.type not in {"goal", "event", "relationship", "fact", "project"}:
        return None
    if any(date.start >= at or date.start.date() == at.date() for date in dates):
        if any(date.side == "until" for date in dates) and _DEMANDS.search(low):
            return "task", True
        return "event", True
    happened = any(date.grain in {"day", "week", "month"} for date in dates)
    return (
        ("event", True) if happened and not looked.claims and kind.type in {"relationship", "fact"} else None
    )


def _by_claims(looked: Looked, kind: TypeRule | None) -> tuple[MemoryType, bool] | None:
    sure = kind is not None and kind.sure
    # Where somebody lives or works tells more than with whom.
    for claim in sorted(looked.claims, key=lambda one: one.predicate not in _FIRMEST):
        if claim.predicate in _BY_PREDICATE and not (
            kind and sure and kind.type in {"habit", "goal", "preference", "identity", "project"}
        ):
            mine = claim.subject == looked.statement.message.speaker
            type_ = _BY_PREDICATE[claim.predicate]
            return ("relationship" if type_ == "identity" and not mine else type_), True
        if claim.predicate.startswith("favourite_"):
            return "preference", True
        if claim.predicate.endswith("_of") and not sure:
            return "relationship", True
    return None


def _by_kind(looked: Looked, kind: TypeRule | None) -> tuple[MemoryType, bool] | None:
    if kind is None:
        return None
    if kind.type in {"event", "fact", "system_config"} and looked.technical:
        return "system_config", True
    if kind.type == "event" and not looked.told and not _HAPPENS.search(looked.statement.low):
        return "fact", kind.sure
    return kind.type, kind.sure


def _by_rest(looked: Looked, first: bool) -> tuple[MemoryType, bool] | None:
    """Without a pattern: a nickname, a path, a date, an introduction, a dropped "I", plain doing, specifics."""
    low = looked.statement.low
    if looked.aliased:
        return "fact", True
    if looked.technical:
        return "system_config", True
    if looked.told and (
        first or _HAPPENING.search(low) or (looked.statement.language == "other" and looked.names)
    ):
        return "event", True
    introduces = _INTRODUCES.search(low)
    if introduces and any(name.begin == introduces.end() for name in looked.names):
        return "identity", True
    if looked.statement.corrected and looked.rare:
        return "fact", True
    if DROPPED_I.match(low):
        return "event", False
    if looked.statement.language == "other":
        found = ELSEWHERE.search(low) and (looked.names or looked.marks or looked.dates)
        return (("event" if looked.told else "fact"), False) if found else None
    if _MINE_AHEAD.match(low) and looked.rare:
        return "fact", False
    does = _DOES.match(low)
    if does and not _PASSING.match(does["verb"]):
        return "fact", False
    rare = len(looked.marks) + len({name.text for name in looked.names if not name.opens})
    if (rare >= 2 or (rare and _CODE.search(looked.statement.text))) and _STATES.search(low):
        return "fact", False
    if _CODED.search(looked.statement.text):
        return "note", True
    if _RUNS.match(low) and (rare or _LASTS.search(low)):
        return "general", True
    return None
