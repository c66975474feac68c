"""How a draft is worded beside its sources: in their language, in enough of their words, and not as the opposite of them."""

import re
from functools import lru_cache

from everlore.domain.memories import Review
from everlore.domain.predicates import KNOWN
from everlore.grounding.claims import Evidence, covered
from everlore.ports.analyst import DraftFact
from everlore.text.descriptions import is_role
from everlore.text.languages import language_of
from everlore.text.lexicon import words as lexicon
from everlore.text.sentences import sentences
from everlore.text.words import NEGATIONS, alike, listed, root, roots, telling, words

# So much of a draft's telling words must have been said.
LEAST_COVERED = 1 / 3
# A message of fewer words is an answer that takes up the words of the one before.
_SHORT = 8
# From this share of common words on two drafts of one answer say the same.
_SAME_WORDS = 0.9
_LETTER = re.compile(r"[^\W\d_]")


def uncovered(content: str, source: Evidence) -> bool:
    """Too little of it was said; or nothing of it in the source itself, unless that is a mere "yes"."""
    if covered(content, source) < LEAST_COVERED:
        return True
    return covered(content, source, context=False) == 0 and len(words(source.said)) >= _SHORT


def other_language(text: str, source: Evidence) -> str | None:
    mine, theirs = _scripts(text), _scripts(source.said)
    if mine and theirs:
        script = max(mine, key=lambda one: mine[one])
        if theirs.get(script, 0.0) < 0.1:
            return "it is in another script than what was said"
    if len(words(text)) < 4 or len(words(source.said)) < 4:
        return None
    one, other = language_of(text), language_of(source.said)
    # Words that both languages share prove nothing; who quotes word for word is in the right language.
    if one != other and covered(text, source) < 0.75 and mine.keys() == {"latin"}:
        return "it is in another language than what was said"
    return None


def _scripts(text: str) -> dict[str, float]:
    """Shares of the letters of a text."""
    counts: dict[str, int] = {}
    for letter in _LETTER.findall(text):
        script = _script(ord(letter))
        counts[script] = counts.get(script, 0) + 1
    total = sum(counts.values())
    return {script: count / total for script, count in counts.items()}


_SCRIPTS = ((0x0250, "latin"), (0x0370, "latin"), (0x0400, "greek"), (0x0530, "cyrillic"), (0x0590, "armenian"),
            (0x0600, "hebrew"), (0x0780, "arabic"), (0x0900, "other"), (0x0980, "devanagari"), (0x0E00, "indic"),
            (0x0E80, "thai"), (0x1100, "other"), (0x1200, "hangul"), (0x1E00, "other"), (0x2000, "latin"),
            (0x3040, "other"), (0x4E00, "han or kana"), (0xA000, "han or kana"), (0xAC00, "other"),
            (0xD7B0, "hangul"))  # fmt: skip


@lru_cache(maxsize=2_000)
def _script(code: int) -> str:
    return next((script for end, script in _SCRIPTS if code < end), "other")


_TURNED = re.compile(
    r"\b(?:dislike|hate|stop|quit(?!e\b)|avoid|refuse|gave up|give up|fail|lack|without|odia|dej[oóa]|evita|hasst|any ?more"
    r"|un(?:able|happy|well|likely|willing|employed|married|available|comfortable|safe|aware|interested|finished|fit|fair"
    r"|known|paid|used)\b)",
    re.IGNORECASE,
)
_IDIOMS = re.compile(
    r"(?:can['’]t|cannot|couldn['’]t) (?:wait|believe|agree more|help|be happier|stand|imagine|recommend|get enough"
    r"|thank|complain)|no (?:doubt|problem|wonder|matter|worries|idea)|not (?:only|just|to mention|bad|sure)|don['’]?t (?:worry"
    r"|mind|you|forget|miss)|why (?:not|don['’]?t)|isn['’]?t it|wouldn['’]?t it|never (?:mind|knew|thought)|if not"
    r"|did(?:n['’]?t| not) (?:know|reali[sz]e|expect|mention|tell)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:–—]\s|\s(?:but|and|so|because|though|although|pero|y|aber|und)\s", re.IGNORECASE)
