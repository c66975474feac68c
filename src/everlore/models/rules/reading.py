"""Reads a message: which of its sentences the speaker states, as true, with their own words."""

import re
from dataclasses import dataclass

from everlore.models.rules.refusals import (
    FICTION_BEGINS,
    FICTION_ENDS,
    MATERIAL,
    OFF_BEGINS,
    OFF_ENDS,
    QUESTION_OPENS,
    REQUEST,
    SECRET,
    SMALL_TALK,
    STATED_AHEAD,
    WHOLE,
    believed_part,
)  # fmt: skip
from everlore.ports.analyst import WindowMessage
from everlore.text.folding import lowered
from everlore.text.languages import Language, language_of
from everlore.text.sentences import HIDDEN, Sentence, hide, sentences

MAX_READ_CHARACTERS = 20_000  # what stands behind that in one message is material, not talk
_TELLING_LETTERS = 6


@dataclass(frozen=True, slots=True)
class RuleStatement:
    """A sentence that may be believed. `low` is `text` in lower case, hidden stretches blanked, place by place."""

    message: WindowMessage
    language: Language
    text: str
    low: str
    begin: int  # in the message
    place: float  # 0 for the first sentence of the message, 1 for the last
    corrected: bool = False  # it mends what was said before
    was_wrong: bool = False  # and says so: what it states was so all along


@dataclass(frozen=True, slots=True)
class MessageReading:
    """The statements of a message, the standing requests ("remind me to ...") among them, and what follows for the next ones."""

    statements: tuple[RuleStatement, ...]
    fiction: bool = False  # the message leaves the conversation in a made-up world
    joke: bool = False  # the message says that what came before it was a joke
    language: Language = "en"


