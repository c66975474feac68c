"""A clause as a statement that stands alone: in the third person, with names for pronouns and dates for "yesterday"."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from everlore.models.parsed.clauses import Clause
from everlore.models.parsed.scene import Person, Scene

if TYPE_CHECKING:
    from spacy.tokens import Token

_BE: Final = {"am": "is", "'m": "is", "m": "is", "are": "is", "'re": "is", "re": "is", "were": "was"}
_HAVE: Final = {"have": "has", "'ve": "has", "ve": "has"}
_WRITTEN_OUT: Final = {
    "'ll": "will", "'re": "are", "'ve": "have", "'m": "am", "wo": "will", "ca": "can", "n't": "not", "nt": "not",
    "gon": "going", "wan": "want", "got": "got", "u": "you", "ur": "your", "im": "am",
}  # fmt: skip
_FIRST: Final = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"})
_SECOND: Final = frozenset({"you", "your", "yours", "yourself", "y'all", "u", "ur", "ya"})
_THIRD: Final = frozenset({"he", "him", "his", "she", "her", "hers", "they", "them", "their", "theirs", "himself", "herself", "themselves"})
_POINTING: Final = frozenset({"this", "that", "these", "those", "it", "its", "itself", "one", "ones", "there", "here", "such"})
_INDEFINITE: Final = frozenset({"everyone", "everybody", "people", "someone", "somebody", "anyone", "nobody", "something", "everything",
                                "nothing", "anything", "what", "who", "which", "whatever", "some", "many", "most", "all", "both"})  # fmt: skip


@dataclass(slots=True)
class Wording:
    """`text`: the statement. `unclear`: what in it stands for something that it does not say. `subject`: who or what it is about,
    by name; `person`: the same, if it is somebody."""

    text: str
    subject: str
    person: Person | None
    unclear: list[str] = field(default_factory=list[str])


class Refused(Exception):
    """The clause says nothing that can be told of somebody."""


def worded(clause: Clause, scene: Scene, dates: "Mapping[int, tuple[str, frozenset[int]]]") -> Wording:
    """`dates`: by the index of their first word, what stands for the words with these indices. Raises Refused."""
    writer = _Writer(clause, scene, dates)
    return writer.written()


class _Writer:
    def __init__(self, clause: Clause, scene: Scene, dates: "Mapping[int, tuple[str, frozenset[int]]]") -> None:
        self.clause = clause
        self.scene = scene
        self.dates = dates
        self.unclear: list[str] = []
        self.person: Person | None = None
        self.named_author = False
        self.subject = self._subject()
        self.named_author = False

    def _subject(self) -> str:
        token, scene = self.clause.subject, self.scene
        if token is None:
            if self.clause.head.tag_ != "VBD" or self.clause.auxiliaries():
                raise Refused("nobody does it")
            return scene.author
        low = token.lower_
        if low == "i":
            return scene.author
        if low == "we":
            return f"{scene.author} and others"
        if token.i in self.dates or token.ent_type_ in {"DATE", "TIME"}:
            raise Refused("a time does nothing")
        if low in _SECOND or low in _INDEFINITE or token.dep_ in {"expl", "csubj"} or low in _POINTING:
            raise Refused(f'"{low}" is about nobody in particular')
        if low in _THIRD:
            self.person = scene.taken_up(low)
            if self.person is None:
                raise Refused(f'who "{low}" is, is not said')
            return self.person.name
        if any(one.lower_ in {"this", "that", "these", "those"} for one in token.children):
            raise Refused("it points at something")
        return "".join(self._word(one) for one in token.subtree if one in self.clause.words).strip()

    def written(self) -> Wording:
        clause, parts = self.clause, list[str]()
        if clause.subject is None:
            parts.append(self.scene.author + " ")
            self.named_author = True
        skip: frozenset[int] = frozenset()
        for token in clause.words:
            if token.i in self.dates:
                said, skip = self.dates[token.i]
                parts.append(f" {said} ")
            if token.i in skip:
                continue
            parts.append(self._word(token))
        text = " ".join("".join(parts).split())
        for mark in (",", ".", ")", "%", "!", "'s ", ";", ":"):
            text = text.replace(f" {mark}", mark)
        text = text.replace("( ", "(").replace("$ ", "$").replace(" n't", "n't").replace(" - ", "-")
        if text.count('"') % 2:
            text = text.replace('"', "")
        text = text.strip(" ,;:-–—")
        text = text[:1].upper() + text[1:] + "."
        return Wording(text, self.subject, self.person, self.unclear)

    def _word(self, token: "Token") -> str:
        return self._said(token) + (token.whitespace_ or ("" if self._joined(token) else " "))

    def _joined(self, token: "Token") -> bool:
        """Whether the next word is written onto this one."""
        if token.i + 1 >= len(token.doc):
            return False
        following = token.doc[token.i + 1]
        return not (following.pos_ == "AUX" or following.lower_ in {"n't", "'ll", "'ve", "'re", "'m", "not", "na"} or (following.text == "'s" and following.tag_ != "POS"))

    def _said(self, token: "Token") -> str:
        low = token.lower_.replace("’", "'")
        subject = self.clause.subject
        if token.pos_ == "PRON" or low in _FIRST | _SECOND or (token.tag_ in {"PRP", "PRP$"}):
            return self._pronoun(token, low)
        if low in {"this", "these", "those", "that"} and token.dep_ == "det":
            if token.head.lower_ not in {"week", "weekend", "month", "year", "summer", "winter", "spring", "fall", "morning", "evening"}:
                if token.head.dep_ in {"dobj", "pobj", "attr"} and low == "this" and any(one.dep_ in {"appos", "relcl", "amod"} for one in token.head.children):
                    return "a"
                self.unclear.append(low)
            return token.text
        if low in {"there", "here"} and token.pos_ == "ADV":
            self.unclear.append(low)
            return token.text
        if low in {"am", "'m", "was"} and any(one.lower_ == "i" for one in (token, token.head) for one in one.children if one.dep_ in {"nsubj", "nsubjpass"}) and not self._governed(token):
            return "were" if low == "was" else "are"
        if self._governed(token):
            return self._third_person(token, low)
        if low == "'s" and token.pos_ in {"AUX", "VERB"}:
            return "has" if token.head.tag_ == "VBN" and token.dep_ == "aux" else "is"
        if low in _WRITTEN_OUT and token.pos_ in {"AUX", "VERB", "PART"}:
            return _WRITTEN_OUT[low]
        if low == "'d":
            return "had" if token.head.tag_ == "VBN" else "would"
        if token.is_sent_start and token.pos_ not in {"PROPN"} and token.ent_type_ == "" and token != subject:
            return token.text[:1].lower() + token.text[1:] if not token.text.isupper() else token.text
        return token.text

    def _governed(self, token: "Token") -> bool:
        """Whether its form follows an "I" that has become a name."""
        subject = self.clause.subject
        if subject is not None and subject.lower_ != "i":
            return False
        if token.tag_ not in {"VBP", "VB", "VBZ", "VBD"} or token.pos_ not in {"VERB", "AUX"}:
            return False
        for head in self.clause.heads:
            first = next((one for one in head.children if one.dep_ in {"aux", "auxpass"}), head)
            if token == first and first.tag_ != "MD":
                return True
        return False

    def _third_person(self, token: "Token", low: str) -> str:
        if low in _BE:
            return _BE[low]
        if low in _HAVE:
            return "has"
        if low in {"do"}:
            return "does"
        if token.tag_ in {"VBZ", "VBD"} or low in {"'d", "'ll", "to"}:
            return "had" if low == "'d" and token.head.tag_ == "VBN" else token.text
        return inflected(low)

    def _pronoun(self, token: "Token", low: str) -> str:
        clause, scene = self.clause, self.scene
        mine = clause.subject is None or clause.subject.lower_ in {"i", "we"}
        if low in {"i", "me"}:
            if token == clause.subject or (low == "me" and not mine and not self.named_author):
                self.named_author = True
                return scene.author if not (token != clause.subject and scene.author == "The user") else "the user"
            return "they" if low == "i" else "them"
        if low == "we":
            if token == clause.subject:
                self.named_author = True
                return f"{scene.author} and others"
            return "they"
        if low in {"my", "our"}:
            if mine or self.named_author:
                return "their"
            self.named_author = True
            starts = token.i == clause.words[0].i
            author = scene.author if starts or scene.author != "The user" else "the user"
            return f"{author}'s"
        if low in {"us"}:
            return "them"
        if low in {"mine", "ours"}:
            return "theirs"
        if low in {"myself", "ourselves"}:
            return "themselves"
        if low in _SECOND:
            if scene.listener is None or low in {"y'all"}:
                self.unclear.append(low)
                return token.text
            return f"{scene.listener}'s" if low in {"your", "yours", "ur"} else scene.listener
        if low in _THIRD:
            return self._third(token, low)
        if low in _POINTING and not self._inside(token):
            self.unclear.append(low)
        if low in _INDEFINITE and low in {"something", "everything", "anything", "what", "whatever"}:
            self.unclear.append(low)
        return token.text

    def _third(self, token: "Token", low: str) -> str:
        if token == self.clause.subject and self.person is not None:
            return self.person.name
        if self.person is not None and self.person.gender in {None, *_gender(low)}:
            return token.text
        subject = self.clause.subject
        if subject is not None and subject.lower_ not in _FIRST and subject.i < token.i and low in {"his", "her", "their", "him", "them", "himself", "herself", "themselves"}:
            return token.text
        if self._inside(token):
            return token.text
        found = self.scene.taken_up(low)
        if found is None:
            self.unclear.append(low)
            return token.text
        possessive = low in {"his", "hers", "their", "theirs"} or (low == "her" and token.tag_ == "PRP$")
        return f"{found.name}'s" if possessive else found.name

    def _inside(self, token: "Token") -> bool:
        """Whether the clause itself says before what a pronoun takes up."""
        low = token.lower_
        plural = low in {"they", "them", "their", "theirs", "themselves", "these", "those"}
        for one in self.clause.words:
            if one.i >= token.i:
                return False
            if one.pos_ in {"NOUN", "PROPN"} and one.dep_ not in {"compound", "npadvmod"} and one != self.clause.subject:
                if low in {"he", "him", "his", "she", "her", "hers"}:
                    if one.ent_type_ == "PERSON" or any(c.dep_ == "poss" for c in one.children):
                        return True
                elif plural == (one.tag_ in {"NNS", "NNPS"}):
                    return True
        return False


def _gender(low: str) -> set[str]:
    if low in {"he", "him", "his", "himself"}:
        return {"he"}
    return {"she"} if low in {"she", "her", "hers", "herself"} else {"they"}


def inflected(verb: str) -> str:
    """The third person singular of an English verb."""
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
