"""Finds facts in a statement, clause by clause: a subject, what stands around the verb, the verb, its object."""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from everlore.models.rules import english, spanish
from everlore.models.rules.grammar import Grammar, Rule
from everlore.models.rules.kin import FORMER, ROLE, ROLES
from everlore.models.rules.objects import NamesAt, object_at
from everlore.models.rules.reading import RuleStatement
from everlore.text.dates import SaidDate
from everlore.text.names import Name

GRAMMARS: Final[dict[str, Grammar]] = {"en": english.GRAMMAR, "es": spanish.GRAMMAR}
MAX_CLAUSES = 12


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact as a statement says it. `begin`, `stop`: the object's characters in the statement."""

    subject: str
    predicate: str
    object: str
    begin: int
    stop: int
    ended: bool = False
    confidence: float = 0.8
    valid_from: datetime | None = None
    is_name: bool = False


@dataclass(slots=True)
class Scene:
    """What the clauses of a message share: who speaks, who was last named, what names stand where."""

    speaker: str
    names: tuple[Name, ...]
    dates: tuple[SaidDate, ...]
    last_person: str | None = None
    pet: bool = False  # the message has spoken of a pet without its name

    def at(self) -> NamesAt:
        return {name.begin: name for name in self.names}


def described(owner: str, role: str, language: str) -> str:
    """Somebody without a name, by their role: "Anna's mother", "madre de Anna"."""
    if language == "es":
        return f"{role} de {owner}"
    return f"{owner}'s {ROLES.get(role, role).replace('_in_law', '-in-law').replace('_', ' ')}"


_FIRST: Final = {
    "en": re.compile(r"(?:i|we|me and \w+|both of us)(?=['\s])|i(?=m\s)|i(?=ve\s)"),
    "es": re.compile(r"(?:yo|nosotros|nosotras)(?=\s)|(?:a mí)(?=\s)"),
}
_MINE: Final = {
    "en": re.compile(rf"(?:my|our) (?P<adj>(?:[a-z-]+ ){{0,2}}?)(?P<role>{ROLE}),? "),
    "es": re.compile(
        rf"(?:a )?(?:mi|nuestr[oa]) (?P<role>{ROLE})(?P<adj>(?: (?:mayor|menor|pequeñ[oa]|gemel[oa]|del alma))?),? "
    ),
}
_THEIRS: Final = re.compile(rf"'s? (?P<adj>(?:[a-z-]+ ){{0,2}}?)(?P<role>{ROLE}),? ")
_PRONOUN: Final = {"en": re.compile(r"(?:he|she)(?=['\s])"), "es": re.compile(r"(?:él|ella)(?=\s)")}
# Verbs that a clause without a subject may begin with; other present forms are more likely an order ("use Docker").
_BARE: Final = re.compile(
    r"(?!(?:called|named|feed|need|being|having|bring|king|thing|ring|sing|wing|ping|fling|string|spring|during"
    r"|morning|evening|nothing|something|anything|everything|indeed|red|bed|shed)\b)(?:[a-z]+ed|[a-z]{2,}ing|quit"
    r"|bought|got|love|hate"
    r"|prefer|enjoy|adore|born|left|went|been|taught|spent|made|took|met|back|home|fluent|allergic|based|stand|bear|big|huge"
    r"|massive|not|crazy|mad|obsessed|keen|partial|hooked|fond|into|have|split|broke|tied|drove|flew|get|native|with|at"
    r"|gave|sold|came|rode|sang|dislike|ended|an?)\b"
)
_BARE_BE: Final = frozenset(
    ("allergic", "engaged", "based", "located", "fluent", "born", "married", "big", "huge", "massive", "not", "crazy",
        "mad", "obsessed",
     "keen", "partial", "hooked", "fond", "into", "employed", "back", "native", "dating", "reading")
)  # fmt: skip
_OWN: Final = re.compile(r"\b(have|has|had|been|do)(?: all)?\s?$")
_INTRODUCED: Final = re.compile(
    r"(?:(?:hi|hello|hey|hola)[ ,!]*)?(?:(?:i'm|i am|im|my name is|my name's|soy|me llamo) [^\W\d_]+,"
    r"|[^\W\d_]+ here[,.!:]|aquí [^\W\d_]+,)"
)
_NOTHING: Final = re.compile("")
# What tells one Emma from another: "Emma from accounting", "Mia the intern".
_APART: Final = re.compile(
    r" (?:from (?:the )?[a-zà-ÿ]{3,}|the [a-z]{3,})(?= (?:is|was|has|lives|works|speaks|moved"
    r"|loves|likes|hates|plays|studies|owns|got|used|prefers)\b)"
)
_PASSIVE: Final = frozenset(("born", "married", "promoted", "fired", "laid", "engaged", "divorced", "back"))
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")
_AGO: Final = re.compile(r"\b(?:for|por|hace|durante|since|desde)\b")
# "Not only" denies nothing; and what stands before what is so instead ("not to peanuts, but to walnuts").
_NOT_ALONE: Final = re.compile(r"\b(?:not|n't) (?:only|just|merely|really|quite|even|so|all|both)\b")
_RATHER: Final = re.compile(r",? but (?:rather |only )?to (?:the )?")