_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_BRACES = re.compile(r"[{\[][^{}\[\]\n]{0,400}[:=][^{}\[\]\n]{0,400}[}\]]")
_QUOTED_LINE = re.compile(r"^[ \t]{0,3}(?:>|\|).*$", re.MULTILINE)
_LOG_LINE = re.compile(
    r"^[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d(?::\d\d)?\]|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL"
    r"|TRACE|CRITICAL)\b"
    r"|Traceback |File \"|at [\w.$]+\(|\$ |>>> |[{}\[\]<].*[{}\]>,;]$|[\w.]+(?:Error|Exception): |\w{3} \d\d \d\d:\d\d:\d\d"
    r"|(?:From|To|Cc|Subject|Date|Sent): |(?:def|class|import|from|const|let|var|return|SELECT|INSERT|#include) ).*$",
    re.MULTILINE,
)
_HEADER = re.compile(r"^[ \t]*(?:From|To|Cc|Subject|Date|Sent|Von|An|Betreff|De|Para|Asunto): ", re.MULTILINE)
_SCRIPT_LINE = re.compile(r"^[ \t]*[^\W\d_][\w .'-]{0,24}:[ \t]+\S.*$", re.MULTILINE)
# One line of somebody else's, who speaks in the first person. "Update: I ..." is the speaker's own.
_ONE_LINE = re.compile(
    r"(?!(?:Update|Note|Reminder|Todo|Edit|News|Correction|Fact|Status|Context|Quick|Also|PS|Ps|Nota|Plan|Question|Me)\b)"
    r"[A-ZÀ-Þ][a-zà-ÿ]+: +(?:I|I'm|My|We|Yo|Soy|Mi)\b"
)
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|(?<!\w)'[^'\n]{12,300}'(?!\w)"
    r"|(?<!\w)‘[^’\n]{12,300}’(?!\w)"
)
_PERSONAL = re.compile(r"\b(?:i|i'm|my|me|mine|we|our|you|your|yo|mi|mis|me|soy|tengo|vivo|he|she)\b")
_TITLE_AHEAD = re.compile(
    r"\b(?:called|named|titled|favou?rite \w+ (?:is|was)|read(?:ing)?|watch(?:ed|ing)?|book|film|movie|song|album"
    r"|novel|game|series|libro|película|canción|se llama)[ ,:]*$"
)
_SPEECH_AHEAD = re.compile(
    r"(?:\b(?:said|says|say|saying|wrote|writes|reads|asked|asks|replied|told \w+|goes|like|dijo|dice|escribió|pone"
    r"|called it|quote)"
    r"|:)[ ,:]*$"
)
_CONDITION = re.compile(r",? (?:if|in case|unless) |,? por si (?:acaso )?")
_CONDITIONAL = re.compile(
    r"\b(?:would|could|might|may|will|want|hope|plan|going to|gonna|can|should|only|even|what|as|wonder|know|asked?"
    r"|not sure|see)\b|'ll\b|'d\b"
)
_BROKEN = re.compile(
    r"\b(?:just kidding|kidding(?! myself)|jk|joking|not really|es broma|era broma|bromeo|just messing)\b|(?:^|\s)/s\b"
)
_CORRECTION = re.compile(
    r"^(?:oh |wait |oops |no,? |ah |actually )*(?:(?:i|we) (?:got|wrote|said|had|put|mixed) (?:that|it|this) (?:wrong|up)|sorry"
    r"|oops|correction|my mistake|my bad|(?:scratch|scrap) that|i meant|i mean|actually"
    r"|typo|perdón|perdona|quise decir"
    r"|quería decir|corrección|me equivoqué|en realidad|mejor dicho|i misspoke|wait)\b|\bi meant\b|\bmy mistake\b"
    r"|\bnot .{1,40}, sorry\b|^\*\w|^[\w' :]{2,30}, not (?:on |at |in |the )?[\w' :]{2,25}[.!]?$|\bquise decir\b"
)
# Said of what was said before, not of what has changed since.
_WAS_WRONG = re.compile(
    r"\b(?:correction|my mistake|typo|i misspoke|(?:i|we) (?:got|wrote|said|had|put|mixed) (?:that|it|this) (?:wrong|up)|i meant"
    r"|quise decir|quería decir|corrección|me equivoqué)\b"
)
_HAS_CHANGED = re.compile(r"\b(?:now|moved|new|since|these days|switched|changed|ahora|ya|nuev[oa])\b")
# "..., don't I?" asks; so does "..., right?".
_TAG = re.compile(
    r",\s*(?:(?:do|does|did|is|are|am|was|were|have|has|had|can|could|will|would|should|ai)(?:n't|nt| not)? (?:i|you|we|he|she"
    r"|it|they|there)(?: not)?|right|correct|eh|no|verdad|oder|nicht wahr|n'est-ce pas)\s*\?+$"
)
_AS_A_JOKE = re.compile(r"\b(?:as a joke|jokingly|in jest|as a prank|de broma|en broma)\b")
_REMIND = re.compile(
    r"\b(?:remind me|don't let me forget|do not let me forget|remember(?: that)? (?:i|my|we|our)\b"
    r"|(?:please )?(?:remember|note) (?:that|this)|(?:don't|do not) forget|set (?:a|an) (?:reminder|alarm)"
    r"|note to self|recuérdame|recuerda que|no (?:te )?olvides|ten en cuenta|apunta que|anota que|for (?:the"
    r"|your) record|keep in mind)\b"
)
# "Please use my new address, my e-mail is ...": behind the request something is stated.
_OWN_PART = re.compile(r"[,;:.–—] (?=(?:my|our) [\w ]{2,30} (?:is|are) |(?:i am|i'm|mi \w+ es) )")
_TO_ANYBODY = re.compile(r"(?:can|could|would|will|does|did|has|is|do) (?:any|some)(?:one|body)\b")
_STANDING = re.compile(
    r"\b(?:from now on|going forward|in (?:the )?future)\b|^(?:please )?(?:always|never) \w|\bwhen(?:ever)? i (?:ask"
    r"|say|write|send|tell)\b|^(?:please |just |you can |do )?(?:call|address) me\b"
    r"|\bkeep (?:your |the |all |my )?(?:answers|replies|responses|summaries|explanations)\b"
    r"|\b(?:a partir de ahora|de ahora en adelante)\b|^(?:por favor,? )?(?:siempre|nunca) \w|\bllámame\b"
)


def read(message: WindowMessage, *, fiction: bool = False) -> MessageReading:
    """What `message` states. `fiction`: the conversation was in a made-up world before it."""
    text = message.text[:MAX_READ_CHARACTERS]
    if not any(one.isalnum() for one in text):
        return MessageReading((), fiction)
    low = lowered(text)
    if any(pattern.search(low) for _, pattern in WHOLE):
        return MessageReading((), fiction)
    language = language_of(text)
    low = _without_strange_words(text, low)
    if fiction:
        ends = FICTION_ENDS.search(low)
        if ends is None:
            return MessageReading((), fiction=True, language=language)
        low = hide(low, 0, ends.end())
    begins, ends = FICTION_BEGINS.search(low), None
    if begins:
        ends = FICTION_ENDS.search(low, begins.end())
        stop = ends.end() if ends else len(low)
        low = hide(low, max(0, low.rfind("\n", 0, begins.start()) + 1, _last_stop(low, begins.start())), stop)
    if off := OFF_BEGINS.search(low):
        back = OFF_ENDS.search(low, off.end())
        low = hide(
            low,
            max(0, low.rfind("\n", 0, off.start()) + 1, _last_stop(low, off.start())),
            back.end() if back else len(low),
        )
    material = MATERIAL.search(low)
    if material:
        low = hide(low, material.end(), len(low))
    stays = bool(
        begins
        and not ends
        and re.search(
            r"role.?play|pretend|play (?:a|the)|act as|you(?:'re| are) now|juego de rol", low + begins[0]
        )
    )
    return MessageReading(
        _statements(message, text, low, language), stays, bool(_BROKEN.search(low)), language
    )