# What denies without a "not" of the list, by itself: "my vegan sister" eats no meat.
_DENIES = re.compile(
    r"\b(?:(?:ai|must|need|have|has|had|could|would|should|are|were|might)n['’]?t|nope|nah|sin|ohne|sans|hardly|barely|scarcely"
    r"|rarely|seldom|apart from|except\w*|only|instead|rather|too \w+|vegetarian\w*|vegan\w*|pescatarian\w*|sober\w*|teetotal\w*"
    r"|abstain\w*|allerg\w*|al[eé]rgic\w*|intoleran\w*|forb[ia]d\w*|ban(?:s|ned)|banning|prohibit\w*|prevent\w*|den(?:y|ies|ied)"
    r"|reject\w*|declin\w*|skip\w*|miss(?:ed|es|ing)|impossible|impatient|incapable|inactive|invalid|illegal|deaf|blind|mute"
    r"|empty|absent|single|orphan\w*|atheist\w*|phobi\w*|\w+phobi[ac]|afraid|broken?|\w+less|\w+-free|dis(?:agree|allow|trust|abl)\w*)\b",
    re.IGNORECASE,
)
# Words by which something is over.
_ENDS = re.compile(
    r"\b(?:used to|left|leav(?:e|es|ing)|sold|sell\w*|quit(?!e\b)\w{0,4}|moved|moving|divorc\w*|separat\w*|split\w*|broke\w*"
    r"|former\w*|ex|end(?:s|ed|ing)?|finish\w*|stop\w*|resign\w*|retir\w*|fired|laid off|cancel\w*|closed|closing|gave"
    r"|gone|lost|die[sd]?"
    r"|dying|dead|death|passed away|dropp?\w*|switch\w*|replac\w*|swap\w*|trad(?:ed|ing)|transferr\w*|graduat\w*|expir\w*"
    r"|outgr[eo]w\w*|recover\w*|cured|healed|instead|mistake\w*|wrong|ya no|dej\w+|vend[ií]\w*|mud[éoó]\w*|termin\w+"
    r"|acab\w+|romp\w+"
    r"|perd[ií]\w*|muri\w+|verkauft\w*|verlass\w*|ausgezogen|gekündigt|vorbei)\b",
    re.IGNORECASE,
)
# Words that speak of the past, or put something right: with them it may be over.
_PAST = re.compile(
    r"\b(?:was|were|had|did|previous\w*|late|old|once|ago|before|until|till|past|back (?:in|when)|over|done|away|giv(?:en|ing)"
    r"|los(?:e|ing)|passed|chang\w*|goodbye|farewell|last|rather|meant|actually|sorry|typo|correction|scratch that|spoke|became"
    r"|kept|taught|sang|drove|wore"
    r"|[a-z]{2,}(?<!marri)(?<!engag)(?<!ne)(?<!excit)(?<!nam)(?<!call)(?<!locat)(?<!bas)(?<!interest)ed"
    r"|antes|era|fue|\w+(?:aba|aban|ía|ían|é|ó|aron|ieron)|war|hatte\w*|früher)\b",
    re.IGNORECASE,
)
_NO_MORE = re.compile(r"\b(?:any ?more|no longer|ya no|nicht mehr)\b", re.IGNORECASE)
# Where somebody moved or changed to, there it begins.
_ARRIVAL = re.compile(
    r"\b(?:mov|relocat|switch|transferr|chang)\w*(?:\s(?!from\b|to\b)\w+){0,3}?(?:\sfrom(?:\s[\w'’-]+){1,4}?)?\s(?:in)?to\s"
    r"(?P<to>[\w'’-]+(?:\s[\w'’-]+)?)",
    re.IGNORECASE,
)
_TAKES_UP = re.compile(
    r"\b(?:it|its|he|she|they|him|her|them|that|this|there|those|these|either|so|eso|lo|la|él|ella|das|es)\b",
    re.IGNORECASE,
)


def opposite(content: str, source: Evidence, quoted: str = "") -> str | None:
    """Whether a draft says without a "not" what was said with one, in the same words: in the sentences that it quotes, or in all
    that was said."""
    denied = _says_opposite(content, quoted, source) or _says_opposite(content, source.said, source)
    return "it says the opposite of what was said" if denied else None


def _says_opposite(content: str, said: str, source: Evidence) -> bool:
    mine = telling(content) - {root(name) for name in source.names}
    if not mine or _negated(content) or _TURNED.search(content):
        return False
    denied = False
    for sentence in sentences(said):
        for clause in _CLAUSE.split(sentence.text):
            theirs = telling(clause) - {root(word) for word in NEGATIONS}
            if len(mine) > len(theirs) + 1 or not all(alike(one, theirs) for one in mine):
                continue
            if not _negated(clause) or _IDIOMS.search(clause) or "?" in sentence.text:
                return False
            denied = denied or len(theirs) <= len(mine) + 2
    return denied


