"""What of a conversation may be read for distilling: nothing off the record, nothing that came out of a prompt, no secrets.

All of it is pure. A message keeps its length while parts of it are blanked, so that a span in what is read is one in the
message; and its number is its place in what was handed in, so that numbers lead back to messages.

Off the record:
- the message's own flag, or a mark at its start ("off the record", "don't remember this"), covers the whole message; so does a
  mark that looks back ("... but don't remember that", "forget I said that") or that ends it;
- "off the record:" in the middle covers the rest, up to "back on the record" if that follows;
- a message that is nothing but the mark opens a stretch: what follows in the thread is off the record, whoever says it, until
  "back on the record" or a gap of more than six hours (as long as a session's). `before` carries such a stretch into the window.
What is off the record stays a message, kept and recalled like any other; it is never distilled.

Text that came out of a prompt (row J6): messages of the system, blocks that bear Everlore's own mark, summaries that a client
makes when it compacts a conversation, system prompts that come back, and what the store knows to have been handed out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from uuid import UUID

from everlore.ports.analyst import WindowMessage
from everlore.text.prompt_marks import MARK
from everlore.text.secrets import mask, redact
from everlore.text.shingles import is_copy, paragraphs

__all__ = ["MARK", "RawMessage", "Span", "mark", "mask", "off_the_record", "readable", "redact"]

Span = tuple[int, int]

_GAP = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A stored message as the load phase reads it. `named`: whether `author` is a name and not just the role."""

    message_id: UUID
    position: int
    role: str
    author: str
    named: bool
    at: datetime
    text: str
    captions: tuple[str, ...] = ()
    off_the_record: bool = False
    system_prompt: str | None = None


def mark(text: str) -> str:
    """A block for a prompt that is known again when it comes back in a transcript."""
    return f"<{MARK}>\n{_OWN_TAG.sub('', text)}\n</{MARK}>"


def readable(
    messages: Sequence[RawMessage], echoes: Sequence[Sequence[Span]], *, before: Sequence[RawMessage] = ()
) -> tuple[WindowMessage, ...]:
    """What may be read of `messages`. The n-th has the number n; one of which nothing is left is missing.

    `echoes`: per message the stretches that the store knows to have been handed out. `before`: earlier messages of the
    thread, for a stretch off the record that began there and for system prompts.
    """
    silent = _silences([*before, *messages])[len(before) :]
    prompts = _prompts([*before, *messages])
    read: list[WindowMessage] = []
    for number, (message, echoed, hidden) in enumerate(zip(messages, echoes, silent, strict=True), start=1):
        if hidden or message.role == "system":
            continue
        spans = [*off_the_record(message.text), *echoed, *_handed_back(message.text, prompts)]
        text = mask(_blanked(message.text, spans))
        # A picture belongs to what is said with it: if that may not be read at all, neither may the caption.
        captions = tuple(map(mask, message.captions)) if text.strip() or not message.text.strip() else ()
        if text.strip() or captions:
            speaker = message.author if message.named else message.role
            read.append(WindowMessage(number, message.role, speaker, message.at, text, captions))
    return tuple(read)


# --- off the record ----------------------------------------------------------------------------------------