def _last_stop(low: str, before: int) -> int:
    """Behind the last full stop in front of `before`."""
    return max(low.rfind(mark, 0, before) for mark in (". ", "! ", "? ")) + 1


def _without_strange_words(text: str, low: str) -> str:
    """`low` with code, quoted lines, logs, pasted scripts and quotations hidden."""
    for pattern in (_FENCE, _BRACES, _QUOTED_LINE, _LOG_LINE):
        for match in pattern.finditer(text):
            low = hide(low, *match.span())
    headers = list(_HEADER.finditer(text))
    if len(headers) >= 2:
        low = hide(low, headers[0].start(), len(low))
    script = list(_SCRIPT_LINE.finditer(text))
    if len(script) >= 2 or (script and _ONE_LINE.match(script[0][0])):
        for match in script:
            low = hide(low, *match.span())
    for match in _QUOTATION.finditer(low):
        inside = match[0][1:-1]
        words = inside.split()
        spoken = _SPEECH_AHEAD.search(low[max(0, match.start() - 24) : match.start()])
        written = text[match.start() + 1 : match.end() - 1]
        if len(words) > 1 and (
            spoken or not _is_title(written, low[max(0, match.start() - 30) : match.start()])
        ):
            low = hide(low, *match.span())
    return low


def _is_title(inside: str, ahead: str) -> bool:
    """Whether what stands in quotation marks is the name of something rather than what somebody said."""
    words = inside.split()
    if len(words) > 8 or _PERSONAL.search(inside.lower()):
        return len(words) <= 8 and _TITLE_AHEAD.search(ahead) is not None
    return len(words) <= 3 or 2 * sum(word[:1].isupper() for word in words) >= len(words)


def _statements(message: WindowMessage, text: str, low: str, language: Language) -> tuple[RuleStatement, ...]:
    # Cut where the hidden text still has its marks, so that a hidden quotation does not glue two sentences together.
    cut = sentences(low)
    kept: list[RuleStatement] = []
    for number, sentence in enumerate(cut):
        said = low[sentence.start : sentence.end]
        if _BROKEN.search(said):
            kept.clear()
            continue
        stated = _stated(sentence, said, language)
        if stated is None:
            continue
        begin, end = stated
        inner = _unconditioned(low[begin:end])
        inner = hide(inner, believed_part(inner, language), len(inner))
        kept.append(
            RuleStatement(
                message,
                language,
                text[begin:end],
                inner,
                begin,
                number / max(1, len(cut) - 1),
                bool(_CORRECTION.search(inner)),
                bool(_WAS_WRONG.search(inner)) and not _HAS_CHANGED.search(inner),
            )
        )
    return tuple(kept)


def _stated(sentence: Sentence, said: str, language: Language) -> tuple[int, int] | None:
    """The characters of the sentence that are stated, or None."""
    begin, end = sentence.start, sentence.end
    letters = sum(one.isalpha() for one in said)
    if letters < _TELLING_LETTERS or said.count(HIDDEN) > 0.35 * len(said):
        return None
    bare = said.rstrip("\"'”’»)] *_")
    if _TAG.search(bare) or _AS_A_JOKE.search(said):
        return None
    if bare.endswith("?") or said.startswith("¿"):
        ahead = list(STATED_AHEAD.finditer(said))
        if not ahead or ahead[0].start() < 12 or said.startswith("¿"):
            return None
        if QUESTION_OPENS.get(language, QUESTION_OPENS["en"]).match(said):
            return None
        end = begin + ahead[0].start()
        said = said[: ahead[0].start()]
    if _TO_ANYBODY.match(said):
        return None
    standing = _REMIND.search(said) or _STANDING.search(said)
    if not standing:
        request = REQUEST.get(language)
        if SMALL_TALK.match(said) or (request and request.match(said)):
            own = _OWN_PART.search(said)
            if own is None:
                return None
            begin, said = begin + own.end(), said[own.end() :]
        opens = QUESTION_OPENS.get(language)
        if opens and opens.match(said):
            return None
    if SECRET.search(said) or not believed_part(_unconditioned(said), language):
        return None
    return begin, end


def _unconditioned(said: str) -> str:
    """The sentence with a condition at its end hidden, where what stands in front of it holds without ("...,
    if you need it")."""
    match = _CONDITION.search(said, 15)
    if match is None or _CONDITIONAL.search(said, 0, match.start()):
        return said
    return hide(said, match.start(), len(said))
