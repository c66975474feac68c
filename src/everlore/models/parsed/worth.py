"""What a statement is worth: its type, whether it is shown, and its importance, from how concrete and how asserted it is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import MemoryType
from everlore.models.parsed.clauses import Clause
from everlore.models.parsed.kin import PETS
from everlore.models.parsed.scene import Scene, kin_of
from everlore.models.parsed.wording import Wording

if TYPE_CHECKING:
    from spacy.tokens import Token

# Verbs of thinking, feeling and talking: what they say is about the moment.
_PASSING: Final = frozenset(
    "think guess feel hope wish suppose believe doubt wonder imagine mean seem look sound appear thank appreciate agree"
    " bet swear promise forget remember hear see notice understand get_it care mind worry bother sorry apologize"
    " congratulate welcome admire inspire wait say tell ask talk chat mention know realize let keep try happen matter"
    " stay continue make give take put do go_on deserve trust be_like cheer laugh smile cry find show help support".split()
)
_REPORTS: Final = frozenset("say think tell claim ask believe mean guess feel hope wish suppose reckon swear insist joke hear bet know doubt wonder".split())
_LIKES: Final = frozenset("like love enjoy adore prefer hate dislike loathe fancy detest favor favour".split())
_WANTS: Final = frozenset("want hope plan aim dream intend wish need".split())
_DECIDES: Final = frozenset("decide choose opt settle agree pick switch".split())
_BELONGS: Final = frozenset("live work study own have bear marry name call move adopt belong teach volunteer coach run play speak grow raise".split())
# Nouns that name nothing.
_VAGUE: Final = frozenset(
    "thing stuff time way lot bit day life something anything support help idea place kind sort type part point reason"
    " people person someone one moment experience journey feeling mind heart everything nothing year week month"
    " morning evening night today world fun joy love hope happiness peace success confidence motivation inspiration"
    " passion strength courage growth challenge opportunity progress impact difference change effort step goal dream"
    " memory chance problem issue situation matter thought word question answer sense end start beginning while break"
    " energy mood spirit vibe pic picture photo hug cheer deal news convo conversation chat talk interest touch track"
    " work stress pressure balance reminder blast wonder positivity side hand head eye face".split()
)
_EVALUATES: Final = frozenset(
    "good great nice awesome amazing cool fun happy glad sad excited proud thankful grateful lucky sorry sure okay ok fine"
    " tired busy ready wonderful fantastic incredible interesting important special beautiful perfect lovely hard tough"
    " difficult easy better best bad worse crazy inspiring rewarding powerful nervous worried scared stressed stoked"
    " thrilled pumped impressed curious interested hopeful determined eager blessed honored down here there true right"
    " wrong different same able supportive kind sweet cute weird funny strong brave new".split()
)
_HYPOTHETICAL: Final = frozenset("would could might may should 'd must shall".split())
SHOWN_FROM = 2.0


@dataclass(frozen=True, slots=True)
class Worth:
    """`score`: see `weigh`. `reason`: what speaks against showing it, or what it is made of."""

    type: MemoryType
    score: float
    importance: float
    reason: str
    ahead: bool

    @property
    def shown(self) -> bool:
        return self.score >= SHOWN_FROM


def modal(clause: Clause) -> str | None:
    return next((one.lower_ for one in clause.auxiliaries() if one.tag_ == "MD"), None)


def weigh(clause: Clause, wording: Wording, scene: Scene, dated: bool) -> Worth | str:
    """A point for each name and each number or date, half a point for each telling noun (two at most), a point for a person of the
    speaker's, and one for a verb that says how somebody lives, what they like, want or decided. Less than two points are a key.
    A text: why it is not even that."""
    head, lemma = clause.head, clause.head.lemma_.lower()
    auxiliary = modal(clause)
    wanted = auxiliary in {"would", "'d"} and lemma in {"like", "love", "prefer"}
    if auxiliary in _HYPOTHETICAL and not wanted and not (auxiliary == "must"):
        return "hypothetical"
    if any(one.dep_ == "mark" and one.lower_ in {"if", "unless", "whether"} for one in head.subtree):
        return "hypothetical"
    if head.tag_ == "VB" and (clause.subject is None or not clause.auxiliaries() and clause.subject.lower_ not in {"i", "we", "they"}):
        return "an order"
    if lemma in _REPORTS and (clause.child("ccomp") is not None or clause.child("dobj") is None):
        return "a report"
    if any(one.lower_ in {"maybe", "perhaps", "probably", "supposedly", "apparently", "almost", "nearly"} for one in clause.words):
        return "hedged"
    type_ = kind_of(clause, wanted)
    names = {one.text for one in clause.words if one.pos_ == "PROPN" and one.text not in {scene.speaker, scene.listener} and one.text[:1].isupper()}
    numbers = sum((one.pos_ == "NUM" and one.ent_type_ != "") or (one.like_num and one.lower_ not in {"one", "once"}) for one in clause.words)
    nouns = {
        one.lemma_.lower()
        for one in clause.words
        if one.pos_ == "NOUN" and one.lemma_.lower() not in _VAGUE and one.dep_ != "npadvmod" and one != clause.subject
    }
    doing = {one.lemma_ for one in clause.words if one.pos_ == "VERB" and one.dep_ in {"xcomp", "pcomp", "conj"} and one.lemma_ not in _PASSING}
    people = sum(kin_of(one) is not None or one.lower_ in PETS for one in clause.words)
    parts = {
        "about somebody": _about(clause, wording, scene, type_, wanted),
        "names": min(len(names), 2) * 1.0,
        "numbers": min(numbers + dated, 1) * 0.75,
        "nouns": min(len(nouns), 3) * 0.5,
        "verbs": min(len(doing), 2) * 0.25,
        "people": min(people, 1) * 0.5,
        "says how, not what": -2.0 if _evaluates(clause, names) else 0.0,
        "of the moment": -1.25 if lemma in _PASSING and not names and not (dated and nouns) else 0.0,
        "nothing named": -1.0 if not nouns and not names else 0.0,
    }
    score = sum(parts.values())
    reason = ", ".join(f"{what} {points:+.2f}" for what, points in parts.items() if points)
    if wording.unclear:
        return Worth(type_, min(score, SHOWN_FROM - 0.5), 0.2, f"unclear: {', '.join(wording.unclear)}", False)
    importance = round(min(0.25 + 0.1 * max(score, 0), 0.9), 2)
    return Worth(type_, score, importance, reason, _ahead(clause))


def _about(clause: Clause, wording: Wording, scene: Scene, type_: MemoryType, wanted: bool) -> float:
    """What the predicate says of somebody who takes part, or belongs to one who does."""
    subject = clause.subject
    if subject is not None and any(one.lower_ in {"your", "ur"} for one in subject.children):
        return -1.0
    own = subject is None or subject.lower_ in {"i", "we"} or wording.person is not None
    own = own or (subject is not None and (kin_of(subject) is not None or subject.lower_ in scene.known or any(one.lower_ in {"my", "our"} for one in subject.subtree)))
    if not own:
        return 0.5 if any(one.lower_ in {"my", "our", "me", "us"} for one in clause.words) else 0.0
    if wanted or type_ in {"identity", "relationship", "decision", "preference", "goal", "habit", "skill", "project"}:
        return 1.25
    return 1.0


def _evaluates(clause: Clause, names: set[str]) -> bool:
    complement = clause.child("acomp", "attr")
    if complement is None or clause.head.lemma_ not in {"be", "feel", "get", "look", "seem", "sound", "become"}:
        return False
    if any(one.lower_ in {"such", "so", "what"} for one in complement.children):
        return True
    return complement.lemma_.lower() in _EVALUATES | _VAGUE or (complement.dep_ == "acomp" and not names and not any(one.dep_ == "prep" for one in complement.children))


def _ahead(clause: Clause) -> bool:
    auxiliary = modal(clause)
    going = clause.head.lower_ in {"going", "gon", "planning"} and clause.child("xcomp") is not None
    return auxiliary in {"will", "'ll", "wo"} or going or clause.head.lemma_ in _WANTS


def kind_of(clause: Clause, wanted: bool = False) -> MemoryType:
    """The type, by the class of the predicate."""
    head, lemma = clause.head, clause.head.lemma_.lower()
    xcomp = clause.child("xcomp")
    if wanted:
        return "goal"
    if lemma in _LIKES:
        return "preference"
    if lemma == "be":
        attribute = clause.child("attr")
        if clause.subject is not None and any(one.lemma_.lower() in {"favorite", "favourite", "fave"} for one in clause.words):
            return "preference"
        if attribute is not None and attribute.lemma_.lower() in {"fan", "lover", "sucker", "addict", "enthusiast"}:
            return "preference"
        if attribute is not None and (kin_of(attribute) or (clause.subject is not None and kin_of(clause.subject))):
            return "relationship"
        if attribute is not None and clause.subject is not None and clause.subject.pos_ in {"PRON", "PROPN"}:
            return "identity" if head.tag_ in {"VBP", "VBZ"} else "fact"
        return "fact"
    if lemma in _DECIDES:
        return "decision"
    if (lemma == "have" and xcomp is not None and head.tag_ in {"VBP", "VBZ", "VB"}) or (lemma == "need" and xcomp is not None):
        return "task"
    if lemma in _WANTS or (lemma == "go" and xcomp is not None and head.tag_ == "VBG") or lemma == "plan" or lemma == "look" and xcomp is not None:
        return "goal"
    auxiliary = modal(clause)
    if auxiliary in {"will", "'ll", "wo"}:
        return "goal"
    if auxiliary in {"can", "ca"}:
        return "skill"
    if any(one.lower_ in {"usually", "always", "often", "every", "daily", "weekly", "regularly", "mondays", "sundays", "saturdays"} for one in clause.words) and head.tag_ in {"VBP", "VBZ", "VB"}:
        return "habit"
    if lemma in {"live", "work", "study", "bear"}:
        return "identity"
    if lemma in {"learn"} and head.tag_ in {"VBD", "VBN"}:
        return "lesson"
    if head.tag_ in {"VBD", "VBN"}:
        return "event"
    if head.tag_ == "VBG":
        return "project" if lemma in {"build", "write", "develop", "design", "work", "create", "make"} else "event"
    return "fact"