# The wish is over here: what follows it is punctuation, a reason, or nothing. "Don't store this cheese" goes on.
_DONE = (
    r"(?=\s{0,3}(?:$|[^\w\s'’])|\s{1,3}(?:and|but|because|since|please|ok|okay|though|as|yet|ever|either|anywhere|about me"
    r"|(?:in|to) (?:your |the )?memory|y|pero|porque|und|aber|weil|denn|mais|et|car|mas|e|ma|perché)\b)"
)
# What was said, as what a wish is about.
_WORDS = (
    rf"(?:(?:this|that|it|any of (?:this|that|it))(?: one| part| bit| conversation| message| chat)?(?: down)?{_DONE}"
    r"|what i(?:['’]?ve| have| am|['’]?m)? (?:just )?(?:say|said|tell you|told you|telling you|saying)\b"
    r"|that (?:i|my|we|our)\b)"
)
_OFF = re.compile(
    r"off[ -]the[ -]record|not for the record"
    r"|(?:(?:strictly )?between|(?:(?:stays?|remains?|keep (?:this|that|it)) (?:strictly )?(?:just )?between)) (?:you and me|us)"
    r"(?: only)?(?=\s*[:,.!–—-]|\s*$)"
    rf"|(?:please )?(?:do not|don['’]?t|never) (?:ever )?(?:remember|memori[sz]e|store|save|record|keep|note|log|write)"
    rf"(?: (?:down )?{_WORDS}|(?=\s?[:.!]|\s*$))"
    r"|(?:please )?(?:keep|leave) (?:this|that|it|what i (?:just )?(?:said|told you)) out of"
    r" (?:your |the )?(?:memory|records?|notes)"
    r"|(?:please )?(?:forget|un-?remember) (?:that )?i (?:ever |just )?(?:said|told you|mentioned)\b"
    r"|(?:please )?(?:forget|ignore|delete|erase) what i(?:['’]?ve| have)? just (?:said|told you|mentioned)"
    r"|olvida (?:que te|lo que (?:te )?(?:acabo|dije|he dicho|conté))|oublie (?:que je|ce que je) (?:t['’]ai|viens)"
    r"|vergiss,? (?:dass|was) ich (?:dir|eben|gerade|das)|scratch that from (?:your |the )?memory"
    r"|(?:por favor,? )?no (?:(?:lo |la |me lo )(?:recuerdes|guardes|memorices|apuntes|anotes)"
    rf"|(?:recuerdes|guardes|memorices|apuntes|anotes)(?: (?:nada de )?(?:esto|eso)\b|{_DONE}))"
    r"|extraoficialmente|fuera de (?:registro|micrófono)|(?:esto|eso|que) (?:se )?quede?(?:a)? entre nosotros|que no conste"
    rf"|(?:bitte )?(?:merke?|speichere?|notiere?) (?:dir )?(?:das|dies|es) (?:bitte )?nicht{_DONE}"
    r"|(?:^|(?<=[.:,;!?]\s)|bitte )(?:das |dies )?nicht (?:merken|speichern|notieren)|(?:bleibt?|bleiben muss) unter uns"
    r"|behalte? das (?:bitte )?für dich|unter uns gesagt|inoffiziell gesagt"
    r"|ne (?:te souviens|(?:re|main)tiens|garde|note|enregistre|mémorise|sauvegarde)[sz]? pas (?:de )?(?:ça|cela|ceci)"
    r"|(?:reste|garde[rz]? (?:ça|cela)|que ça reste) entre nous|entre nous soit dit"
    r"|não (?:guarde|memorize|lembre|salve|anote)s? (?:isso|isto)|(?:fica|só) entre nós"
    r"|non (?:ricordare|memorizzare|salvare|annotare) (?:quest[oa]|ciò)|detto tra noi|rest[ai] tra noi"
    r"|onthoud dit niet|kom inte ihåg (?:det|detta)",
    re.IGNORECASE,
)
_ON = re.compile(
    r"(?:back|again) on (?:the )?record|(?:on the record|you (?:can|may) remember) (?:again|now|from here)"
    r"|de nuevo (?:en el registro|oficialmente)|puedes (?:volver a )?recordar (?:de nuevo|otra vez)",
    re.IGNORECASE,
)
# What looks back covers what was said before it as well.
_LOOKS_BACK = re.compile(
    r"remember|memori|store|save|keep|leave|note|log|write|forget|ignore|delete|erase|scratch|vergiss|olvida"
    r"|oublie|record (?:this|that|it)|not for|recuerd|guard|anot|apunt|merk|speicher|notier|behalt",
    re.IGNORECASE,
)
# "I don't remember that", "she will never forget", "don't forget", "he told me off the record", "our EP is called Off the
# Record": told, or the name of something, and not asked for.
_NOT_ASKED = re.compile(
    r"(?:(?<!\w)(?:i|we|you|they|he|she|who|people|really|just|still|even|yo|ya|ich|wir)"
    r"|(?<!\w)(?:i|we|they|he|she|who|people|\w+['’]ll)(?: (?:will|would|can|could|did|do|does|may|might))?"
    r"|(?:do not|don['’]?t|never|not|won['’]?t|can['’]?t|cannot|will|didn['’]?t)"
    r"|struck|strike|taken?|stricken|spoke|speak|speaking|told (?:me|us|him|her|them)|said|talk(?:ed)?"
    r"|called|named|titled|album|show|podcast|book|film|movie|series|song) (?:it |that |this )?$",
    re.IGNORECASE,
)
# "Forget what I just said about Tuesday, it's Wednesday" puts something right; "..., I shouldn't have told you" does not.
_CORRECTS = re.compile(
    r"(?:forget|ignore|delete|erase) what i\b|olvida lo que|oublie ce que|vergiss,? was ich", re.IGNORECASE
)
# "Off the record, he told reporters, the deal is dead" reports.
_REPORTED = re.compile(
    r",?\s{1,3}(?:he|she|they|(?:the )?(?:sources?|officials?|police)) (?:told|said|says|admitted|confirmed|added)\b",
    re.IGNORECASE,
)
_PUT_RIGHT = re.compile(
    r"[^.!?\n]{0,60}?(?:[,;:–—]|\bbecause\b)\s{0,3}(?!(?:please|ok|okay|thanks?|thank you"
    r"|por favor|gracias|bitte|danke|merci|i should|(?:it|that)(?:['’]s| is| was)"
    r" (?:private|secret|personal|confidential|embarrassing|nothing))\b)\w+\W{1,3}\w",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\b(?:ok|okay|so|now|this|is|it's|that's|let's|let us|go|we|we're|we are|are|be|please|hey|a|moment|minute|second|for|from"
    r"|here|on|everything|the next|part|just|going|can|speak|talk|stay|keep|esto|es|ahora|por favor|vale|bueno)\b|[^\w]+",
    re.IGNORECASE,
)


# A message is looked at with each window that it is shown to: the last answers are kept.
@lru_cache(maxsize=1024)
def off_the_record(text: str) -> tuple[Span, ...]:
    """The stretches of a message that its own words put off the record."""
    spans: list[Span] = []
    at = looked = 0
    nothing_before = True
    while match := _OFF.search(text, at):
        at = match.end()
        if not _is_wish(text, match):
            continue
        if ended := _ON.search(text, at):
            at = ended.end()
        end = at if ended else len(text)
        nothing_before = nothing_before and not _says(text[looked : match.start()])
        looked = match.start()
        covers_all = nothing_before or _LOOKS_BACK.search(match[0]) or not _says(text[match.end() : end])
        if covers_all:
            spans = [(0, end)]
        else:
            spans.append((match.start(), end))
        if not ended:
            break
    return tuple(spans)


def _is_wish(text: str, match: re.Match[str]) -> bool:
    if _NOT_ASKED.search(text, max(0, match.start() - 24), match.start()):
        return False
    if _REPORTED.match(text, match.end()):
        return False
    return not (_CORRECTS.search(match[0]) and _PUT_RIGHT.match(text, match.end()))


def _says(text: str) -> bool:
    """Whether there is more in it than the words around a mark."""
    return bool(_FILLER.sub("", text))


def _silences(messages: Sequence[RawMessage]) -> list[bool]:
    """Which messages lie in a stretch off the record, those that open and close it included."""
    silent: list[bool] = []
    last: datetime | None = None
    open_ = False
    for message in messages:
        if open_ and last is not None and abs(message.at - last) > _GAP:
            open_ = False
        last = message.at
        here = open_ or message.off_the_record
        if open_ and _ON.search(message.text):
            # What is said after it in the same message is hidden too: one message too many, never one too few.
            open_ = False
        elif not open_ and _only_a_mark(message.text):
            open_ = here = True
        silent.append(here)
    return silent


@lru_cache(maxsize=1024)
def _only_a_mark(text: str) -> bool:
    match = _OFF.search(text) if len(text) <= 200 else None
    if match is None or _LOOKS_BACK.search(match[0]):
        return False
    return not _says(text[: match.start()] + text[match.end() :])


# --- what comes back ---------------------------------------------------------------------------------------

_OWN_TAG = re.compile(rf"</?{MARK}>")
_OWN_BLOCK = re.compile(rf"<{MARK}>.*?(?:</{MARK}>|\Z)", re.DOTALL)
_TAGGED = re.compile(
    r"<(?P<tag>summary|conversation[_-]summary|previous[_-]conversation|system[_-]reminder|system[_-]prompt|memor(?:y|ies)"
    r"|context[_-]summary|compaction)>.*?(?:</(?P=tag)>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\s{0,20}(?:[#*_>-]{1,6}\s{0,3})?(?:"
    r"this session is being continued from a previous conversation"
    r"|(?:here is |below is |the following is )?(?:a |the )?(?:compacted |condensed |running )?"
    r"(?:summary|recap) of (?:the|our|this|your) (?:previous |earlier |prior )?(?:conversation|session|chat|discussion)"
    r"|(?:previous|earlier|prior) (?:conversation|session|chat|context) (?:summary|history)"
    r"|(?:conversation|session|chat|context|compaction) summary\b"
    r"|the (?:conversation|context) (?:so far )?(?:has been|was) (?:summari[sz]ed|compacted|compressed)"
    r"|\[?(?:conversation|context) (?:compacted|truncated|summary)"
    r"|resumen de (?:la|nuestra) conversación|zusammenfassung (?:des|unseres) (?:bisherigen )?gesprächs"
    r"|résumé de (?:la|notre) conversation)",
    re.IGNORECASE,
)


def _handed_back(text: str, prompts: frozenset[int]) -> list[Span]:
    """The stretches of a message that bear the marks of a prompt, or stand in a system prompt of the thread."""
    if _SUMMARY.match(text):
        return [(0, len(text))]
    spans = [match.span() for pattern in (_OWN_BLOCK, _TAGGED) for match in pattern.finditer(text)]
    if prompts:
        spans += [(one.start, one.end) for one in paragraphs(text) if is_copy(one, prompts)]
    return spans


def _prompts(messages: Sequence[RawMessage]) -> frozenset[int]:
    """The runs of words of all system prompts and system messages."""
    texts = {message.system_prompt for message in messages if message.system_prompt}
    texts |= {message.text for message in messages if message.role == "system"}
    return frozenset(run for text in texts for paragraph in paragraphs(text) for run in paragraph.shingles)


def _blanked(text: str, spans: Sequence[Span]) -> str:
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        parts += (text[at:start], re.sub(r"[^\n]", " ", text[max(at, start) : end]))
        at = max(at, end)
    return "".join((*parts, text[at:]))