def claims(statement: RuleStatement, scene: Scene) -> list[Claim]:
    """The facts of one statement. `scene.last_person` moves on to whom the statement names."""
    grammar = GRAMMARS.get(statement.language)
    if grammar is None:
        return []
    low, found = statement.low, list[Claim]()
    names_at = scene.at()
    carried: str | None = None
    introduced = _INTRODUCED.match(low) is not None
    for count, head in enumerate(grammar.head.finditer(low)):
        if count >= MAX_CLAUSES:
            break
        position = head.end()
        subject, after, explicit = _subject(statement, scene, names_at, position)
        if introduced and subject is None and (carried is None or carried == scene.speaker):
            found += _profession(statement, scene, grammar, names_at, position)
        if subject is None and (count == 0 or carried is None):
            found += _bare(statement, scene, grammar, names_at, position)
        if subject is None and statement.language == "en" and carried is None:
            continue
        subject = subject or carried
        if explicit:
            carried = subject
        if explicit and subject in {name.text for name in scene.names}:
            scene.last_person = subject  # only ever asked for by "he" and "she"
        found += _verb(statement, scene, grammar, names_at, after, subject, explicit)
    for name in scene.names:
        if _is_personlike(low, name):
            scene.last_person = name.text
    return _without_repeats(found)


def _profession(
    statement: RuleStatement, scene: Scene, grammar: Grammar, names_at: NamesAt, position: int
) -> list[Claim]:  # fmt: skip
    """One part of an introduction that lists: "I'm Ana, 34, structural engineer, ..."."""
    match = _NOTHING.match(statement.low, position)
    if match is None:
        return []
    rule = Rule("", "", "works_as", "role", role_at=True)
    objects = object_at(statement, names_at, scene.dates, grammar, match, rule)
    return [
        Claim(
            scene.speaker,
            one.predicate or "works_as",
            one.text,
            one.begin,
            one.stop,
            confidence=0.7,
            is_name=one.is_name,
        )
        for one in objects
    ]


def _subject(
    statement: RuleStatement, scene: Scene, names_at: NamesAt, position: int
) -> tuple[str | None, int, bool]:
    """Who a clause is about, where the verb's surroundings begin, and whether it says so itself."""
    low, language = statement.low, statement.language
    if match := _FIRST[language].match(low, position):
        return scene.speaker, match.end(), True
    if match := _MINE[language].match(low, position):
        if any(word in FORMER for word in match["adj"].split()):
            return None, position, False
        name = names_at.get(match.end())
        if name:
            return name.text, _behind(low, name.stop), True
        before = next(
            (name for name in scene.names if name.stop == position - 2 and low[name.stop] == ","), None
        )
        who = before.text if before else described(scene.speaker, match["role"], language)
        scene.last_person = who
        return who, match.end() - 1, True
    name = names_at.get(position) or (names_at.get(position + 2) if low.startswith("a ", position) else None)
    if name and name.opens and name.text.lower() in GRAMMARS[language].verbs:
        return None, position, False  # "Hablo gallego": a verb that opens the sentence
    if name:
        if match := _THEIRS.match(low, name.stop):
            other = names_at.get(match.end())
            return (
                (other.text, other.stop, True)
                if other
                else (f"{name.text}'s {match['role']}", match.end() - 1, True)
            )
        if name.opens and name.text.lower() in ROLES:
            return None, position, False
        if apart := _APART.match(low, name.stop):
            return statement.text[name.begin : apart.end()], apart.end(), True
        return name.text, _behind(low, name.stop), True
    if scene.last_person and (match := _PRONOUN[language].match(low, position)):
        return scene.last_person, match.end(), True
    return None, position, False


