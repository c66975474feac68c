"""Whether an answer is in a language of the conversation. Coarse on purpose: it speaks up only where it is sure.

Two looks: the script (Latin, Cyrillic, Han ...) by letters, and for English, German, French and Spanish the small words. An
answer is wrong if it is surely in a script or language in which nobody spoke.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[^\W\d_]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STOP_WORDS = {
    "en": _set(
        """the and is are was were of to in that it for with on as at be this have has had not but by from or an they she he
        his her their which will would who about into than there after my you your"""
    ),
    "de": _set(
        """der die das und ist sind war waren von zu im dass es für mit auf als an bei dieser diese hat haben nicht aber durch
        aus oder ein eine einen einem sie er sein ihre ihr wird werden sich auch nach seit zum zur ich mein meine wir"""
    ),
    "fr": _set(
        """le la les et est sont était de des du un une que il elle pour avec sur dans ce cette a ont pas mais par ou qui son sa
        ses leur au aux plus ne se je mon ma nous chez depuis"""
    ),
    "es": _set(
        """el la los las y es son era de del un una que en para con por se su sus como más no pero al lo le ha han este esta
        desde muy yo mi nosotros tiene vive"""
    ),
}
_LEAST_LETTERS = 12
_LEAST_STOP_WORDS = 4
# So much of the letters are of one script, and so many times more small words of one language than of the next.
_SURE_SHARE = 0.7
_SURE_FACTOR = 1.8
_JAPANESE = frozenset({"HIRAGANA", "KATAKANA"})


def is_foreign(answer: Iterable[str], said: Iterable[str]) -> bool:
    """Whether what was answered is surely in a script or a language that nothing of what was said is in."""
    answered, texts = " ".join(answer), list(said)
    script = script_of(answered)
    scripts = {script for text in (*texts, " ".join(texts)) for script in _scripts(text)}
    if script is not None and scripts and script not in scripts:
        return True
    language = language_of(answered)
    spoken = {language_of(text) for text in texts} | {language_of(" ".join(texts))}
    # Somebody's short message may be in any language; only a conversation that is sure of its own can tell another.
    return language is not None and bool(spoken - {None}) and language not in spoken


def script_of(text: str) -> str | None:
    """The script that most letters are of; None where there are few, or no one script prevails."""
    counts = _counted(text)
    if sum(counts.values()) < _LEAST_LETTERS:
        return None
    script, most = counts.most_common(1)[0]
    return script if most >= _SURE_SHARE * sum(counts.values()) else None


def language_of(text: str) -> str | None:
    """en, de, fr or es where the small words leave no doubt; else None."""
    words = Counter(_WORD.findall(text.lower()))
    hits = sorted(
        ((sum(words[word] for word in stop), code) for code, stop in _STOP_WORDS.items()), reverse=True
    )
    (most, code), (next_most, _) = hits[0], hits[1]
    return code if most >= _LEAST_STOP_WORDS and most >= _SURE_FACTOR * next_most else None


def _scripts(text: str) -> set[str]:
    """Every script that a notable part of the letters is of."""
    counts = _counted(text)
    return {script for script, count in counts.items() if count >= 3}


def _counted(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            script = unicodedata.name(character, "UNKNOWN").partition(" ")[0]
            counts["CJK" if script in _JAPANESE else script] += count
    return counts
