"""The dependency parser: spaCy with its small English pipeline, loaded when the first window is read.

Two of its components cost more than the parse itself and are replaced or called sparingly: parts of speech follow from tags and
labels, and kinds of names are asked for only where something is written as a name.
"""

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol, cast

from everlore.domain.errors import ConfigurationError
from everlore.models.rules import WITHOUT_PARSER
from everlore.models.rules.mending import mend
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token


class _Batched(Protocol):
    """A component that reads many texts at a time."""

    def pipe(self, stream: "Iterable[Doc]", *, batch_size: int) -> "Iterator[Doc]": ...


_LOCK = threading.Lock()
_POS: Final = {
    "JJ": "ADJ", "JJR": "ADJ", "JJS": "ADJ", "AFX": "ADJ", "PRP$": "PRON", "WP$": "PRON", "PRP": "PRON", "WP": "PRON",
    "EX": "PRON",
    "RB": "ADV", "RBR": "ADV", "RBS": "ADV", "WRB": "ADV", "RP": "ADP", "IN": "ADP", "CC": "CCONJ", "CD": "NUM", "DT": "DET",
    "PDT": "DET", "WDT": "DET", "MD": "AUX", "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "NNPS": "PROPN",
    "TO": "PART", "POS": "PART",
    "UH": "INTJ", "VB": "VERB", "VBD": "VERB", "VBG": "VERB", "VBN": "VERB", "VBP": "VERB", "VBZ": "VERB", "_SP": "SPACE",
    "$": "SYM", "SYM": "SYM", "#": "SYM", "FW": "X", "LS": "X", "XX": "X", "ADD": "X",
}  # fmt: skip
_LEMMAS: Final = {
    "'m": "be", "'re": "be", "am": "be", "'ve": "have", "n't": "not", "ca": "can", "wo": "will", "'ll": "will", "i": "i",
    "me": "i", "gon": "go", "wan": "want", "is": "be", "are": "be", "was": "be", "were": "be", "been": "be", "being": "be",
    "has": "have", "had": "have", "does": "do", "did": "do", "hates": "hate",
}  # fmt: skip
_PERSONAL: Final = frozenset(f"{one}s" for one in words("statements.personal", "en"))
COMMON_NAME: Final = "john"
_BASIC: Final = frozenset({"VB", "VBP", "NN", "NNP", "JJ", "RB"})
_OBJECT_LIKE: Final = frozenset({"nsubj", "nsubjpass", "dobj", "pobj", "attr", "conj"})
# The vocabulary keeps every word ever read: some 800 when loaded, 3,100 after the sample conversation. A worker lives for weeks
# and reads names, numbers and slips without end; at this many they take some 40 MB, and loading anew costs a second.
_MOST_WORDS = 20_000


@lru_cache(maxsize=1)
def loaded() -> "Language":
    try:
        import everlore_english
        import spacy
    except ImportError as error:
        raise ConfigurationError(WITHOUT_PARSER) from error
    language = spacy.load(everlore_english.path(), exclude=["senter", "attribute_ruler"])
    for name in ("ner", "lemmatizer"):
        language.disable_pipe(name)
    return language


def _fresh() -> "Language":
    """The pipeline, loaded anew where it has seen too many words. What it parsed before keeps the old vocabulary."""
    if len(loaded().vocab) > _MOST_WORDS:
        loaded.cache_clear()
    return loaded()


def parsed(texts: Sequence[str], people: Collection[str] = (), known: Collection[str] = ()) -> "list[Doc]":
    """The texts with their words' tags, lemmas and heads; characters keep their places. `people` and `known`: names of persons
    and other names, in lower case. A rare one ("Em", "Tash") is taken for anything by the tagger, so that it reads a common one
    in its place: people always, the others where they were taken for something else than a name."""
    with _LOCK:
        language = _fresh()
        docs = list(
            language.pipe((_as_common(language.make_doc(text), people) for text in texts), batch_size=64)
        )
        for place, doc in enumerate(docs):
            mistaken = {one.lower_ for one in doc if one.is_title and _is_mistaken(one, known)}
            if mistaken:
                docs[place] = language(_as_common(language.make_doc(doc.text), {*people, *mistaken}))
                for one in docs[place]:
                    if one.is_title and one.lower_ in mistaken:
                        one.tag_ = "NNP"  # its letters may still speak for something else
        lemmatizer = language.get_pipe("lemmatizer")
        names = cast("_Batched", language.get_pipe("ner"))
        for doc in docs:
            for token in doc:
                token.pos_ = _part_of_speech(token)
            lemmatizer(doc)
            for token in doc:
                token.lemma_ = _lemma(token)
            mend(doc)
        named = [doc for doc in docs if any(one.pos_ == "PROPN" for one in doc)]
        list(names.pipe(named, batch_size=64))
        return docs


def _is_mistaken(token: "Token", known: Collection[str]) -> bool:
    """Whether a name was taken for something else: one that is known, or a plural or an "oh" that is written large."""
    inside = token.i > 0 and token.nbor(-1).is_alpha and not token.is_sent_start
    return token.tag_ not in {"NNP", "NNPS"} and (
        token.lower_ in known
        or (inside and token.tag_ in {"NNS", "UH"})
        or (token.tag_ == "UH" and token.dep_ == "nsubj")  # "Em got the keys": no "oh" does anything
        or _does_what_people_do(token)
    )


def _does_what_people_do(token: "Token") -> bool:
    """ "Stone lives in Porto.": a bare noun that opens its sentence, where only somebody can be meant."""
    bare = (
        token.is_sent_start is True
        and token.tag_ in {"NN", "JJ", "RB", "VB", "NNS"}
        and token.n_lefts + token.n_rights == 0
    )
    return (
        bare and token.dep_ == "nsubj" and token.head.tag_ == "VBZ" and token.head.text.lower() in _PERSONAL
    )


def _as_common(doc: "Doc", names: Collection[str]) -> "Doc":
    for token in doc:
        if token.is_title and token.lower_ in names:
            token.norm_ = COMMON_NAME
    return doc


def _lemma(token: "Token") -> str:
    """Without what tells forms from each other the lemmatizer takes "need" for a past tense of "nee": basic forms stay."""
    if token.lower_ == "'s" and token.tag_ != "POS":
        return "be"
    return _LEMMAS.get(token.lower_) or (token.lower_ if token.tag_ in _BASIC else token.lemma_)


def _part_of_speech(token: "Token") -> str:
    if token.dep_ in {"aux", "auxpass"} or (
        token.tag_[:2] == "VB" and token.lower_ in {"is", "are", "was", "were", "am", "be", "'s", "'m", "'re"}
    ):
        return "PART" if token.tag_ == "TO" else "AUX"
    if token.tag_ == "DT" and token.dep_ in _OBJECT_LIKE:
        return "PRON"
    if token.tag_ == "IN" and token.dep_ == "mark":
        return "SCONJ"
    return _POS.get(token.tag_, "PUNCT" if token.is_punct else "X")
