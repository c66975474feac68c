"""A clause as a statement that stands alone: in the third person, with names for pronouns and dates for "yesterday"."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from everlore.models.rules.clauses import Clause, auxiliaries, child, opens
from everlore.models.rules.scene import Person, Scene, is_bare_kin, kin_of, name_of
from everlore.models.rules.times import Times
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

_BE: Final = {"am": "is", "'m": "is", "m": "is", "are": "is", "'re": "is", "re": "is", "were": "was"}
_WRITTEN_OUT: Final = {"'ll": "will", "'re": "are", "'ve": "have", "'m": "am", "wo": "will", "ca": "can",
                       "n't": "not", "nt": "not",
                       "gon": "going", "wan": "want", "na": "to"}  # fmt: skip
_I: Final = frozenset({"i", "we"})
_FIRST: Final = {"i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves", "we": "they", "us": "them",
                 "our": "their", "ours": "theirs", "ourselves": "themselves"}  # fmt: skip
_SECOND: Final = frozenset({"you", "your", "yours", "yourself", "y'all", "ya"})
_THIRD: Final = {"he": "he", "him": "he", "his": "he", "himself": "he", "she": "she", "her": "she", "hers": "she",
                 "herself": "she",
                 "they": "they", "them": "they", "their": "they", "theirs": "they", "themselves": "they"}  # fmt: skip
_POSSESSIVE: Final = frozenset({"his", "hers", "their", "theirs"})
_POINTING: Final = words("statements.pointing", "en")
_NOBODY: Final = words("statements.nobody", "en")
_THINGS: Final = frozenset({"something", "everything", "anything", "what", "whatever", "someone", "somebody"})
_PERIODS: Final = words("statements.periods_of_wording", "en")


@dataclass(slots=True)
class Wording:
    """`text`: the statement. `unclear`: what in it stands for something that it does not say. `subject`: who or what it is about,
    by name; `person`: the same, if it is somebody else than the author. `leans_on`: whom pronouns took up."""

    text: str
    subject: str
    person: Person | None
    unclear: list[str] = field(default_factory=list[str])
    leans_on: list[Person] = field(default_factory=list[Person])


class Refused(Exception):
    """The clause says nothing that can be told of somebody."""


def worded(clause: Clause, scene: Scene, times: Times) -> Wording:
    """Raises Refused."""
    return _Writer(clause, scene, times).written()


def requested(clause: Clause, lead: str, scene: Scene, times: Times) -> Wording:
    """What its author asks for; `lead`: the words for that they do."""
    return _Writer(clause, scene, times, lead).written()


class _Writer:
    def __init__(self, clause: Clause, scene: Scene, times: Times, lead: str = "") -> None:
        self.lead = f"{scene.author} {lead} " if lead else ""
        self.clause, self.scene, self.times = clause, scene, times
        self.mine = clause.subject is None or clause.subject.lower_ in _I
        self.unclear: list[str] = ["a day of some month"] if times.unclear else []
        self.leans_on: list[Person] = []
        self.person: Person | None = None
        self.author_named = False
        self.subject = scene.author if lead else self._subject()
        self.author_named = self.mine and clause.subject is None

    # --- who -----------------------------------------------------------------------------------------------

    def _subject(self) -> str:
        token, scene = self.clause.subject, self.scene
        if self._introduces():
            raise Refused("it is another name for somebody")
        if token is None:
            head = self.clause.head
            if scene.inside or head.tag_ != "VBD" or self.clause.words[0] != head or head.lemma_ == "be":
                raise Refused("nobody does it")
            return scene.author
        low = token.lower_
        if low in _I:
            return scene.author
        if (
            self.times.at(token.i)
            or token.ent_type_ in {"DATE", "TIME"}
            or token.pos_ in {"NUM", "VERB", "ADJ", "ADV", "X"}
        ):
            raise Refused("a time or a number does nothing")
        if low in _SECOND | _NOBODY | _POINTING or token.dep_ in {"expl", "csubj"}:
            raise Refused(f'"{low}" is about nobody in particular')
        if low in _THIRD:
            self.person = self._taken_up(low)
            if self.person is None:
                raise Refused(f'who "{low}" is, is not said')
            return self.person.name
        if any(one.dep_ == "det" and one.lower_ not in {"the", "both", "all"} for one in token.children):
            raise Refused("it points at something, or at nothing in particular")
        said = "".join(self._word(one) for one in token.subtree if one in self.clause.words).strip()
        return " ".join(said.split())

    def _introduces(self) -> bool:
        """ "I'm Maya", "Jonas is Jonas Ekdahl"."""
        subject, name = self.clause.subject, self.clause.child("attr")
        if subject is None or name is None or name.pos_ != "PROPN" or self.clause.head.lemma_ != "be":
            return False
        called = self.scene.author if subject.lower_ == "i" else subject.text
        said = name_of(name, {*self.scene.known, name.lower_}) or ""
        return bool(set(called.split()) & set(said.split()))

    def _taken_up(self, low: str) -> Person | None:
        found = self.scene.taken_up(low)
        if found is not None:
            self.leans_on.append(found)
        return found

    # --- what ----------------------------------------------------------------------------------------------

    def written(self) -> Wording:
        parts = [self.lead or self.scene.author + " "] if self.clause.subject is None else []
        told: set[int] = set()
        for token, behind in zip(
            self.clause.words, (0, *(one.i + 1 for one in self.clause.words)), strict=False
        ):
            time = self.times.at(token.i)
            if time is not None and time.written is not None:
                if not told & time.words:
                    parts.append(f" {time.written} ")
                    told |= time.words
                continue
            parts.append(
                (" " if token.i > behind else "") + self._word(token)
            )  # what stood between is left out
        return Wording(_polished("".join(parts)), self.subject, self.person, self.unclear, self.leans_on)

    def _word(self, token: "Token") -> str:
        glued = token.i + 1 < len(token.doc) and _stands_apart(token.nbor(1))
        return self._said(token) + (token.whitespace_ or (" " if glued else ""))

    def _said(self, token: "Token") -> str:
        low = token.lower_
        if opens(token) and token.text[:1].isupper() and low not in _I:
            full = self.scene.in_full(token.text)
            if full != token.text:
                return full
        if token.pos_ == "PRON" or token.tag_ in {"PRP", "PRP$"} or low in _FIRST or low in _SECOND:
            return self._pronoun(token, low)
        if token.dep_ == "det" and low in {"this", "these", "those", "that"}:
            return self._pointer(token, low)
        pointing = (
            low in {"one", "ones"}
            and token.dep_ in {"dobj", "pobj", "attr", "conj"}
            and (token.dep_ == "dobj" or token.ent_type_ == "")
        )
        if pointing or (low in {"there", "here"} and token.pos_ == "ADV"):
            self.unclear.append(low)
        if is_bare_kin(token) and not self._is_named_after(token):
            return f"{_of(self._author(token))} {low}"
        if token.pos_ in {"VERB", "AUX", "PART"} or low in _WRITTEN_OUT:
            return self._verb(token, low)
        plain = (
            opens(token) and token.pos_ != "PROPN" and not token.ent_type_ and token != self.clause.subject
        )
        return low if plain and not token.text.isupper() else token.text

    def _is_named_after(self, token: "Token") -> bool:
        return name_of(token, self.scene.known) is not None and token.lower_ in self.scene.known

    def _author(self, token: "Token") -> str:
        if self.author_named:
            return "their"
        self.author_named = True
        return (
            self.scene.author
            if token.i == self.clause.words[0].i or self.scene.author != "The user"
            else "the user"
        )

    def _pointer(self, token: "Token", low: str) -> str:
        told = any(one.dep_ in {"appos", "relcl", "amod"} for one in token.head.children)
        if token.head.lower_ in _PERIODS:
            return token.text
        if low == "this" and told and token.head.dep_ in {"dobj", "pobj", "attr"}:
            return "an" if token.nbor(1).lower_[:1] in "aeiou" else "a"
        self.unclear.append(low)
        return token.text

    # --- verbs ---------------------------------------------------------------------------------------------

    def _verb(self, token: "Token", low: str) -> str:
        if self._is_governed(token):
            return _third_person(token, low)
        if token.tag_ == "POS":
            return token.text
        if low in {"am", "'m", "was"} and any(
            one.lower_ == "i"
            for one in (*token.children, *token.head.children)
            if one.dep_.startswith("nsubj")
        ):
            return "were" if low == "was" else "are"
        if low == "'s":
            perfect = token.head.tag_ == "VBN" and (
                token.dep_ == "aux"
                or child(token.head, "dobj") is not None
                or any(one.lower_ == "been" for one in token.head.children)
            )
            return "has" if perfect or token.head.lower_ in {"been", "got"} else "is"
        if low == "'d":
            return "had" if token.head.tag_ == "VBN" else "would"
        if low == "na" and token.i and token.nbor(-1).lower_ not in {"gon", "wan"}:
            return token.text
        cut = (
            {"ca", "wo"}
            if token.i + 1 == len(token.doc) or token.nbor(1).lower_ not in {"n't", "nt"}
            else frozenset[str]()
        )
        return (low not in cut and _WRITTEN_OUT.get(low)) or (low if opens(token) else token.text)

    def _is_governed(self, token: "Token") -> bool:
        """Whether its form follows an "I" that has become a name."""
        if token.tag_ not in {"VBP", "VB", "VBZ", "VBD"} or token.pos_ not in {"VERB", "AUX"}:
            return False
        if self.scene.listener is not None and self._is_of_listener(token):
            return True
        if self.lead or not self.mine:
            return False
        return any(
            token == next(iter(auxiliaries(head)), head) and not self._shares_modal(head)
            for head in self.clause.heads
        )

    def _is_of_listener(self, token: "Token") -> bool:
        """ "because you bring three": the listener does it, who has become a name, too."""
        head = token.head if token.dep_ in {"aux", "auxpass"} else token
        return any(one.lower_ == "you" and one.dep_ in {"nsubj", "nsubjpass"} for one in head.children) and (
            next(iter(auxiliaries(head)), head) == token
        )

    def _shares_modal(self, head: "Token") -> bool:
        """ "I can swim and dive", "I want to ... and go": what follows a bare verb stays bare."""
        first = self.clause.head
        return (
            head != first
            and head.tag_ == "VB"
            and any(one.tag_ == "MD" or one.lower_ in {"do", "did"} for one in auxiliaries(first))
        )

    # --- pronouns ------------------------------------------------------------------------------------------

    def _pronoun(self, token: "Token", low: str) -> str:
        if low in _FIRST:
            return self._first(token, low)
        if low in _SECOND:
            if self.lead:  # the assistant
                return "its" if low.startswith("your") else "it"
            if self.scene.listener is None or low == "y'all":
                self.unclear.append(low)
                return token.text
            return f"{self.scene.listener}'s" if low.startswith("your") else self.scene.listener
        if low in _THIRD:
            return self._third(token, low)
        deep = token.head != self.clause.head and self._is_inside(token)
        if (
            (low in _POINTING and not deep)
            or low in _THINGS
            or (token.tag_ == "DT" and token.dep_ in {"dobj", "pobj"})
        ):
            self.unclear.append(low)
        return token.text

    def _first(self, token: "Token", low: str) -> str:
        if token == self.clause.subject or (
            low == "i" and token.dep_ == "conj" and token.head == self.clause.subject
        ):
            self.author_named = True
            return self.scene.author
        if self.author_named or (
            self.mine and self.clause.subject is not None and token.i > self.clause.subject.i
        ):
            return _FIRST[low]
        if low in {"my", "our"}:
            return _of(self._author(token))
        return self._author(token) if low in {"me", "us", "i", "we"} else _FIRST[low]

    def _third(self, token: "Token", low: str) -> str:
        subject = self.clause.subject
        if token == subject and self.person is not None:
            return self.person.name
        about = self.person.gender if self.person is not None else None
        of_kin = token.dep_ == "poss" and token.head.dep_ == "attr" and kin_of(token.head) is not None
        if self.person is not None and about in {None, _THIRD[low]} and not of_kin:
            return token.text
        own = subject is not None and subject.lower_ not in _I and subject.i < token.i and not of_kin
        if (own and self._may_be(subject, low) and not self._is_object(token)) or self._is_inside(token):
            return token.text
        found = self._taken_up(low)
        if found is None:
            self.unclear.append(low)
            return token.text
        return (
            f"{found.name}'s" if low in _POSSESSIVE or (low == "her" and token.tag_ == "PRP$") else found.name
        )

    def _is_object(self, token: "Token") -> bool:
        """Whether it is done something to by the subject, which it then cannot mean: "Sydney found him"."""
        return token.tag_ == "PRP" and token.dep_ in {"dobj", "dative"} and token.head in self.clause.heads

    def _may_be(self, subject: "Token | None", low: str) -> bool:
        """Whether a pronoun behind the subject means it."""
        if subject is None:
            return False
        several = subject.tag_ in {"NNS", "NNPS"} or child(subject, "conj") is not None
        return several == (_THIRD[low] == "they") or (kin_of(subject) is not None and not several)

    def _is_inside(self, token: "Token") -> bool:
        """Whether the clause itself says before what a pronoun takes up."""
        low, several = (
            token.lower_,
            token.lower_ in {"they", "them", "their", "theirs", "themselves", "these", "those"},
        )
        for one in self.clause.words:
            if one.i >= token.i:
                return False
            if (
                one.pos_ not in {"NOUN", "PROPN"}
                or one.dep_ in {"compound", "npadvmod"}
                or one == self.clause.subject
            ):
                continue
            if low in _THIRD and not several:
                if one.ent_type_ == "PERSON" or child(one, "poss") is not None:
                    return True
            elif several == (one.tag_ in {"NNS", "NNPS"}):
                return True
        return False


def _of(owner: str) -> str:
    return owner if owner == "their" else f"{owner}'s"


def _third_person(token: "Token", low: str) -> str:
    if low in _BE:
        return _BE[low]
    if low in {"have", "'ve", "ve"}:
        return "has"
    if low == "'d":
        return "had" if token.head.tag_ == "VBN" else "would"
    if token.tag_ in {"VBZ", "VBD"} or low in {"'ll", "to", "ca", "wo"}:
        return _WRITTEN_OUT.get(low, low)
    return inflected(low) if token.lemma_.lower() == low else low


def inflected(verb: str) -> str:
    """The third person singular of an English verb."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _stands_apart(token: "Token") -> bool:
    """Whether a word that is written onto the one before is a word of its own once it is written out."""
    low = token.lower_
    return low in _WRITTEN_OUT or low in {"'d", "not"} or (low == "'s" and token.tag_ != "POS")


def _polished(written: str) -> str:
    """Blanks and marks in their places, a capital and a full stop."""
    text = " ".join(written.split())
    for mark in (",", ".", ")", "%", "!", ";", ":"):
        text = text.replace(f" {mark}", mark)
    text = text.replace("( ", "(").replace("$ ", "$").replace("can not ", "cannot ").replace(",,", ",")
    if text.count('"') % 2:
        text = text.replace('"', "")
    text = text.strip(" ,;:-–—!")
    return text[:1].upper() + text[1:].removesuffix(".") + "."
