"""Clauses of a sentence: who does what, with the words that say it, cut out of a dependency parse.

Labels are those of the pipeline's scheme (ClearNLP): nsubj, dobj, attr, acomp, xcomp, ccomp, advcl, conj, ...
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "csubj"})
# What stands beside what is said.
_BESIDE: Final = frozenset({"meta", "dep"})
# A sentence with more words is a story: its clauses stand alone, however they are joined.
_TOGETHER = 24
_OPENERS: Final = frozenset(
    "so well anyway also actually honestly btw plus then though anyways basically ok okay yeah yes yep no nah oh"
    " and but or hopefully luckily sadly unfortunately thankfully fortunately apparently lately now just even still"
    " definitely really totally literally finally".split()
)
_LIGHT: Final = frozenset(
    "so actually honestly btw anyway though just really totally literally definitely even also too finally".split()
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A verb with its subject and the words that belong to it, in order. `subject`: the head word of who does it (None where the
    sentence leaves it out). `verbs`: the finite verbs that the subject governs."""

    head: "Token"
    subject: "Token | None"
    words: "tuple[Token, ...]"
    heads: "tuple[Token, ...]" = field(default=())

    def child(self, *labels: str) -> "Token | None":
        return next((one for one in self.head.children if one.dep_ in labels), None)

    def auxiliaries(self) -> "list[Token]":
        return [one for one in self.head.children if one.dep_ in {"aux", "auxpass"}]

    @property
    def negated(self) -> bool:
        return any(one.dep_ == "neg" or one.lower_ in {"never", "no"} and one.dep_ in {"advmod"} for one in self.head.children)


def clauses(sentence: "Span") -> "Iterator[Clause]":
    """The clauses that a sentence states, in order. Those that only serve another one stay inside it."""
    for group in sorted(_groups(sentence.root), key=lambda one: one[0].i):
        if not _is_finite(group[0]):
            continue
        subject = _subject(group[0])
        words = _words(group, sentence)
        yield Clause(group[0], subject, tuple(words), tuple(group))


def _groups(root: "Token") -> "list[list[Token]]":
    """Verbs that are stated, those together that share a subject and are short enough to be read in one breath."""
    groups: list[list[Token]] = []
    waiting = [root]
    while waiting:
        head = waiting.pop()
        group = [head]
        groups.append(group)
        for child in head.children:
            if child.dep_ in {"ccomp", "parataxis"} and _spliced(child, head):
                waiting.append(child)
        last = head
        while (following := next((one for one in last.children if one.dep_ == "conj" and one.pos_ in {"VERB", "AUX"}), None)) is not None:
            if _own_subject(following) is not None:
                waiting.append(following)
                break
            group.append(following)
            last = following
        for member in group:
            for child in member.children:
                if child.dep_ == "parataxis" and child not in waiting:
                    waiting.append(child)
    return groups


def _is_finite(head: "Token") -> bool:
    """Whether something is stated at all: fragments and lists of things have no such verb."""
    if head.pos_ not in {"VERB", "AUX"}:
        return False
    helped = any(one.dep_ in {"aux", "auxpass"} and one.lower_ != "to" for one in head.children)
    return head.tag_ in {"VBD", "VBZ", "VBP", "VB"} or (head.tag_ in {"VBG", "VBN"} and helped)


def _spliced(child: "Token", head: "Token") -> bool:
    """ "It rained, we stayed in": two statements with a comma between them."""
    if child.i > head.i or _own_subject(child) is None or _own_subject(head) is None:
        return child.dep_ == "parataxis"
    return any(one.text in {",", ";", "-", "–", "—", "..."} for one in head.doc[child.i : head.i] if one.head in (head, child))


def _own_subject(head: "Token") -> "Token | None":
    return next((one for one in head.children if one.dep_ in SUBJECTS or one.dep_ == "expl"), None)


def _subject(head: "Token") -> "Token | None":
    found = _own_subject(head)
    while found is None and head.dep_ == "conj":
        head = head.head
        found = _own_subject(head)
    return found


