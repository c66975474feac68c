"""Which language a text is in, by its small words and its letters: a guess, good enough to choose patterns."""

import re
from typing import Literal, TypeAlias

from everlore.text.folding import lowered
from everlore.text.lexicon import LANGUAGES, words

Language: TypeAlias = Literal["en", "es", "other"]

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2})?")
_ACCENTED = re.compile(r"(?<!\w)[a-zñ]*[áíóúñ][a-záéíóúñ]*(?!\w)")  # a name may have accents in any language
_LOOK_AT = 600  # characters; small words are dense, more tell no more

_ENGLISH, _SPANISH = words("small", "en"), words("small", "es")
_OTHERS = words("small", *(code for code in LANGUAGES if code not in {"en", "es"}))


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
