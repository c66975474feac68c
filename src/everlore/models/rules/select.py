"""Chooses which statements of a window become memories, and what each of them weighs."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from everlore.domain.memories import MemoryType
from everlore.models.rules.judge import DROPPED_I, STRONG, Looked, type_of
from everlore.models.rules.kinds import ELSEWHERE, WEIGHTS, kind_of
from everlore.models.rules.reading import RuleStatement
from everlore.text.clock import clock
from everlore.text.lexicon import words as listed_words

MIN_WORDS = 2
_LASTING: Final = frozenset(("reminder", "task", "blocker", "preference"))
# Words that say nothing by themselves. What is left of a statement must be enough to be understood alone.
_EMPTY: Final = listed_words("empty_words")
_WORD: Final = re.compile(r"[^\W\d_][\w'-]*|\d+")
_FIRST: Final = re.compile(
    r"\b(?:i|i'm|i've|i'll|i'd|im|ive|my|me|mine|we|we're|we've|we'll|our|us|myself|yo|mi|mis|me|nos|nuestr[oa]s?|soy"
    r"|tengo|estoy|vivo|trabajo|voy|uso"
    r"|prefiero|quiero|hemos|vamos|fui|ya no|suelo|solemos|llevo|acabo|curro|odio|toco|hablo|juego|corro|como|salgo|hago"
    r"|necesito|debo|tengo|estoy|estaba|tenía|vivía|voy|vengo|sé|puedo|podemos|pienso|espero|ceno|desayuno|madrugo|entreno"
    r"|nado|leo|escribo|estudio|trabajo|vivo|conduzco|he \w+[ai]do|hay que|que no se me|nuestr[oa]|gotta|wanna|dont|havent"
    r"|\w{3,}(?:amos|emos|imos)|(?!café|bebé|porqué|chalé|sofá|comité)\w{2,}[éí])\b"
)
_VAGUE: Final = re.compile(
    r"^(?:it|that|this|these|those|they|which|he|she|you|your)(?:'s|'re|'ll|'d| )\b|^(?:there(?:'s| is| are|'re))\b"
    r"|^(?:eso|esto|ese|esa|tú|tu|te) "
)
_TO_YOU: Final = re.compile(r"\byou(?:'re| are|'ve| have|'ll| will| can| should| did)\b")
_SOFT: Final = re.compile(
    r"\b(?:kind of|kinda|sort of|i think|i feel like|a bit|somewhat|creo que|un poco|more or less)\b"
)
_MOOD: Final = re.compile(
    r"\b(?:i'm|i am|i feel|i'm feeling|feeling|estoy|i've been|i was) (?:\w+ )?(?:so |really |very |super |pretty "
    r"|a bit |quite |muy |feeling )*(?:tired|happy|glad|excited|bored|hungry|sleepy|sad|fine|good|great|ok|okay"
    r"|busy|exhausted"
    r"|stressed|sick|back|here|ready|done|sure|sorry|late|curious|thankful|grateful|proud|starving|freezing|cansad[oa]"
    r"|feliz|content[oa]|bien|mal|aburrid[oa]|list[oa])\b(?! at\b| with\b| in\b)"
)
_TRANSIENT: Final = re.compile(
    r"\b(?:right now|at the moment|brb|be right back|one sec|just a (?:sec|second|moment|minute)|in a (?:sec|minute"
    r"|moment)|hold on|the weather|it's raining|raining|sunny|lol|haha|give me a|i'm off to|below|attached"
    r"|the following|gotta (?:go|run)"
    r"|have to (?:go|run)\b(?: now|!|$)|need to (?:go|run)\b(?: now|!|$)|ahora mismo|hace (?:frío|calor)|un momento"
    r"|me tengo que ir|for lunch|coffee (?:break|now)|my coffee|this coffee)\b"
)
_DONE: Final = re.compile(
    r"\b(?:finished|completed|submitted|handed in|wrapped up|sent off|shipped|done|terminé|terminado|he acabado|acabé"
    r"|entregué|enviado|envié|paid|booked|fixed)\b"
)
_UNTIL: Final = re.compile(r"\b(?:due|deadline|by|until|before|plazo|entregar|antes)\b")
_ASSISTANT: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:just |now |already |also )?(?:booked|scheduled|created|set up|added|updated|deployed"
    r"|fixed|sent|ordered|configured|installed|reserved|changed|moved"
    r"|renamed|migrated|recommended|suggested|decided|chose|picked|merged|enabled|disabled|saved|upgraded|switched"
    r"|registered|submitted)\b"
    r"|\bi(?:'d| would)? (?:recommend|suggest)\b|\bmy recommendation\b|\b(?:he|hemos) (?:reservado|creado|configurado"
    r"|programado|añadido|enviado|actualizado|instalado|recomendado)\b|\b(?:te )?recomiendo\b"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A statement worth keeping. `salience` orders them; it is the importance as well."""

    statement: RuleStatement
    type: MemoryType
    salience: float
    confidence: float
    event_at: datetime | None
    expires_at: datetime | None
    reason: str
    done: bool = False


