"""Which language and which script a text is in, by its small words and its letters.

`language_of` guesses, good enough to choose patterns; `sure_language` and `script_of` speak up only where there is no doubt.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Literal, TypeAlias

from everlore.text.folding import lowered
from everlore.text.lexicon import LANGUAGES, words

Language: TypeAlias = Literal["en", "es", "other"]

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2})?")
_ACCENTED = re.compile(r"(?<!\w)[a-zñ]*[áíóúñ][a-záéíóúñ]*(?!\w)")  # a name may have accents in any language
_LOOK_AT = 600  # characters; small words are dense, more tell no more

_ENGLISH, _SPANISH = words("small", "en"), words("small", "es")
_OTHERS = words("small", *(code for code in LANGUAGES if code not in {"en", "es"}))
_COMMONEST = {code: words("commonest", code) for code in LANGUAGES if "commonest" in LANGUAGES[code]}

_LEAST_LETTERS = 12
_LEAST_WORDS = 4
# So much of the letters are of one script, and so many times more small words of one language than of the next.
_SURE_SHARE = 0.7
_SURE_FACTOR = 1.8
_NOTABLE_LETTERS = 3
_JAPANESE = frozenset({"HIRAGANA", "KATAKANA"})


def language_of(text: str) -> Language:
    """English where nothing else is clearly more: short messages without small words are mostly that."""
    looked_at = text[:_LOOK_AT]
    found = _WORD.findall(lowered(looked_at))
    english = sum(word in _ENGLISH for word in found)
    spanish = sum(word in _SPANISH for word in found) + (2 if any(mark in text for mark in "ñ¿¡") else 0)
    spanish += len(_ACCENTED.findall(looked_at)[:3])
    others = sum(word in _OTHERS for word in found) + any(letter in text for letter in "ßøã")
    if spanish > english and spanish >= others:
        return "es"
    if others > english and others > spanish:
        return "other"
    return "en" if english or all(ord(one) < 0x250 for one in looked_at if one.isalpha()) else "other"


def sure_language(text: str) -> str | None:
    """The code of one of the languages whose commonest words are known, where these leave no doubt."""
    found = Counter(_WORD.findall(lowered(text)))
    hits = sorted(
        ((sum(found[word] for word in common), code) for code, common in _COMMONEST.items()), reverse=True
    )
    (most, code), (next_most, _) = hits[0], hits[1]
    return code if most >= _LEAST_WORDS and most >= _SURE_FACTOR * next_most else None


def script_of(text: str) -> str | None:
    """The script (LATIN, CYRILLIC, CJK) that most letters are of; None where there are few, or no one script prevails."""
    counts = _letters(text)
    if sum(counts.values()) < _LEAST_LETTERS:
        return None
    script, most = counts.most_common(1)[0]
    return script if most >= _SURE_SHARE * sum(counts.values()) else None


def is_foreign(answer: Iterable[str], said: Iterable[str]) -> bool:
    """Whether what was answered is surely in a script or a language that nothing of what was said is in."""
    answered, texts = " ".join(answer), list(said)
    texts.append(" ".join(texts))
    script = script_of(answered)
    scripts = {one for text in texts for one, count in _letters(text).items() if count >= _NOTABLE_LETTERS}
    if script is not None and scripts and script not in scripts:
        return True
    language, spoken = sure_language(answered), {sure_language(text) for text in texts}
    # Somebody's short message may be in any language; only a conversation that is sure of its own can tell another.
    return language is not None and bool(spoken - {None}) and language not in spoken


def _letters(text: str) -> Counter[str]:
    """The scripts of a text by their letters."""
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            script = unicodedata.name(character, "UNKNOWN").partition(" ")[0]
            counts["CJK" if script in _JAPANESE else script] += count
    return counts
