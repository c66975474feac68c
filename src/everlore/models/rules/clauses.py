"""Clauses of a sentence: who does what, with the words that say it, cut out of a dependency parse.

Labels are those of the pipeline's scheme (ClearNLP): nsubj, dobj, attr, acomp, xcomp, ccomp, advcl, conj, ...
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Span, Token

SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "csubj"})
VERBS: Final = frozenset({"VERB", "AUX"})
_COMMAS: Final = frozenset({",", ";", "-", "–", "—", "...", "("})
_OPENERS, _FILLERS = words("statements.openers", "en"), words("statements.fillers", "en")
_PERIODS = words("statements.periods", "en") | words("statements.capitalised", "en") | {"march", "may"}
# What a clause may have in front of its subject, and nothing else: a time, a place, "when I was nine".
_AHEAD: Final = frozenset({"prep", "npadvmod", "advcl", "advmod"})
_WHEN: Final = frozenset({"when", "after", "before", "since", "until", "while", "because", "as"})
_COMMENTS: Final = frozenset({"so", "though", "although", "cause", "cuz", "while", "even", "otherwise"})


@dataclass(frozen=True, slots=True)
class Clause:
    """A verb with its subject and the words that belong to it, in order. `subject`: the head word of who does it (None where the
    sentence leaves it out). `heads`: the verbs that the subject governs."""

    head: "Token"
    subject: "Token | None"
    words: "tuple[Token, ...]"
    heads: "tuple[Token, ...]"

    def child(self, *labels: str) -> "Token | None":
        return child(self.head, *labels)

    @property
    def modal(self) -> str | None:
        return next((one.lower_ for one in auxiliaries(self.head) if one.tag_ == "MD"), None)


def child(head: "Token", *labels: str) -> "Token | None":
    return next((one for one in head.children if one.dep_ in labels), None)


def auxiliaries(head: "Token") -> "list[Token]":
    return [one for one in head.children if one.dep_ in {"aux", "auxpass"}]


def is_negated(head: "Token") -> bool:
    return any(
        (one.dep_ == "neg" and not (one.i > head.i and one.nbor(-1).text == ","))  # "on Monday, not Tuesday"
        or one.lower_ in {"never", "longer", "anymore"}
        for one in head.children
    )


def is_finite(head: "Token") -> bool:
    """Whether something is stated at all: fragments and lists of things have no such verb."""
    if head.pos_ not in VERBS or (head.text[:1].isupper() and not opens(head)):
        return False
    helped = any(one.lower_ != "to" for one in auxiliaries(head))
    return head.tag_ in {"VBD", "VBZ", "VBP", "VB"} or (head.tag_ in {"VBG", "VBN"} and helped)


def opens(token: "Token") -> bool:
    """Whether it is the first word of what was parsed, or of its sentence."""
    return token.is_sent_start is True or not any(one.is_alpha for one in token.doc[: token.i])


def clauses(sentence: "Span") -> Iterator[Clause]:
    """The clauses that a sentence states, in order. Those that only serve another one stay inside it."""
    for group in sorted(_groups(sentence.root), key=lambda one: one[0].i):
        if is_finite(group[0]):
            subject = _subject(group[0])
            yield Clause(group[0], subject, tuple(_words(group, subject, sentence)), tuple(group))
    yield from _relative(sentence)


def _relative(sentence: "Span") -> Iterator[Clause]:
    """ "My brother Tom, who works at Acme, ...": what is told of somebody on the way, with them as its subject."""
    for head in sentence:
        who = child(head, "nsubj") if head.dep_ == "relcl" and is_finite(head) else None
        whom = head.head
        named = whom.pos_ == "PROPN" or child(whom, "appos") is not None
        if who is None or who.lower_ != "who" or not (named or child(whom, "poss") is not None):
            continue
        inner = list(head.subtree)
        own = [one for one in whom.subtree if one not in inner and one.i < head.i and one.dep_ != "punct"]
        said = [*own, *(one for one in inner if one != who and not one.is_space and one.i > who.i)]
        heads = [head] if (second := _joined(head)) is None else [head, second]
        yield Clause(head, whom, tuple(_tidy(_without_tails(said, heads))), tuple(heads))


def _groups(root: "Token") -> "list[list[Token]]":
    """Verbs that are stated, those together that share a subject."""
    groups: list[list[Token]] = []
    waiting = [root]
    while waiting:
        group = [waiting.pop()]
        groups.append(group)
        while (following := _joined(group[-1])) is not None:
            if _own_subject(following) is not None or (
                following.tag_ == "VB"
                and not auxiliaries(following)
                and group[0].tag_ != "VB"
                and group[0].tag_ != "VBP"
            ):
                waiting.append(following)
                break
            group.append(following)
        waiting += [one for head in group for one in head.children if _stands_alone(one, head)]
    return groups


def _joined(head: "Token") -> "Token | None":
    return next((one for one in head.children if one.dep_ == "conj" and one.pos_ in VERBS), None)


def _stands_alone(one: "Token", head: "Token") -> bool:
    """ "It rained, we stayed in": two statements with a comma between them."""
    if one.dep_ == "parataxis":
        return True
    if one.dep_ != "ccomp" or one.pos_ not in VERBS:
        return False
    between = one.doc[min(one.i, head.i) : max(one.i, head.i)]
    if one.i < head.i:
        return _own_subject(one) is not None or any(mark.text in _COMMAS for mark in between)
    return _own_subject(one) is not None and any(
        mark.text in {",", ";"} and mark.head in (one, head) for mark in between
    )


def _own_subject(head: "Token") -> "Token | None":
    return next((one for one in head.children if one.dep_ in SUBJECTS or one.dep_ == "expl"), None)


def _subject(head: "Token") -> "Token | None":
    found = _own_subject(head)
    while found is None and head.dep_ == "conj":
        head = head.head
        found = _own_subject(head)
    return found


def _words(group: "list[Token]", subject: "Token | None", sentence: "Span") -> "list[Token]":
    top, dropped = group[0], set[int]()
    for head in group:
        for one in head.children:
            if one not in group and _is_beside(one, head, group):
                dropped.update(part.i for part in one.subtree)
    tokens = [
        one
        for one in top.subtree
        if one.i not in dropped and not one.is_space and sentence.start <= one.i < sentence.end
    ]
    tokens = _without_tails(_without_lead(tokens, top, subject), group)
    while tokens and _only_joins(tokens[0], group):
        tokens.pop(0)
    return _tidy(tokens)


def _only_joins(one: "Token", group: "list[Token]") -> bool:
    """ "and", "oh", or the "that" of the clause itself; the "when" of another one ahead of it stays with that."""
    return (
        one.dep_ in {"cc", "punct", "intj"}
        or one.lower_ == "just"
        or (one.dep_ == "mark" and one.head in group)
    )


def _is_beside(one: "Token", head: "Token", group: "list[Token]") -> bool:
    """Whether a part of the clause stands beside what it says: interjections, comments, whom it speaks to, the next statement."""
    match one.dep_:
        case "meta" | "dep" | "parataxis":
            return True
        case "intj":
            return not group[0].i < one.i < group[0].right_edge.i or one.nbor(-1).is_punct
        case "ccomp":
            return _stands_alone(one, head)
        case "conj":
            return one.pos_ in VERBS or _own_subject(one) is not None
        case "advmod":
            return (one.lower_ in _OPENERS and one.i < head.i and one.i <= group[0].left_edge.i + 1) or (
                one.lower_ in _FILLERS and one.n_lefts + one.n_rights == 0
            )
        case "npadvmod":
            return one.pos_ == "PROPN" and one.lower_ not in _PERIODS and _is_apart(one)
        case _:
            return False


def _without_lead(tokens: "list[Token]", top: "Token", subject: "Token | None") -> "list[Token]":
    """Without what stands in front of the subject, but for times, places and "when I was nine"."""
    if subject is None:
        return [one for one in tokens if one.i >= top.i or one.dep_ in {"aux", "neg"}]
    first = subject.left_edge.i
    if first > 1 and subject.doc[first - 1].lower_ == "and":  # "Beatriz and I"
        return tokens
    lead = [one for one in top.children if one.i < first and one.dep_ in _AHEAD]
    kept: set[int] = set()
    for one in lead:
        marked = next((part.lower_ for part in one.children if part.dep_ in {"mark", "advmod"}), "")
        timely = one.dep_ == "npadvmod" and one.lower_ in _PERIODS and not _is_the_other_day(one)
        joint = one.dep_ == "prep" and not any(
            part.lemma_.lower() in words("statements.joints", "en") for part in one.subtree
        )
        often = one.dep_ == "advmod" and one.lower_ not in _OPENERS | _FILLERS
        told = (
            one.dep_ == "advcl"
            and marked in _WHEN
            and any(part.pos_ in {"NOUN", "PROPN", "NUM"} for part in one.subtree)
        )
        if timely or joint or told or often:
            kept.update(part.i for part in one.subtree)
    heads = {top.i, *(one.i for one in auxiliaries(top))}
    return [
        one
        for one in tokens
        if one.i >= first or one.i in kept or one.i in heads or (one.is_punct and one.i - 1 in kept)
    ]


def _is_the_other_day(token: "Token") -> bool:
    return any(one.lower_ == "other" for one in token.children)


def _without_tails(tokens: "list[Token]", group: "list[Token]") -> "list[Token]":
    """Without what only comments or begins anew behind a comma (", which was great", ", so I cried", ", rest fine")."""
    cut: set[int] = set()
    for one in tokens:
        if one.i <= group[0].i or one in group:
            continue
        edge = one.left_edge
        behind_comma = edge.i > 0 and edge.nbor(-1).text in _COMMAS
        if one.dep_ in {"relcl", "advcl"}:
            marked = next((part.lower_ for part in one.children if part.dep_ in {"mark", "advmod"}), "")
            comments = behind_comma or marked in _COMMENTS
        else:
            own = any(part.dep_ in SUBJECTS for part in one.children)
            comments = behind_comma and (
                (own and one.dep_ in {"appos", "conj", "ccomp", "dep", "advcl", "npadvmod"})
                or _is_afterthought(one)
            )
        if comments:
            cut.update(part.i for part in one.subtree)
    # What is joined behind a clause that was cut may belong to that.
    cut.update(part.i for head in group[1:] if any(place < head.i for place in cut) for part in head.subtree)
    return [one for one in tokens if one.i not in cut]


def _is_afterthought(token: "Token") -> bool:
    """ "..., surgery Thursday", "..., paper on the fridge door": a bare noun behind a comma that explains nothing before it."""
    if token.dep_ not in {"appos", "npadvmod", "dep"} or token.pos_ != "NOUN" or token.lower_ in _PERIODS:
        return False
    return not any(one.dep_ in {"det", "poss", "nummod", "amod", "compound"} for one in token.children)


def _tidy(tokens: "list[Token]") -> "list[Token]":
    """Without marks and joints that nothing stands behind any more."""
    kept: list[Token] = []
    for place, one in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else None
        mark = one.is_punct and one.text not in {"'", '"', "%", "(", ")", "/", "-", "#", "&"}
        if mark or one.dep_ == "cc":
            gap = following is None or following.i > one.i + (1 if mark else 2)
            ends = bool(kept) and kept[-1].is_punct and one.lower_ != "but"
            if following is None or not kept or ends or (gap and not (mark and one.text == ",")):
                continue
            if (following.is_punct and following.text != '"') or (following.dep_ == "cc" and mark and gap):
                continue
        kept.append(one)
    while kept and (
        kept[-1].text in {",", ";", ":", "-", "(", "!", ".", "/"} or kept[-1].dep_ in {"cc", "intj"}
    ):
        kept.pop()
    return kept


def _is_apart(token: "Token") -> bool:
    """Whether commas set it apart: whom the sentence speaks to."""
    doc, left, right = token.doc, token.left_edge.i, token.right_edge.i
    return (left > 0 and doc[left - 1].text == ",") or (
        right + 1 < len(doc) and doc[right + 1].text in {",", "!"}
    )
