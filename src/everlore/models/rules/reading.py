"""What of a message its author states in their own words, cut into parts that the parser reads.

Hidden or left out: questions, code, logs, pasted and quoted text, fiction, jokes, secrets, what is off the record, what looks
like an order to a model, and every part that is not English. What a part writes in the short hand of a chat ("im", "dont",
"w/") is written out; each character keeps the place where it stands in the message.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from everlore.ports.analyst import WindowMessage
from everlore.text.folding import lowered
from everlore.text.languages import language_of
from everlore.text.lexicon import table, words
from everlore.text.sentences import HIDDEN, hide, sentences
from everlore.text.words import telling

MAX_READ_CHARACTERS: Final = 10_000  # what stands behind that in one message is material, not talk
_LEAST_WORDS: Final = 3
_MOST_PARTS: Final = 40


@dataclass(frozen=True, slots=True)
class Part:
    """Words that may state something. `places[n]`: where its character n stands in the message. `corrects`: it may mend what was
    said before; `was_wrong`: it says that this was never so. `joking`: it is not meant as it is said. `told`: who opens it, with
    what tells them from others of the name ("Tom from the gym"), where the text has the name alone. `inside`: words of the same
    sentence stand before it."""

    text: str
    places: tuple[int, ...]
    corrects: bool
    was_wrong: bool
    joking: bool
    told: str | None = None
    inside: bool = False


@dataclass(frozen=True, slots=True)
class MessageParts:
    """`fiction`: the message leaves the conversation in a made-up world. `takes_back`: it says that the message before was a
    joke."""

    parts: tuple[Part, ...]
    fiction: bool = False
    takes_back: bool = False


# A message with one of these is left out altogether: orders to a model, and what is not to be remembered.
_WHOLE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instruction|prompt|rule|guideline|direction|told)"
    r"|\b(?:system prompt|developer mode|jailbreak|new instructions?\s?:|end of prompt)"
    r"|</?(?:system|instructions?|memory|important)>|\[/?(?:system|inst)\]|<\|im_"
    r"|\b(?:store|save|record|add|write|remember|memori[sz]e)\b.{0,40}\b(?:in|to|into) (?:your|the) (?:long.term )?memory\b"
    r"|\bthe (?:user|human) (?:is an? admin|has (?:admin|full|root)|always wants|must)"
    r"|\bbetween (?:you and me|us)\b|\boff[- ]the[- ]record\b"
    r"|\b(?:do not|don't|dont|never|no need to) (?:remember|store|save|record|note|log|memori[sz]e|keep|write down) "
    r"(?:this|that|it|any of|what)|(?:^|[.,;:!]\s|please )(?:do not|don't) (?:store|save|record|memori[sz]e)\b"
    r"|\b(?:forget (?:i said|i ever said|this|that|about it)|nevermind what i said|this stays (?:here|between))\b"
)
_FICTION_BEGINS = re.compile(
    r"\b(?:let's|lets|can we|could we|we could|want to|shall we) (?:role.?play|pretend|play (?:a|the) (?:game|scene|role))"
    r"|\brole.?play\b|\bpretend (?:that |to be |you|i|we)|\bimagine (?:that |you|i|we|a |if |being|living)|\bin character\b"
    r"|\b(?:write|draft|compose|tell|create|continue|give) (?:me |us )?(?:a |an |the |another )?(?:\w+ ){0,3}"
    r"(?:story|poem|song|scene|tale|script|dialogue|limerick|haiku|joke|monologue|fanfic\w*|chapter|letter)\b"
    r"|\b(?:act as|you are now|you're now)\b|\bonce upon a time\b|\bin (?:a|another) parallel universe\b|(?:^"
    r"|\n)[ \t]{0,9}\*[^*\n]{3,}\*"
)
_FICTION_ENDS = re.compile(
    r"\bout of character\b|\bend of (?:the )?(?:game|story|scene|role)|\bback to (?:reality|earth)\b|\b(?:in|irl) real life\b"
    r"|\b(?:ok(?:ay)?,? )?seriously(?: now|,)|\bstop (?:the )?role.?play"
)
_STAYS = re.compile(r"role.?play|pretend|play (?:a|the)|act as|you(?:'re| are) now|tell me|\*")
_MATERIAL = re.compile(
    r"\b(?:translate|proofread|summari[sz]e|rephrase|rewrite|paraphrase|correct|edit|review|check|fix|improve|reply to|respond to"
    r"|parse|classify|label|analy[sz]e|what does|how do (?:you|i) (?:say|translate))\b[^\n:]{0,80}:"
    r"|\b(?:here's|here is|this is) (?:the|an?) (?:\w+ ){0,3}"
    r"(?:text|e-?mail|letter|log|output|transcript|message|excerpt|article|passage|quote|lyrics?|sample|example|paragraph|post"
    r"|review|snippet|response|draft|caption|data|record)\b[^\n:]{0,60}:"
    r"|\b(?:forwarded message|original message|(?:on .{4,60} )?wrote:|copied from|pasted from|pasting|letter:|lyrics)\b"
)
_STRANGE = (
    re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|>>.*?<<", re.DOTALL),
    re.compile(r"[{\[][^{}\[\]\n]{0,400}[:=][^{}\[\]\n]{0,400}[}\]]|`[^`\n]+`|https?://\S+"),
    re.compile(r"^[ \t]{0,3}(?:>|\|).*$", re.MULTILINE),
    re.compile(
        r"^[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d(?::\d\d)?\]|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE)\b"
        r"|Traceback |File \"|at [\w.$]+\(|\$ |>>> |[{}\[\]<].*[{}\]>,;]$|[\w.]+(?:Error|Exception): |\w{3} \d\d \d\d:\d\d:\d\d"
        r"|(?:From|To|Cc|Subject|Date|Sent): |(?:def|class|import|const|let|var|return|SELECT|INSERT|#include) ).*$",
        re.MULTILINE,
    ),
)
_HEADER = re.compile(r"^[ \t]*(?:From|To|Cc|Subject|Date|Sent): ", re.MULTILINE)
_SCRIPT_LINE = re.compile(r"^[ \t]*[^\W\d_][\w .'-]{0,24}:[ \t]+\S.*$", re.MULTILINE)
_ONE_LINE = re.compile(
    r"(?!(?:Correction|Fix|Typo|Update|Note|Reminder|Todo|Edit|News|Plan|PS)\b)[A-ZÀ-Þ][a-zà-ÿ]+: +(?:I|I'm|My|We)\b"
)
_QUOTATION = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|(?<!\w)'[^'\n]{12,300}'(?!\w)|(?<!\w)‘[^’\n]{12,300}’(?!\w)"
)
_JOKE = re.compile(
    r"\b(?:just kidding|kidding(?! myself)|jk|joking|sarcas\w+|april fools?)\b|(?:^|\s)/s\b|\bnot!$|🙄|🙃|😂|🤣|\blo+l\b|\blmao\b"
    r"|\bhaha\w*|\b(?:literally|basically|practically) (?:dying|dead|living|married|made of)\b|\bas a joke\b|\bsaid no one\b"
    r"|\bmarried to (?:my|the) (?:job|work|laptop|phone|code|couch|bed|coffee)\b|\bkill(?:ing|ed)? (?:me|for)\b|\bdying of\b"
    r"|\blive (?:in|at) (?:the|my) (?:office|gym|airport|car|kitchen|inbox|library|meetings)\b|\bspirit animal\b|\blucky me\b"
    r"|\b(?:yeah,? right|oh,? (?:great|sure|joy|wonderful|fantastic))\b|\b(?:a hundred|a thousand|a million|a billion) \w+\b"
    r"|\b(?:king|queen|president|emperor) of\b|\bprofessional (?:procrastinator|napper|overthinker|couch)|\bimaginary\b"
    r"|\bi (?:just )?love (?:waiting|being|getting|paying|queu\w+|standing)\b|\bworld champion\b"
    r"|\btravel(?:ler)? from the future\b"
)
_UNREAL = re.compile(
    r"\b(?:dreamt|dreamed|(?:in|had) (?:my|a|the|this) (?:\w+ )?(?:dream|nightmare|novel|story|movie|film|show|play|campaign"
    r"|fanfic|screenplay|episode|scene)|my (?:character|avatar|protagonist|paladin|wizard|elf|rogue|warlock)|in theory"
    r"|hypothetical\w*|in case (?:i|we|you|he|she|they|it|my)|^not that (?:i|we)"
    r"|if only|what if|even if|as if|as though|for example|e\.g\.|something like|pretend\w*|imagine)\b|^(?:if|suppose|assuming)\b"
    r"|\b(?:would|could|might|'d)(?:n't| not)? (?:have|be)\b|\b(?:nearly|almost)\b|\bwas (?:going|about|supposed) to\b"
)
_ONLY_HEARD = re.compile(
    r"\b(?:apparently|supposedly|allegedly|rumou?r\w*|according to|i heard|heard that|(?:says?|said|told me|claims?"
    r"|swears?|thinks?"
    r"|reckons?|insists?)(?: that)?[,:]?\s*$)|\b(?:he|she|they|mum|mom|dad|boss|doctor|surgeon|teacher|everybody"
    r"|everyone) (?:says|claims"
    r"|thinks|reckons|insists|swears)\b|, (?:he|she|they) (?:says?|said)\b"
)
_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|not sure|unsure|no idea|undecided|i guess|i suppose|thinking (?:of|about)"
    r"|considering|wondering|toying with|contemplating|tempted to|kind of want|some ?day|one day|at some point|we'll see)\b"
)
_SECRET = re.compile(
    r"\b(?:password|passwd|passcode|passphrase|pw|pwd|passkey|api[ _-]?key|secret key|access key|private key|token|cvv"
    r"|pin(?: code)?)"
    r"\b.{0,40}?(?:\bis\b|:|=)"
)
_CORRECTS = re.compile(
    r"^(?:oh |wait |oops |no,? |ah |actually |sorry,? )*(?:(?:i|we) (?:got|wrote|said|had|put|mixed) (?:that|it"
    r"|this) (?:wrong|up)|sorry"
    r"|oops|correction|my mistake|my bad|(?:scratch|scrap) that|i meant|i mean|actually|typo|i misspoke|no,? wait|wait,? no)\b"
    r"|\bi meant\b|\bmy mistake\b|,? sorry[.!]*$|^\*\w|^(?:ok |actually |and )*make (?:it|that)\b"
)
_TAKES_BACK = re.compile(
    r"\W{0,9}(?:haha\w{0,9}|lol|ok|no|nah)?\W{0,9}(?:i'm |im |i was |just |only )*(?:kidding|joking|jk)\b"
)
_QUESTION_AHEAD = re.compile(
    r"[,;:–—]\s+(?:so |and |then |but )?(?=(?:what|which|who|when|where|why|how|do|does|did|is|are|can|could|would|will"
    r"|should|any)\b)"
)
_ASKS = re.compile(
    r"(?:what|which|who|when|where|why|how)\b|(?:do|does|did|is|are|am|was|were|can|could|would|will|should|have|has)(?:n't)?"
    r" (?:you|i|we|he|she|it|they|the|my|your|this|that|these|there|any\w*|some\w*|a)\b"
)
_CUT = re.compile(
    r"\s+[-–—]+\s+|\.{2,}|…|\s*;\s|\s*:\s|[:;=]-?[)(DP](?!\w)|\s[-–—]\s|!+\s|\*|(?<=\d)\.\s+(?=[a-z])|(?<=[a-z])-\s+|,?\s(?:btw"
    r"|by the way|tbh|imo|fyi|for sure|to be honest|you know|my (?:dear|darling))\b[,.]?"
)
_LEAD = re.compile(
    r"(?:(?:oh|wow|hey|hi|hello|yeah|yep|yes|yup|no|nope|nah|ok|okay|well|so|thanks|thank you|thx|aww+|ah|hmm+|um|uh|btw"
    r"|by the way"
    r"|anyway|anyways|sure|great|cool|nice|congrats|true|right|fyi|p\.?s\.?|also|and|but|honestly|tbh|actually|oops|sorry"
    r"|wait|yet|plus"
    r"|(?:it )?turns out|news|update|reminder|note|good news|bad news|on (?:a|another|a different) note|guess what"
    r"|fun fact|one thing"
    r"|my mistake|scratch that|i meant|ffs|omg|obviously|of course|seriously now|for the record|remember)\b[ ,!.:-]*)+",
    re.IGNORECASE,
)
# A wish in the form of a question.
_WISHES = re.compile(
    r"(?:(?:hey|hi|oh|ok|okay|also|and|so|please|pls)[ ,]+)*(?:can|could|would|will) (?:you|u) "
    r"(?:(?:please|pls|just|also|then|maybe) )*(?=remind (?:me|us)\b)",
    re.IGNORECASE,
)
# What a professional found of the speaker is the speaker's to state.
_ON_ADVICE = re.compile(
    rf"(?:(?:my|the|our) )?(?:{'|'.join(sorted(words('statements.advisers', 'en')))})(?: just| now)? "
    r"(?:says?|said|told me|confirmed|confirms)(?: that)? (?=(?:I|I'm|i'm|im|i|my|my [a-z]+)\b)",
    re.IGNORECASE,
)
_TELLING_LETTERS = 6


_WAS_WRONG = re.compile(
    r"\b(?:correction|my mistake|typo|i misspoke|(?:i|we) (?:got|wrote|said|had|put|mixed) (?:that|it|this) (?:wrong|up)"
    r"|i meant)\b"
)
_CONTRAST = re.compile(r", not (?:an? |the |at |in |to |on |my )*[\w' -]{2,30}[.!)]*$")
_HAS_CHANGED = re.compile(r"\b(?:now|moved|new|since|these days|switched|changed)\b")


def read(
    message: WindowMessage, called: Collection[str], known: Collection[str], *, fiction: bool = False
) -> MessageParts:
    """`called`: names by which the message may address somebody. `known`: names, in lower case, that may be written small.
    `fiction`: the conversation was in a made-up world before it."""
    text = message.text[:MAX_READ_CHARACTERS]
    low = lowered(text)
    if _WHOLE.search(low):
        return MessageParts((), fiction)
    low = _own_words(text, low)
    if fiction:
        if (ends := _FICTION_ENDS.search(low)) is None:
            return MessageParts((), fiction=True)
        low = hide(low, 0, ends.end())
    stays = False
    if begins := _FICTION_BEGINS.search(low):
        ends = _FICTION_ENDS.search(low, begins.end())
        low = hide(low, max(0, _last_stop(low, begins.start())), ends.end() if ends else len(low))
        stays = ends is None and _STAYS.search(begins[0]) is not None
    if material := _MATERIAL.search(low):
        low = hide(low, material.end(), len(low))
    shown = "".join(HIDDEN if hidden == HIDDEN else one for one, hidden in zip(text, low, strict=True))
    parts = () if language_of(text) != "en" else tuple(islice(_parts(shown, called, known), _MOST_PARTS))
    return MessageParts(parts, stays, _TAKES_BACK.match(low) is not None)


def _last_stop(low: str, before: int) -> int:
    return max(low.rfind(mark, 0, before) for mark in (". ", "! ", "? ", "\n")) + 1


def _own_words(text: str, low: str) -> str:
    """`low` with code, quoted lines, logs, pasted scripts and quotations hidden."""
    for pattern in _STRANGE:
        for match in pattern.finditer(text):
            low = hide(low, *match.span())
    headers, script = list(_HEADER.finditer(text)), list(_SCRIPT_LINE.finditer(text))
    if len(headers) > 1:
        low = hide(low, headers[0].start(), len(low))
    if len(script) > 1 or (script and _ONE_LINE.match(script[0][0])):
        for match in script:
            low = hide(low, *match.span())
    for match in _QUOTATION.finditer(text):
        inside = match[0][1:-1].split()
        if len(inside) > 1 and not (
            len(inside) <= 6 and 2 * sum(one[:1].isupper() for one in inside) > len(inside)
        ):
            low = hide(low, *match.span())
    return low


def _parts(text: str, called: Collection[str], known: Collection[str]) -> Iterator[Part]:
    mending: _Mending | None = None
    for sentence in sentences(text):
        mending = _mending(sentence.text, mending)
        if sum(map(str.isalpha, sentence.text)) < _TELLING_LETTERS and not mending.corrects:
            continue
        start, stop = sentence.start, sentence.end
        bare = sentence.text.rstrip("\"' )*~")
        if (wish := _WISHES.match(sentence.text)) is not None:
            start, stop = start + wish.end(), start + len(bare.rstrip("?"))
        elif bare.endswith("?"):
            ahead = next(_QUESTION_AHEAD.finditer(sentence.text, 12), None)
            if ahead is None or _ASKS.match(sentence.text.lower()):
                continue
            stop = start + ahead.start()
        low = text[start:stop].lower()
        if (HIDDEN in low and low.count(HIDDEN) > 0.5 * len(low)) or _SECRET.search(low):
            continue
        yield from _cut(text, start, stop, mending, called, known)


@dataclass(frozen=True, slots=True)
class _Mending:
    """What a sentence says of what was said before; `named`: the telling words of one that only names what is right."""

    corrects: bool
    wrong: bool
    named: frozenset[str] = frozenset()


def _mending(said: str, before: _Mending | None) -> _Mending:
    """ "No wait." and "I meant Lagos." speak of the sentence behind them as well, if that is about the same."""
    low = lowered(said)
    corrects = _CORRECTS.search(low) is not None
    wrong = (
        _WAS_WRONG.search(low) is not None or _CONTRAST.search(low) is not None
    ) and not _HAS_CHANGED.search(low)
    bare = _LEAD.sub("", low.strip(), count=1) if corrects else low
    named = frozenset(telling(bare)) if corrects and len(bare.split()) <= _LEAST_WORDS else frozenset[str]()
    if before is not None and before.corrects and (not before.named or before.named & set(telling(low))):
        corrects, wrong = True, wrong or (before.wrong and not _HAS_CHANGED.search(low))
    return _Mending(corrects, wrong, named if corrects else frozenset())


def _cut(
    text: str, start: int, stop: int, mending: _Mending, called: Collection[str], known: Collection[str]
) -> Iterator[Part]:
    joking = _JOKE.search(text[start:stop].lower()) is not None
    begin, told_of = start, False
    for cut in (*_CUT.finditer(text, start, stop), None):
        end = cut.start() if cut else stop
        inside = begin > start and text[begin - 1] in "-–— "
        written = _written_out(text, begin, end, called, known, inside=inside)
        begin = cut.end() if cut else stop
        if written is None:
            continue
        part, places, told = written
        said = part.strip().lower()
        if HIDDEN in part:
            continue
        short = sum(map(str.isalpha, said)) < _TELLING_LETTERS or len(said.split()) < _LEAST_WORDS
        if short and not mending.corrects:
            if any(
                word.strip(".,!;:") in known for word in said.split()
            ):  # "Emma called.": who is meant by "she" behind it
                yield Part(part, places, corrects=False, was_wrong=False, joking=True)
            continue
        unsure = (
            any(one.search(said) for one in (_UNREAL, _ONLY_HEARD, _HEDGED)) or _ASKS.match(said) is not None
        )
        told_of = told_of or (unsure and cut is not None and ":" in cut[0])  # "in my novel he says: ..."
        if (short or language_of(part) == "en") and _is_english(said):
            yield Part(
                part, places, mending.corrects, mending.wrong, joking or unsure or told_of, told, inside
            )


_SHARED = words("small", "en") & (
    words("small", "sv") | words("small", "de") | words("small", "nl") | words("small", "es")
)


def _is_english(said: str) -> bool:
    """Where strange letters stand in a word, at least one small word must be English and nothing else."""
    if said.isascii():
        return True
    return any(
        word in words("small", "en") - _SHARED - {"i", "a", "do", "me", "he", "was"} for word in said.split()
    )


_SHORT_HAND = table("statements.short_hand", "en")
_SHORT = re.compile(
    r"(?<![\w'’@.])(?:"
    + "|".join(sorted(map(re.escape, _SHORT_HAND), key=len, reverse=True))
    + r")(?!['’]?\w|\.|@)",
    re.IGNORECASE,
)
# "He was ill" is about no plan: "ill" stands for "I'll" where nothing says of somebody what they are.
_IS_ILL = re.compile(
    r"(?:\b(?:am|is|are|was|were|be|been|being|feel|feels|felt|feeling|get|gets|got|getting|fall|fell|fallen|look|looked|and"
    r"|seriously|very|really|so|too|quite|terminally|mentally)|['’][msr]e?) $",
    re.IGNORECASE,
)
_PAST = "|".join(sorted(words("statements.past", "en")))
# Whoever chats leaves out "I".
_WITHOUT_I = (
    (
        re.compile(
            rf"\s*(?=(?!(?:tired|bored|used|need|feed|indeed|speed)\b)(?:[a-z]+ed|{_PAST})"
            r"(?: (?:in|out|up|off|on|back|over|down|away))? "
            r"(?:the|an?|my|our|his|her|their|some|it|them|him|all|another|one|two|three|\d)\b"
            rf"|(?:{_PAST}) (?:to|into|at|from|with|home|back|(?-i:[A-Z])[a-z]+))",
            re.IGNORECASE,
        ),
        "I ",
    ),
    (
        re.compile(
            r"\s*(?=(?:can't|cannot|couldn't|didn't|haven't|wasn't|got|need|had|have (?:to|a|an|been|got)|just got|love"
            r"|hate|will)\b)",
            re.IGNORECASE,
        ),
        "I ",
    ),
    (
        re.compile(
            r"\s*(?!\w+ (?:the|my|our|a) \w+ (?:is|was|costs?|takes?|took|will|has)\b)"
            r"(?=(?:not )?(?:looking (?:at|for)|going (?:to|with)|working|moving|staying|leaving|doing|starting"
            r"|running|meeting"
            r"|flying|taking|saving|learning|training|planning|trying|allergic|back (?:on|at|in|from))\b)",
            re.IGNORECASE,
        ),
        "I am ",
    ),
)
_FIRST_WORD = re.compile(r"\s*[A-Z][a-z]+(?=\s[a-z'])")
_SOMEBODY_ELSE = re.compile(r"\b(?:he|she|they)\b", re.IGNORECASE)
# "Tom from the gym", "Mia the intern": a name that opens a statement, with what tells it from others.
_TOLD = re.compile(
    r"\s*(?P<name>[A-Z][\w'-]+),? (?P<by>(?:(?:from|at|in) (?:the |our |my )?|the )[a-z][\w-]+),? "
    r"(?=(?:is|was|has|had|will|can|[a-z]+(?:s|ed)) )"
)
_WORD = re.compile(r"(?<![\w'’@.])[a-zà-ÿ]{2,}(?!\w|@|\.\w)")
_MONTHS_AND_DAYS = words("statements.capitalised", "en")
_NO_NAMES = words("no_names") | words("starters") | words("small", "en") | _MONTHS_AND_DAYS


def _written_out(
    text: str, begin: int, end: int, called: Collection[str], known: Collection[str], *, inside: bool
) -> tuple[str, tuple[int, ...], str | None] | None:
    """A part without what opens it and whom it addresses, with short hand written out and names written large; and who opens
    it, with what tells them apart."""
    said = text[begin:end].replace("’", "'")
    for opener in (_LEAD, _ON_ADVICE):
        if (lead := opener.match(said)) is not None:
            begin, said = begin + lead.end(), said[lead.end() :]
    for name in called:
        vocative = re.compile(rf"(?:^\s*|,\s*){re.escape(name)}(?=\s*[,!.]|\s*$)", re.IGNORECASE)
        said = vocative.sub(lambda match: " " * len(match[0]), said)
    lead = (
        next((written for pattern, written in _WITHOUT_I if pattern.match(said)), "")
        if not inside and not _SOMEBODY_ELSE.search(text, 0, begin)
        else ""
    )
    if (first := _FIRST_WORD.match(said)) and (
        lead == "I "
        or first[0].strip().endswith("ed")
        or first[0].strip().lower() in words("small", "en") - {"i", "my", "our"}
    ):
        said = said[: first.end()].lower() + said[first.end() :]
    if said.isupper() and len(said.split()) > 1:
        said = said.lower()
    told = _TOLD.match(said)
    if told is not None and told["name"].lower() not in _NO_NAMES:
        edits = [(told.end("name"), told.end() - 1, "")]
    else:
        told, edits = None, list[tuple[int, int, str]]()
    edits += [
        (*one.span(), _SHORT_HAND.get(one[0].lower(), one[0]))
        for one in _SHORT.finditer(said, edits[0][1] if edits else 0)
        if not (one[0].lower() == "ill" and _IS_ILL.search(said, 0, one.start()))
    ]
    blank = len(said) - len(said.lstrip()) if lead else 0
    pieces, places, last = [lead] if lead else list[str](), [min(begin + blank, end - 1)] * len(lead), blank
    for first_place, behind, full in edits:
        pieces += [said[last:first_place], full]
        places += range(begin + last, begin + first_place)
        places += [min(begin + first_place + place, begin + behind - 1) for place in range(len(full) - 1)]
        if full:
            places.append(begin + behind - 1)
        last = behind
    pieces.append(said[last:])
    places += range(begin + last, begin + len(said))
    whole = _WORD.sub(
        lambda match: (
            match[0].capitalize() if match[0] in known or match[0] in _MONTHS_AND_DAYS else match[0]
        ),
        "".join(pieces),
    )
    whole = re.sub(r"\bi(?=')", "I", whole)
    whole = re.sub(r"^(\s*)[,!.)]", r"\1 ", whole)
    return (whole, tuple(places), f"{told['name']} {told['by']}" if told else None) if whole.strip() else None
