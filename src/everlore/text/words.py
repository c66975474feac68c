"""Words as they are compared: folded, stemmed a little, with small classes of words that carry little or mean the same."""

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")


def fold(word: str) -> str:
    """Lower case, without accents, with straight apostrophes."""
    if word.isascii():
        return word.lower()
    bare = unicodedata.normalize("NFKD", word.replace("’", "'").casefold())
    return "".join(one for one in bare if not unicodedata.combining(one))


def listed(words: str) -> frozenset[str]:
    """A class of words, folded, from one line of them."""
    return frozenset(map(fold, words.split()))


# Words that say little about what a sentence tells: two sentences that share only these share nothing.
LITTLE = listed(
    """a an the this that these those there here he she it we they you i me my mine your yours his her hers its our ours their
    theirs him them us who whom whose which what when where why how if then than so as at by for from in into of off on onto out
    over to up with without about after again against all also although always and another any are is was were be been being am
    do does did done doing have has had having can could will would shall should may might must let not no nor never but because
    before behind both during each either every few just like likes liked lot lots make makes making made many more most much
    now once one only or other own per really same some still such sure take takes took taking too very via want wants wanted
    way well while yes yet go goes going gone went get gets getting got need needs needed use uses used using know knows knew
    think thinks thought feel feels felt feeling say says said saying tell tells told see sees saw seen come comes came thing
    things something someone people person time times user assistant speaker currently recently previously soon later plan plans
    planned planning enjoy enjoys enjoyed love loves loved prefer prefers preferred mention mentions mentioned believe believes
    believed consider considers considering considered hope hopes hoping start started starting begin began decided decides
    new old good great big small day days today yesterday tomorrow week weeks month months year years live lives lived living
    work works worked working
    two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand million january february march april june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday
    el la los las lo un una unos unas y o u de del al en con por para sin sobre que se su sus mi mis tu tus me te nos le les es
    soy son está estoy están era fue ha he hay ser estar tiene tengo muy más pero no si sí ya como cuando donde porque también
    der die das den dem des ein eine einen einem einer und oder ist sind war bin ich du er sie es wir ihr mein meine sein seine
    in im am an auf mit von zu zum zur für nicht auch sehr hat habe haben
    le les des du et ou est sont je tu il elle nous vous ils mon ma mes son sa ses dans avec pour sur pas très aussi a ai"""
)
NEGATIONS = listed(
    """not no never none nothing nobody neither nor cannot without don't doesn't didn't isn't aren't wasn't weren't can't couldn't
    won't wouldn't shouldn't haven't hasn't hadn't dont doesnt didnt isnt wasnt cant wont nunca jamás tampoco nada nadie nicht
    kein keine keinen nie niemals ne pas jamais non inte aldrig não"""
)
_IRREGULAR = {
    "bought": "buy", "brought": "bring", "built": "build", "caught": "catch", "chose": "choose", "chosen": "choose",
    "drove": "drive", "driven": "drive", "ate": "eat", "eaten": "eat", "fell": "fall", "flew": "fly", "found": "find",
    "gave": "give", "given": "give", "grew": "grow", "grown": "grow", "held": "hold", "kept": "keep", "left": "leave",
    "lost": "lose", "met": "meet", "paid": "pay", "ran": "run", "sang": "sing", "sold": "sell", "sent": "send",
    "slept": "sleep", "spent": "spend", "spoke": "speak", "spoken": "speak", "swam": "swim", "taught": "teach",
    "wore": "wear", "won": "win", "wrote": "write", "written": "write", "became": "become", "drew": "draw", "drawn": "draw",
    "rode": "ride", "broke": "break", "broken": "break", "children": "child", "kids": "child", "kid": "child", "wives": "wife",
    "mom": "mother", "mum": "mother", "mommy": "mother", "mama": "mother", "dad": "father", "daddy": "father",
    "papa": "father", "grandma": "grandmother", "granny": "grandmother", "grandpa": "grandfather", "bro": "brother",
    "sis": "sister", "hubby": "husband", "wifey": "wife", "bf": "boyfriend", "gf": "girlfriend", "men": "man",
    "women": "woman", "feet": "foot", "died": "die", "dying": "die", "death": "die", "passed": "die",
    "birthday": "born", "birth": "born", "married": "marry",
    "wedding": "marry", "marriage": "marry", "photo": "picture", "photos": "picture", "pictures": "picture", "pic": "picture",
    "pics": "picture", "movies": "film", "movie": "film", "films": "film", "doctors": "doctor", "doc": "doctor",
    "begun": "begin", "thought": "think", "relocated": "move", "relocate": "move", "relocating": "move", "moved": "move",
    "moving": "move", "job": "job", "jobs": "job", "apartment": "flat", "flat": "flat", "pup": "dog", "puppy": "dog",
    "doggy": "dog", "kitty": "cat", "kitten": "cat", "studied": "study", "studies": "study", "hated": "hate", "hates": "hate",
    "dislikes": "dislike", "disliked": "dislike", "photograph": "picture", "tv": "television", "uni": "university",
    "bike": "bicycle", "bikes": "bicycle", "phone": "telephone", "fridge": "refrigerator", "info": "information",
    "exam": "exam", "exams": "exam", "allergy": "allergic", "allergies": "allergic", "favorite": "favourite",
    "color": "colour", "colors": "colour", "vacation": "holiday", "vacations": "holiday", "holidays": "holiday",
}  # fmt: skip
_ENDINGS = ("ations", "ation", "ings", "ing", "iest", "ied", "ies", "ers", "ed", "es", "er", "ly", "s")


@lru_cache(maxsize=2_000)
def words(text: str) -> tuple[str, ...]:
    """The folded words of a text in order, without 's."""
    return tuple(_bare(fold(match[0])) for match in _WORD.finditer(text))


def stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text))


def telling(text: str) -> frozenset[str]:
    """Stems of the words of a text that say something; numbers are held against numbers, not here."""
    return frozenset(
        stem(word)
        for word in words(text)
        if word not in LITTLE
        and (len(word) > 2 or not word.isascii())
        and not any(one.isdigit() for one in word)
    )


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The word without its ending; a few irregular ones, and kinship words, as their basic form."""
    word = _IRREGULAR.get(word, word)
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)] + ("y" if ending in ("ies", "ied", "iest") else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word.rstrip("e") if len(word) > 3 else word


def alike(one: str, others: frozenset[str]) -> bool:
    """Whether a stem is among others, or shares all but the ending with one of them ("paint", "painter")."""
    if one in others:
        return True
    return len(one) >= 5 and any(
        other[: len(one) - 1] == one[: len(other)][: len(one) - 1] for other in others if len(other) >= 5
    )


def _bare(word: str) -> str:
    return word.removesuffix("'s")
