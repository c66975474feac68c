"""Facts of a clause: subject, predicate and object read off its arguments."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from everlore.models.parsed.clauses import Clause
from everlore.models.parsed.kin import FORMER, PETS, predicate_of
from everlore.models.parsed.scene import Scene, kin_of, name_of
from everlore.models.parsed.wording import Wording
from everlore.models.parsed.worth import modal

if TYPE_CHECKING:
    from spacy.tokens import Token


@dataclass(frozen=True, slots=True)
class Said:
    """`begin` and `stop`: the characters of the object in what was parsed."""

    subject: str
    predicate: str
    object: str
    begin: int
    stop: int
    is_name: bool = False
    ended: bool = False


_PLACES: Final = frozenset({"GPE", "LOC", "FAC"})
_ENDS: Final = frozenset({"leave", "quit", "stop", "lose"})
_JOBS: Final = ("er", "or", "ist", "ian", "ant", "ent", "man", "woman", "nurse", "chef", "cook", "vet", "clerk", "guard", "pilot", "judge",
                "architect", "analyst", "mechanic", "therapist", "coach", "paramedic", "priest", "carpenter", "plumber", "intern", "diplomat", "surgeon")  # fmt: skip
_NO_JOBS: Final = frozenset(
    "mother father sister brother daughter member fan lover believer person listener reader beginner sucker supporter follower"
    " parent student number winner loser learner thinker survivor outsider newcomer woman man gamer owner partner stranger"
    " dreamer eater sleeper drinker people bit lot moment comment center dinner summer winter event present client patient"
    " keeper teenager gardener goner starter leader human monster character matter letter answer offer power order".split()
)
_GAMES: Final = frozenset(
    "guitar piano violin drums drum bass cello flute saxophone trumpet ukulele keyboard clarinet harp banjo football soccer"
    " basketball tennis volleyball chess golf hockey baseball rugby cricket badminton squash poker dnd".split()
)
_LANGUAGES: Final = frozenset(
    "english spanish french german italian portuguese dutch russian chinese mandarin cantonese japanese korean arabic hindi"
    " turkish polish swedish norwegian danish finnish greek hebrew urdu bengali vietnamese thai czech ukrainian catalan".split()
)


def facts(clause: Clause, wording: Wording, scene: Scene) -> Iterator[Said]:
    """All facts that the clause states of its subject."""
    subject = _subject_of(clause, wording, scene)
    if subject is None:
        return
    hypothetical = modal(clause) in {"would", "could", "might", "may", "should", "will", "'ll", "can", "'d", "must", "wo", "ca"}
    for head in clause.heads:
        lemma = head.lemma_.lower()
        for rule in _BY_VERB.get(lemma, ()):
            if not hypothetical or rule is _taste and modal(clause) is None or (rule is _speaks and modal(clause) == "can"):
                yield from rule(head, subject, clause, scene)


def relations(clause: Clause, scene: Scene) -> Iterator[tuple[Said, str]]:
    """Who is whose sister, with the description that is another name for them ("Anna's sister")."""
    for token in clause.words:
        role = kin_of(token)
        if role is None:
            continue
        whose = next(one for one in token.children if one.dep_ == "poss")
        owner = scene.speaker if whose.lower_ in {"my", "our"} else name_of(whose)
        named = next((one for one in token.children if one.dep_ in {"appos", "npadvmod", "nmod"} and one.pos_ == "PROPN"), None)
        if named is None and token.dep_ == "attr" and token.head == clause.head and clause.subject is not None and clause.subject.pos_ == "PROPN":
            named = clause.subject
        if named is None and token.dep_ == "nsubj" and clause.head.lemma_ == "be":
            complement = clause.child("attr")
            named = complement if complement is not None and complement.pos_ == "PROPN" and complement.ent_type_ in {"PERSON", ""} else None
        called = name_of(named, scene.known) if named is not None else None
        if owner is None or called is None or called == owner or named is None or named.ent_type_ in {"GPE", "ORG", "DATE"}:
            continue
        if any(one.dep_ == "conj" for one in named.children) and token.tag_ != "NNS":
            continue
        predicate, over = predicate_of(role)
        over = over or any(one.lower_ in FORMER for one in token.children if one.dep_ == "amod" and one.lower_ != "old")
        yield Said(called, predicate, owner, named.idx, named.idx + len(named), True, over), f"{owner}'s {token.lower_}"


def _subject_of(clause: Clause, wording: Wording, scene: Scene) -> str | None:
    token = clause.subject
    if token is None or token.lower_ in {"i", "we"}:
        return scene.speaker
    if wording.person is not None:
        return wording.person.called or wording.person.name
    if kin_of(token) is not None:
        named = next((one for one in token.children if one.dep_ in {"appos", "npadvmod", "nmod", "compound"} and one.pos_ == "PROPN"), None)
        if token.tag_ == "NNS":
            return None
        if named is not None:
            return name_of(named)
        whose = next(one for one in token.children if one.dep_ == "poss")
        owner = scene.speaker if whose.lower_ in {"my", "our"} else name_of(whose)
        return f"{owner}'s {token.lower_}" if owner else None
    return name_of(token, scene.known) if token.ent_type_ in {"PERSON", ""} else None


def phrase(token: "Token") -> "tuple[str, int, int]":
    """A noun phrase without its article, and without clauses and times behind it."""
    drop = {"det", "relcl", "poss", "appos", "cc", "conj", "punct", "advcl", "npadvmod", "predet", "ccomp", "acl"}
    kept = [token]
    for child in token.children:
        if child.dep_ in drop and not (child.dep_ == "punct" and child.text == "-"):
            continue
        if child.dep_ == "prep" and (child.i < token.i or child.lower_ not in {"of", "for", "about", "with", "in"} or any(one.pos_ == "PRON" or one.ent_type_ in {"DATE", "TIME"} for one in child.subtree)):
            continue
        if child.dep_ in {"advmod", "amod"} and child.lower_ in {"really", "very", "so", "own", "new", "such", "just"}:
            continue
        kept += [one for one in child.subtree if not one.is_space]
    kept.sort(key=lambda one: one.i)
    run = [kept[0]]
    for one in kept[1:]:
        if one.i != run[-1].i + 1 and token in run:
            break
        run = [*run, one] if one.i == run[-1].i + 1 else [one]
    while len(run) > 1 and run[-1].dep_ in {"prep", "punct", "cc"}:
        run.pop()
    begin, stop = run[0].idx, run[-1].idx + len(run[-1])
    return token.doc.text[begin:stop], begin, stop


def _listed(token: "Token") -> "Iterator[Token]":
    """A noun and those that are listed with it."""
    yield token
    for child in token.children:
        if child.dep_ == "conj" and child.pos_ in {"NOUN", "PROPN", "VERB"}:
            yield from _listed(child)
        elif child.dep_ == "appos" and child.pos_ in {"NOUN", "PROPN"} and token.pos_ == "NOUN" and token.tag_ == "NNS":
            yield from _listed(child)


def _of(head: "Token", *prepositions: str) -> "Token | None":
    for child in head.children:
        if child.dep_ in {"prep", "agent", "dative"} and child.lower_ in prepositions:
            return next((one for one in child.children if one.dep_ == "pobj"), None)
    return None


def _child(head: "Token", *labels: str) -> "Token | None":
    return next((one for one in head.children if one.dep_ in labels), None)


def _negated(head: "Token") -> bool:
    return any(one.dep_ == "neg" or one.lower_ in {"never", "longer", "anymore"} for one in head.children)


_Rule = Callable[["Token", str, Clause, Scene], Iterator[Said]]


def _thing(token: "Token", *, named: bool = False) -> "tuple[str, int, int, bool] | None":
    if token.pos_ not in {"NOUN", "PROPN"} or any(one.lower_ in {"this", "that", "these", "those", "no", "what", "which"} for one in token.children):
        return None
    name = name_of(token)
    if named and name is None:
        return None
    if name is not None:
        begin = token.i - (len(name.split()) - 1)
        first = token.doc[max(begin, 0)]
        return name, first.idx, token.idx + len(token), True
    text, begin, stop = phrase(token)
    return text, begin, stop, False


def _placed(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    place = _of(head, "in", "at", "near", "outside")
    if place is None or head.lemma_ == "live" and head.tag_ == "VBG" and not any(one.dep_ == "aux" for one in head.children):
        return
    if (found := _thing(place, named=True)) and place.ent_type_ not in {"DATE", "PERSON"}:
        yield Said(subject, "lives_in", found[0], found[1], found[2], True, _negated(head) or any(one.lower_ == "used" for one in clause.words))


def _moved(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    if head.tag_ not in {"VBD", "VBN"} or _negated(head):
        return
    place = _of(head, "to", "into")
    if place is not None and (found := _thing(place, named=True)) and place.ent_type_ in _PLACES | {"ORG", ""}:
        yield Said(subject, "lives_in", found[0], found[1], found[2], True)


def _works(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    if (place := _of(head, "at", "for")) is not None and (found := _thing(place, named=True)) and place.ent_type_ not in {"DATE", "TIME"}:
        yield Said(subject, "works_at", found[0], found[1], found[2], True, _negated(head))
    if (job := _of(head, "as")) is not None and (found := _thing(job)):
        yield Said(subject, "works_as", found[0], found[1], found[2], False, _negated(head))
    if (on := _of(head, "on")) is not None and head.tag_ in {"VBG", "VBP", "VBZ"} and (found := _thing(on)):
        if found[3] or len(found[0].split()) > 1:
            yield Said(subject, "works_on", *found, _negated(head))


def _joined(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    thing = _child(head, "dobj")
    if thing is not None and head.tag_ in {"VBD", "VBN"} and (found := _thing(thing)) and (found[3] or thing.lemma_ in {"club", "team", "band", "choir", "group", "gym", "church", "league"}):
        yield Said(subject, "member_of", *found)


def _studies(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    if (place := _of(head, "at")) is not None and (found := _thing(place, named=True)):
        yield Said(subject, "studies_at", found[0], found[1], found[2], True)
    thing = _child(head, "dobj")
    if thing is not None and head.tag_ in {"VBG", "VBP", "VBZ", "VBD"} and (found := _thing(thing)) and thing.ent_type_ != "DATE":
        yield Said(subject, "studies", *found)


def _born(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    if (place := _of(head, "in")) is not None and place.ent_type_ in _PLACES and (found := _thing(place, named=True)):
        yield Said(subject, "born_in", found[0], found[1], found[2], True)


def _taste(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    lemma = head.lemma_.lower()
    if head.tag_ not in {"VBP", "VBZ", "VB"} or any(one.dep_ == "aux" and one.lower_ in {"did", "would", "'d", "will", "'ll"} for one in head.children):
        return
    predicate = {"hate": "dislikes", "dislike": "dislikes", "detest": "dislikes", "loathe": "dislikes", "prefer": "prefers"}.get(lemma, "likes")
    if _negated(head):
        if predicate != "likes":
            return
        predicate = "dislikes"
    thing = _child(head, "dobj")
    for one in () if thing is None else _listed(thing):
        if (found := _thing(one)) and one.pos_ != "VERB" and one.ent_type_ not in {"PERSON", "DATE", "TIME"} and one.lemma_.lower() not in _NOTHING and kin_of(one) is None and not _own(one):
            yield Said(subject, predicate, *found)
    doing = _child(head, "xcomp")
    if doing is not None and doing.tag_ in {"VBG", "VB"}:
        text = _activity(doing)
        if text:
            yield Said(subject, predicate, *text)


_NOTHING: Final = frozenset("thing way idea fact part feeling bit lot one time moment look sound that stuff everything vibe energy support point sense question view outcome color colour".split())


def _own(token: "Token") -> bool:
    return any(one.dep_ == "poss" for one in token.children) or any(one.dep_ == "det" and one.lower_ == "the" for one in token.children) and name_of(token) is None


def _activity(doing: "Token") -> tuple[str, int, int, bool] | None:
    """ "hiking", "playing the piano"."""
    words = [one for one in doing.subtree if one.i >= doing.i and not one.is_space]
    cut: set[int] = set()
    for child in doing.children:
        if child.dep_ in {"advcl", "ccomp", "conj", "cc", "npadvmod", "punct", "relcl", "prep"} and not (child.dep_ == "prep" and doing.lemma_ in {"go", "listen", "look", "work", "dance", "talk", "play"}):
            cut.update(one.i for one in child.subtree)
    kept = []
    for one in words:
        if one.i in cut or (kept and one.i != kept[-1].i + 1):
            break
        kept.append(one)
    if not kept or len(kept) > 6 or any(one.pos_ == "PRON" or one.lower_ in {"this", "that", "here", "there"} for one in kept) or doing.lemma_ in {"be", "see", "hear", "know", "do", "have", "get", "say", "think", "feel", "make", "help"}:
        return None
    begin, stop = kept[0].idx, kept[-1].idx + len(kept[-1])
    return doing.doc.text[begin:stop], begin, stop, False


def _has(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    thing = _child(head, "dobj")
    if thing is None or (head.lemma_ == "get" and head.tag_ not in {"VBD", "VBN"}):
        return
    for one in _listed(thing):
        if one.lemma_.lower() in PETS and not _negated(head):
            called = next((name_of(n) for n in one.subtree if n.dep_ in {"oprd", "appos", "npadvmod"} and n.pos_ == "PROPN"), None)
            found = _thing(one)
            if called:
                yield Said(subject, "has_pet", called, one.idx, one.idx + len(one), True)
            elif found and one.tag_ == "NN":
                yield Said(subject, "has_pet", *found)
        elif head.lemma_ in {"own", "buy"} and (found := _thing(one)) and one.lemma_.lower() not in _NOTHING and not _negated(head) and one.tag_ == "NN":
            if found[3] or one.lemma_ in {"car", "house", "bike", "boat", "flat", "apartment", "camera", "guitar", "piano", "laptop", "van", "truck", "motorcycle"}:
                yield Said(subject, "owns", *found)


def _plays(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    thing = _child(head, "dobj")
    for one in () if thing is None else _listed(thing):
        if one.lower_ in _GAMES and (found := _thing(one)):
            yield Said(subject, "plays", found[0], found[1], found[2], False, _negated(head))


def _speaks(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    thing = _child(head, "dobj")
    for one in () if thing is None or _negated(head) else _listed(thing):
        if one.lower_ in _LANGUAGES:
            yield Said(subject, "speaks", one.text, one.idx, one.idx + len(one), True)


def _visited(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    if head.tag_ not in {"VBD", "VBN"} or _negated(head):
        return
    place = _child(head, "dobj") if head.lemma_ == "visit" else _of(head, "to")
    if place is not None and place.ent_type_ in _PLACES and (found := _thing(place, named=True)):
        yield Said(subject, "has_visited", found[0], found[1], found[2], True)


def _uses(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    thing = _child(head, "dobj")
    if thing is None or head.tag_ not in {"VBP", "VBZ", "VBG"}:
        return
    for one in _listed(thing):
        if (found := _thing(one, named=True)) and one.ent_type_ not in {"PERSON", "GPE", "DATE"}:
            yield Said(subject, "uses", found[0], found[1], found[2], True, _negated(head))


def _left(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    thing = _child(head, "dobj")
    if thing is None or head.tag_ not in {"VBD", "VBN"} or thing.ent_type_ not in {"ORG", "GPE"}:
        return
    if found := _thing(thing, named=True):
        yield Said(subject, "works_at" if thing.ent_type_ == "ORG" else "lives_in", found[0], found[1], found[2], True, True)


def _is(head: "Token", subject: str, clause: Clause, scene: Scene) -> Iterator[Said]:
    complement, adjective = _child(head, "attr"), _child(head, "acomp")
    if adjective is not None and adjective.lower_ == "allergic" and not _negated(head) and (what := _of(adjective, "to")) is not None:
        for one in _listed(what):
            if found := _thing(one):
                yield Said(subject, "allergic_to", *found)
    origin = _of(head, "from")
    if origin is not None and origin.ent_type_ == "GPE" and head.tag_ in {"VBP", "VBZ"} and (found := _thing(origin, named=True)):
        yield Said(subject, "comes_from", found[0], found[1], found[2], True)
    if complement is None or head.tag_ not in {"VBP", "VBZ"} or _negated(head):
        return
    token = clause.subject
    if token is not None and token.lower_ in {"i", "he", "she"} | ({token.lower_} if token.pos_ == "PROPN" or kin_of(token) else set()):
        article = next((one for one in complement.children if one.dep_ == "det"), None)
        low = complement.lemma_.lower()
        if article is not None and article.lower_ in {"a", "an"} and low.endswith(_JOBS) and low not in _NO_JOBS and complement.pos_ == "NOUN" and kin_of(complement) is None:
            text, begin, stop = phrase(complement)
            if not any(one.lower_ in {"big", "huge", "great", "good", "such", "kind"} for one in complement.children):
                yield Said(subject, "works_as", text, begin, stop)
        if low in {"fan", "lover"} and (what := _of(complement, "of")) is not None:
            for one in _listed(what):
                if (found := _thing(one)) and not _own(one):
                    yield Said(subject, "likes", *found)


def favourites(clause: Clause, scene: Scene) -> Iterator[Said]:
    """ "My favourite band is Low", "Blue is my favourite colour"."""
    if clause.head.lemma_ != "be" or clause.subject is None:
        return
    complement = clause.child("attr")
    if complement is None:
        return
    for kind, value in ((clause.subject, complement), (complement, clause.subject)):
        adjective = next((one for one in kind.children if one.lower_ in {"favorite", "favourite", "fave"}), None)
        whose = next((one for one in kind.children if one.dep_ == "poss"), None)
        if adjective is None or whose is None or kind.pos_ != "NOUN" or value.pos_ not in {"NOUN", "PROPN"}:
            continue
        owner = scene.speaker if whose.lower_ in {"my", "our"} else name_of(whose)
        if owner and (found := _thing(value)) and value.lemma_.lower() not in _NOTHING:
            yield Said(owner, f"favourite_{kind.lemma_.lower()}", *found)


_BY_VERB: Final[dict[str, tuple[_Rule, ...]]] = {
    "live": (_placed,), "reside": (_placed,), "move": (_moved,), "relocate": (_moved,), "work": (_works,), "volunteer": (_works,),
    "study": (_studies,), "bear": (_born,), "love": (_taste,), "like": (_taste,), "enjoy": (_taste,), "adore": (_taste,),
    "hate": (_taste,), "dislike": (_taste,), "detest": (_taste,), "prefer": (_taste,), "have": (_has,), "own": (_has,),
    "buy": (_has,), "get": (_has,), "adopt": (_has,), "play": (_plays,), "speak": (_speaks,), "visit": (_visited,), "go": (_visited,),
    "use": (_uses,), "leave": (_left,), "quit": (_left,), "be": (_is,), "join": (_joined,), "travel": (_visited,), "fly": (_visited,),
}  # fmt: skip