def _behind(low: str, position: int) -> int:
    """Behind a comma that closes an apposition, or short brackets ("Quill (they/them)")."""
    if low[position : position + 2] == " (" and (close := low.find(")", position, position + 24)) > 0:
        return close + 1
    return position + 1 if low[position : position + 2] == ", " else position


def _bare(
    statement: RuleStatement, scene: Scene, grammar: Grammar, names_at: NamesAt, position: int
) -> list[Claim]:
    """A clause that leaves out "I": "Moved to Porto last year"."""
    if statement.language != "en":
        return []
    begin, _ = _around(grammar, statement.low, position)
    if not _BARE.match(statement.low, begin) and not statement.low.startswith("been to ", position):
        return []
    return _verb(statement, scene, grammar, names_at, position, scene.speaker, False)


def _around(grammar: Grammar, low: str, position: int) -> tuple[int, str]:
    """Where the verb of a clause without a subject begins, and what stands around it ("have been", "never")."""
    # The pattern wants a blank in front of each word; a clause begins without one.
    ahead = " " + low[position : position + 60]
    aux = grammar.aux.match(ahead)
    words = aux[0] if aux else ""
    if not words.strip():
        return position, ""
    behind = position + len(words) - 1
    return behind + (low[behind : behind + 1] == " "), words


def _verb(
    statement: RuleStatement,
    scene: Scene,
    grammar: Grammar,
    names_at: NamesAt,
    position: int,
    subject: str | None,
    explicit: bool,
) -> list[Claim]:
    low = statement.low
    aux = grammar.aux.match(low, position)
    begin = aux.end() if aux else position
    around = low[position:begin]
    if low[begin : begin + 1] == " ":
        begin += 1
    if not explicit and statement.language == "en":
        begin, around = _around(grammar, low, position)
    if statement.language == "en" and low.startswith(("m ", "ve "), position):
        begin, around = position + (2 if low[position] == "m" else 3), "'m" if low[position] == "m" else "'ve"
        begin, more = _around(grammar, low, begin)
        around += more
    made = _said_by(statement, scene, grammar, names_at, begin, around, subject, explicit)
    if not made and (own := _OWN.search(around)):
        # "Have" was taken for a helper, but no verb followed that says anything: it is the verb itself.
        first = (
            begin
            - len(around)
            + own.start(1)
            - (1 if low[begin - 1 : begin] == " " and not around.endswith(" ") else 0)
        )
        made = _said_by(statement, scene, grammar, names_at, first, around[: own.start()], subject, explicit)
    return made


def _said_by(
    statement: RuleStatement, scene: Scene, grammar: Grammar, names_at: NamesAt, begin: int, around: str, subject: str | None,
    explicit: bool,
) -> list[Claim]:  # fmt: skip
    """The facts of the verb at `begin`."""
    word = _WORD.match(statement.low, begin)
    if word is None:
        return []
    for rule, pattern in grammar.verbs.get(word[0], ()):
        match = pattern.match(statement.low, begin)
        if match is None or (rule.person == 3 and (subject is None or subject == scene.speaker)):
            continue
        unmarked = word[0].endswith(("ico", "ica", "sado", "sada", "tido", "tida")) and subject is not None
        who = (
            scene.speaker
            if (rule.person == 1 and not unmarked) or (rule.person == 0 and subject is None)
            else subject
        )
        made = _claims_of(
            statement, scene, grammar, names_at, rule, match, around, who or scene.speaker, explicit
        )
        if made:
            return made
    return []


