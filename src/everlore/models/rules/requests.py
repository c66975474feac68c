"""What somebody asks of the assistant for later on: to be reminded of something, or to be answered in a certain way.

Only such wishes, about how one is spoken to: what an assistant is to say or to do for others is nobody's memory.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from everlore.domain.memories import MemoryType
from everlore.models.rules.clauses import Clause, child
from everlore.models.rules.scene import Scene
from everlore.models.rules.times import Times
from everlore.models.rules.wording import Wording, requested
from everlore.models.rules.worth import SHOWN_FROM, Worth
from everlore.text.lexicon import words

if TYPE_CHECKING:
    from spacy.tokens import Token

_STYLE, _STANDING = words("statements.style", "en"), words("statements.standing", "en")
_MOST_WORDS: Final = 10
_TELLING: Final = frozenset({"NOUN", "PROPN", "VERB"})


def request(clause: Clause, scene: Scene, times: Times) -> tuple[Wording, Worth] | None:
    """The wording and worth of a clause that asks for something; None for any other."""
    head = clause.head
    if head.tag_ != "VB" or clause.subject is not None:
        return None
    me = child(head, "dobj", "dative")
    if head.lemma_ == "remind" and me is not None and me.lower_ in {"me", "us"}:
        told = [one for one in clause.words if one.i > me.i]
        if (
            len(told) < 2
            or _asks_now(told)
            or not any(one.pos_ in _TELLING and times.at(one.i) is None for one in told)
        ):
            return None
        return _worded(clause, told, "wants to be reminded", "reminder", scene, times)
    standing = [one for one in head.children if one.lower_ in _STANDING]
    told = [one for one in clause.words if one.i >= head.i]
    if (
        not scene.to_assistant
        or not standing
        or head.lemma_.lower() not in _STYLE
        or not all(map(_is_plain, told))
    ):
        return None
    never = any(one.lower_ == "never" or one.dep_ == "neg" for one in head.children)
    lead = "wants the assistant never to" if never else "wants the assistant to always"
    return _worded(clause, told, lead, "preference", scene, times) if 1 < len(told) <= _MOST_WORDS else None


def _asks_now(told: "list[Token]") -> bool:
    """ "Remind me again how old she is": a question, and nothing for later on; "when I am home" is later on."""
    told = [one for one in told if one.tag_ != "RB"] or told
    later = told[0].lower_ == "when" and len(told) > 1 and told[1].lower_ in {"i", "we"}
    return (told[0].tag_ in {"WP", "WRB", "WDT"} and not later) or told[0].lower_ == "of"


def _is_plain(token: "Token") -> bool:
    """Names, links, numbers and quotations are what a text that steers an assistant wants said."""
    return not (
        token.like_url or token.like_num or token.is_quote or token.ent_type_ not in {"", "LANGUAGE", "NORP"}
    )


def _worded(
    clause: Clause, told: "list[Token]", lead: str, type_: MemoryType, scene: Scene, times: Times
) -> tuple[Wording, Worth] | None:
    wording = requested(replace(clause, words=tuple(told)), lead, scene, times)
    if wording.unclear or any(one.lower_ in {"if", "case", "whether"} for one in clause.head.subtree):
        return None
    return wording, Worth(type_, SHOWN_FROM + 0.5, "asked for")