def choose(looked: Looked) -> Chosen | None:
    """The statement as a memory, or None if it is not worth one."""
    statement, low = looked.statement, looked.statement.low
    words = _WORD.findall(low)
    if len(words) < MIN_WORDS:
        return None
    if statement.message.role == "assistant":
        return _of_assistant(looked, words)
    first = _FIRST.search(low) is not None
    found = type_of(looked, kind_of(low, statement.language), first)
    if found is None:
        return None
    type_, sure = found
    stated, rare = bool(looked.claims) or looked.aliased, looked.rare
    if not stated and not _tells(looked, words, type_, sure, first):
        return None
    salience = _salience(statement, type_, first, len(words), rare)
    confidence = (
        0.85
        - (0.0 if first else 0.1)
        - (0.0 if sure or stated else 0.1)
        - (0.1 if _SOFT.search(low) else 0.0)
    )
    event_at, expires_at = _times(looked, type_)
    reason = f"states a {type_}" + (", names " + looked.names[0].text if looked.names else "")
    done = type_ in {"task", "event"} and bool(_DONE.search(low))
    return Chosen(statement, type_, salience, round(confidence, 2), event_at, expires_at, reason, done)


def _tells(looked: Looked, words: list[str], type_: MemoryType, sure: bool, first: bool) -> bool:
    """Whether it can be understood by itself and outlives the moment."""
    low, language, rare = looked.statement.low, looked.statement.language, looked.rare
    if (_VAGUE.search(low) or (_TO_YOU.search(low) and not (sure and first))) and not (
        first and rare and sure
    ):
        return False
    if rare == 0 and type_ not in _LASTING and (_MOOD.search(low) or _TRANSIENT.search(low)):
        return False
    personal = (
        first
        or looked.statement.corrected
        or (language == "other" and ELSEWHERE.search(low))
        or DROPPED_I.match(low)
    )
    if not personal and not rare and type_ not in STRONG | {"preference"}:
        return False
    telling = sum(word not in _EMPTY and not word.endswith("'s") for word in words)
    if sure:
        return telling >= (1 if rare or type_ in {"skill", "preference", "identity", "relationship"} else 2)
    return len(words) > 2 and telling >= 2


def _of_assistant(looked: Looked, words: list[str]) -> Chosen | None:
    """What the assistant did, advised or decided, if it is concrete."""
    statement, low = looked.statement, looked.statement.low
    if not _ASSISTANT.search(low) or not (looked.names or looked.marks or looked.dates) or len(words) < 5:
        return None
    decided = re.search(r"\bdecided\b|\bchose\b", low)
    event_at, _ = _times(looked, "event")
    return Chosen(
        statement,
        "decision" if decided else "note",
        0.3,
        0.4,
        event_at,
        None,
        "the assistant says what it did",
    )


def _salience(statement: RuleStatement, type_: MemoryType, first: bool, words: int, rare: int) -> float:
    low = statement.low
    strength = (1.0 if first else 0.5) - (0.3 if _SOFT.search(low) else 0.0)
    length = min(1.0, words / 8) if words < 8 else max(0.4, 1.0 - max(0, words - 40) / 60)
    place = 1.0 - 0.5 * statement.place
    rarity = min(1.0, rare / 3)
    return round(0.35 * WEIGHTS[type_] + 0.2 * strength + 0.15 * length + 0.1 * place + 0.2 * rarity, 3)


def _times(looked: Looked, type_: MemoryType) -> tuple[datetime | None, datetime | None]:
    """When it happens or happened, and from when it is out of view (reminders and dated tasks)."""
    dates = [date for date in looked.dates if date.side != "since"]
    if not dates or (
        type_ in {"habit", "identity", "skill"} and not any(date.grain == "day" for date in dates)
    ):
        return None, None
    date = next((one for one in dates if one.grain == "day"), dates[0])
    start = date.start
    said = clock(looked.statement.low)
    if said and date.grain == "day" and (date.end - date.start) <= timedelta(days=1):
        start = start.replace(hour=said[0], minute=said[1])
    expires = None
    if type_ in {"reminder", "task"} and date.end > looked.statement.message.at:
        expires = date.end
    return start, expires