def _claims_of(
    statement: RuleStatement, scene: Scene, grammar: Grammar, names_at: NamesAt, rule: Rule, match: re.Match[str], around: str,
    subject: str, explicit: bool,
) -> list[Claim]:  # fmt: skip
    low = statement.low
    tail = low[match.end() : match.end() + 120]
    over = bool(grammar.ended.search(around) or (grammar.anymore.search(tail)))
    negative = bool(grammar.negative.search(around)) and not grammar.ended.search(around)
    if statement.language == "es":
        if (
            rule.person == 0
            and "me " not in around
            and "nos " not in around
            and not (explicit and "le " in around)
        ):
            return []
        if rule.person == 1 and re.search(r"\b(?:le|les|te)\b", around):
            return []
    if grammar.ahead.search(around) and not over and not rule.needs_not and not match[0].startswith("rather"):
        return []
    be = (
        bool(re.search(r"'m|'s|'re|\b(?:am|is|are|was|were|been|be|estoy|está)\b", around))
        or match[0].split()[0] in _BARE_BE
    )
    if (
        rule.needs_be
        and not be
        and not (not explicit and rule.predicate == "likes" and subject == statement.message.speaker)
    ):
        return []
    if (
        be
        and not rule.needs_be
        and not match[0].split()[0].endswith("ing")
        and word_of(match) not in _PASSIVE
        and statement.language == "en"
    ):
        return []
    predicate, ends = rule.predicate, rule.ends
    if rule.needs_not and not (negative or match[0].startswith("not ")):
        return []
    denied = (
        negative and not over and not rule.needs_not and predicate != "likes"
        and _is_denied(statement, rule, around)
    )  # fmt: skip
    over = over or denied
    if negative and not over and not rule.needs_not:
        if predicate != "likes" or match[0].split()[0] in {
            "love",
            "loves",
            "adore",
            "adores",
            "encanta",
            "encantan",
        }:
            return []
        predicate = "dislikes"
    past = bool(grammar.past.match(match[0])) or bool(re.search(r"\b(?:was|were|did|had)\b", around))
    have = bool(grammar.have.search(around))
    if past and not have and not ends and not over:
        if rule.past == "skip":
            return []
        if rule.past == "ended":
            over = not low[match.end() :].count(" ever since")
    confidence = rule.confidence - (0.1 if not explicit and statement.language == "en" else 0.0)
    objects = object_at(statement, names_at, scene.dates, grammar, match, rule)
    since = next((date.start for date in scene.dates if date.side == "since"), None)
    held = None if ends or over else since
    made = [
        Claim(
            subject, thing.predicate or predicate, thing.text, thing.begin, thing.stop, ends or over, confidence, held,
            thing.is_name
        )
        for thing in objects
    ]  # fmt: skip
    if made and not (ends or over) and rule.past == "same":
        moment = next(
            (date.start for date in scene.dates if date.side == "at" and date.start <= statement.message.at),
            None,
        )
        if moment is not None and since is None:
            made = [replace(claim, valid_from=moment) for claim in made]
    if denied and objects and (rather := _RATHER.match(low, objects[-1].stop)):
        made += [
            Claim(
                subject,
                predicate,
                thing.text,
                thing.begin,
                thing.stop,
                False,
                confidence,
                None,
                thing.is_name,
            )
            for thing in object_at(statement, names_at, scene.dates, grammar, rather, rule)
        ]
    if made and rule.left and (left := match.groupdict().get("left")):
        begin = match.start("left")
        written = grammar.article.sub("", statement.text[begin : begin + len(left)], count=1).strip()
        if rule.left != "lives_in" or begin in names_at or statement.text.islower():
            made.append(
                Claim(
                    subject, rule.left, written, begin, begin + len(left), True, confidence - 0.1, None, True
                )
            )
    return made


def _is_denied(statement: RuleStatement, rule: Rule, around: str) -> bool:
    """Whether a "not" ends what was claimed before: in a correction, or of a condition that one has or has not."""
    certain = _NOT_ALONE.search(around) is None
    return certain and (statement.corrected or statement.was_wrong or rule.predicate == "allergic_to")


def word_of(match: re.Match[str]) -> str:
    """The verb that a rule's pattern began with."""
    return match[0].split()[0]


def _is_personlike(low: str, name: Name) -> bool:
    """Whether what follows a name speaks of a person ("Emma works", "my sister Emma")."""
    ahead = low[max(0, name.begin - 24) : name.begin]
    behind = low[name.stop : name.stop + 24]
    if name.opens and not re.match(r"'?s? \w+", behind):
        return False
    return bool(
        re.search(
            rf"\b(?:my|our|mi|nuestr[oa]|his|her|with|con|called|named|met|tell|told) (?:[a-z-]+ )?(?:{ROLE} )?,? ?$",
            ahead,
        )
        or re.match(
            r" (?:is|was|has|works|lives|loves|likes|hates|wants|needs|said|told|moved|got|called|and i|vive|trabaja"
            r"|es|tiene)\b",
            behind,
        )
    )


def _without_repeats(found: list[Claim]) -> list[Claim]:
    seen: dict[tuple[str, str, str], Claim] = {}
    for claim in found:
        seen.setdefault((claim.subject.lower(), claim.predicate, claim.object.lower()), claim)
    return list(seen.values())