def invented_denial(content: str, source: Evidence) -> tuple[str, Review] | None:
    """Whether a draft says with a "not" what nobody denied: at all, or in a sentence that shares a word with it."""
    if not _negated(content) or _IDIOMS.search(content):
        return None
    if not NEGATIONS.isdisjoint(source.context):
        return None
    denials = [one.text for one in sentences(source.said) if _denies(one.text, content)]
    if not denials:
        return "it denies what nobody denied", "rejected"
    mine = telling(content) - {root(word) for word in NEGATIONS} - {root(name) for name in source.names}
    for denial in denials:
        theirs = telling(denial) - {root(word) for word in NEGATIONS}
        if not mine or not theirs or _TAKES_UP.search(denial) or any(alike(one, theirs) for one in mine):
            return None
    return "what it denies was said, but nothing of that was denied", "suggested"


def _denies(said: str, content: str) -> bool:
    """Whether a sentence can be read as denying something; by a word that the draft itself denies it does not."""
    if _negated(said):
        return True
    own = _denied_words(content)
    if any(not roots(match[0]) <= own for pattern in (_TURNED, _DENIES) for match in pattern.finditer(said)):
        return True
    return _is_over(said, content, own, past=_NO_MORE.search(content) is not None)


def _denied_words(content: str) -> frozenset[str]:
    """Stems of the three words after every "not"."""
    found: set[str] = set()
    for clause in _CLAUSE.split(content):
        said = words(clause)
        for place, word in enumerate(said):
            if word in NEGATIONS:
                found.update(map(root, said[place + 1 : place + 4]))
    return frozenset(found)


def invented_end(thing: str, source: Evidence) -> bool:
    """Whether nothing in the source says that something is over, by a denial or a word for an end."""
    said = source.said
    if not NEGATIONS.isdisjoint(source.context) or language_of(said) == "other":
        return False
    if _negated(said) or _TURNED.search(said) or _DENIES.search(said):
        return False
    return not _is_over(said, thing, frozenset(), past=True)


def _is_over(said: str, content: str, own: frozenset[str], *, past: bool) -> bool:
    mine = telling(content)
    for arrival in _ARRIVAL.finditer(said):
        if any(alike(one, mine) for one in telling(arrival["to"])):
            said = said.replace(arrival[0], arrival["to"])
    patterns = (_ENDS, _PAST) if past else (_ENDS,)
    return any(not roots(match[0]) <= own for pattern in patterns for match in pattern.finditer(said))


# What every language model calls such things, whatever word was said: a kind of label, not a claim.
_LABELS = lexicon("labels")
_FAVOURITE = re.compile(
    r"\b(?:fav\w*|best|most|top|lieblings\w*|pr[eé]f[eé]r\w*|love[sd]?|adore[sd]?|m[aá]s|number one)\b",
    re.IGNORECASE,
)


def unsaid_predicate(fact: DraftFact, source: Evidence) -> tuple[str, Review] | None:
    """Why a predicate out of no list is not believed: nothing like it was said, or it denies what nobody denied."""
    if fact.predicate in KNOWN:
        return None
    said = fact.predicate.replace("_", " ")
    if denial := invented_denial(f"{fact.subject} {said} {fact.object}", source):
        return denial
    if fact.predicate.startswith("favourite_") and _FAVOURITE.search(source.said):
        return None
    wanted = {one for one in telling(said) if one not in {root(word) for word in NEGATIONS}}
    known = source.roots | frozenset(map(root, source.context))
    if not wanted or any(alike(one, known) or one in map(root, _LABELS) for one in wanted):
        return None
    if fact.predicate.endswith("_of") and any(is_role(word) for word in (*source.words, *source.context)):
        return None
    # The predicate is English, whatever was spoken.
    review: Review = "rejected" if language_of(source.said) == "en" else "suggested"
    return f'"{said}" was not said', review


def _negated(text: str) -> bool:
    return not NEGATIONS.isdisjoint(words(text))


# Words that say little of a subject, and yet tell two statements apart.
_APART = listed(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december today tomorrow yesterday two three four five six seven eight nine ten eleven twelve twenty thirty "
    "forty fifty sixty seventy eighty ninety hundred thousand million lives works"
)
_APART_STEMS = frozenset(map(root, _APART))


def same(one: str, other: str) -> bool:
    if words(one) == words(other):
        return True
    if _negated(one) != _negated(other) or re.findall(r"\d+", one) != re.findall(r"\d+", other):
        return False
    if roots(one) & _APART_STEMS != roots(other) & _APART_STEMS:
        return False
    mine, theirs = telling(one), telling(other)
    return bool(mine) and len(mine & theirs) >= _SAME_WORDS * len(mine | theirs)