def _words(group: "list[Token]", sentence: "Span") -> "list[Token]":
    dropped: set[int] = set()

    def drop(token: "Token") -> None:
        dropped.update(one.i for one in token.subtree)

    inside = set(group)
    for head in group:
        for child in head.children:
            if child in inside:
                continue
            if child.dep_ in _BESIDE or child.dep_ == "parataxis" or (child.dep_ == "intj" and not _between(child, group)):
                drop(child)
            elif child.dep_ == "ccomp" and _spliced(child, head):
                drop(child)
            elif child.dep_ == "conj" and child.pos_ in {"VERB", "AUX"}:
                drop(child)
            elif child.dep_ == "advmod" and child.lower_ in _OPENERS and child.i < head.i and child.i <= group[0].left_edge.i + 1:
                drop(child)
            elif child.dep_ == "advmod" and child.lower_ in _LIGHT and not list(child.children):
                drop(child)
            elif child.dep_ == "npadvmod" and child.pos_ == "PROPN" and _apart(child):
                drop(child)
    top = group[0]
    tokens = [
        one
        for one in top.subtree
        if one.i not in dropped and not one.is_space and sentence.start <= one.i < sentence.end
    ]
    own = _subject(top)
    while tokens and (
        tokens[0].dep_ in {"cc", "punct", "intj"}
        or (tokens[0].dep_ == "mark" and tokens[0].head in inside)
        or (tokens[0].lower_ in _OPENERS and tokens[0].dep_ in {"advmod", "cc", "intj", "mark", "dep"})
    ):
        tokens.pop(0)
    while tokens and (tokens[-1].dep_ in {"cc", "punct", "intj"} or tokens[-1].is_punct):
        tokens.pop()
    return _tidy(_without_tails(tokens, group, own))


def _between(token: "Token", group: "list[Token]") -> bool:
    """Whether it stands behind the verb and before something else that belongs to it ("say no to him")."""
    return group[0].i < token.i < group[0].right_edge.i and not token.nbor(-1).is_punct


def _without_tails(tokens: "list[Token]", group: "list[Token]", own: "Token | None") -> "list[Token]":
    """Without clauses behind a comma that only comment (", which was great", ", so I cried")."""
    cut: set[int] = set()
    for token in tokens:
        if token.dep_ in {"relcl", "advcl"} and token.i > group[0].i:
            edge = token.left_edge.i
            before = token.doc[edge - 1] if edge else None
            marked = next((one.lower_ for one in token.children if one.dep_ in {"mark", "advmod"} and one.i <= edge + 1), "")
            comma = before is not None and before.text in {",", "-", "–", "—"}
            if comma or marked in {"so", "though", "although", "cause", "cuz", "while", "even"}:
                cut.update(one.i for one in token.subtree)
    return [one for one in tokens if one.i not in cut]


def _tidy(tokens: "list[Token]") -> "list[Token]":
    """Without marks and joints that nothing stands behind any more."""
    kept: list[Token] = []
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        if (token.is_punct and token.text not in {"'", '"', "%", "(", ")", "/"} and token.text != "-") or token.dep_ == "cc":
            if following is None or not kept or (following.is_punct and token.dep_ != "punct"):
                continue
            if token.is_punct and following.i != token.i + 1 and token.text != ",":
                continue
            if token.dep_ == "cc" and following.i != token.i + 1 and following.dep_ not in {"det", "amod", "poss", "compound", "conj", "neg", "advmod", "aux"}:
                continue
        kept.append(token)
    while kept and (kept[-1].is_punct or kept[-1].dep_ == "cc"):
        kept.pop()
    return kept


def _apart(token: "Token") -> bool:
    """Whether commas set it apart: whom the sentence speaks to."""
    doc, left, right = token.doc, token.left_edge.i, token.right_edge.i
    return (left > 0 and doc[left - 1].text == ",") or (right + 1 < len(doc) and doc[right + 1].text in {",", "!"})
