"""The form of an answer for small models, as they run on a laptop: sentences with a type and the number of a message.

They write no quotes, scores, facts or entities: a model of two billion parameters spends its tokens on them, copies them wrongly
and is cut off. Where a sentence stands in the messages is found here; facts and entities are read off it by the parser of the
rules; what it says is held against the messages by grounding, as ever.
"""

import logging
import re
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everlore.models.language_model.repair import Unusable, clean
from everlore.models.language_model.schema import strict
from everlore.models.language_model.window import has_words
from everlore.models.rules import parser_is_installed
from everlore.ports.analyst import MAX_MEMORIES, Doubting, DraftMemory, Extraction, Quote, Window
from everlore.text.quotes import best_sentence, folded_words
from everlore.text.words import telling

log = logging.getLogger(__name__)

# Nine of the types of memories: those that a small model tells apart.
SmallType = Literal[
    "fact", "preference", "relationship", "goal", "task", "event", "habit", "decision", "project"
]
SMALL_TYPES: tuple[SmallType, ...] = get_args(SmallType)
# Wide: a tight bound makes a model that is held to a grammar stop in the middle of a sentence.
_MAX_CONTENT = 600
_MOST = 3 * MAX_MEMORIES
# So much of what a sentence tells must stand in its message or in those beside it: a small model likes to go on by itself.
_SAID = 0.6
_FIRST_PERSON = re.compile(r"(?<!War )(?<!Part )\b(?:I|i'm|im|[Mm]e|my|My(?= [a-z]))\b")


class SmallMemoryForm(BaseModel):
    """What it says comes first: type and number follow from it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    content: Annotated[str, Field(min_length=1, max_length=_MAX_CONTENT)]
    type: SmallType
    message: Annotated[int, Field(ge=1, le=1000)]


class SmallAnswerForm(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    memories: Annotated[list[SmallMemoryForm], Field(max_length=MAX_MEMORIES)]


def small_schema() -> dict[str, Any]:
    """The JSON schema that goes to the model."""
    return strict(SmallAnswerForm.model_json_schema())


def read_small(answer: dict[str, Any], window: Window, doubting: Doubting) -> Extraction:
    """The drafts in an answer. Raises Unusable where there is no list, or nothing in it can be used."""
    items = answer.get("memories")
    if not isinstance(items, list):
        raise Unusable("memories is no list")
    given = cast("list[Any]", items)
    if len(given) > _MOST:
        raise Unusable(f"it has {len(given)} memories; at most {MAX_MEMORIES} were asked for")
    drafts = [draft for item in given if (draft := _memory(item, window)) is not None]
    if given and not drafts:
        raise Unusable(f"none of its {len(given)} memories stands in the messages")
    said = _once([draft for draft in drafts if _is_said(draft, window)])[:MAX_MEMORIES]
    if given and not said:
        raise Unusable(f"none of its {len(given)} memories says of somebody by name what the messages say")
    if len(said) < len(given):
        log.info(
            "%d of %d sentences of an answer are not said, or said twice", len(given) - len(said), len(given)
        )
    extraction = Extraction(tuple(said))
    if doubting(window, extraction).foreign:
        raise Unusable("it is in another language than the messages")
    return _with_what_they_state(extraction, window)


def _with_what_they_state(extraction: Extraction, window: Window) -> Extraction:
    """With facts and entities, where the parser is there that reads them off the sentences."""
    if not extraction.memories or not parser_is_installed():
        return extraction
    # Seconds for the parser, which are paid by who distils.
    from everlore.models.rules.sentences import read_sentences

    return read_sentences(extraction.memories, window)


def _memory(item: Any, window: Window) -> DraftMemory | None:
    """One item, with the sentence that it rests on; None for one that is broken or said nowhere."""
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    kind = str(fields.get("type", "")).lower()
    try:
        form = SmallMemoryForm.model_validate(
            fields
            | {
                "content": clean(str(fields.get("content") or "")),
                "type": kind if kind in SMALL_TYPES else "fact",
            }
        )
    except ValidationError:
        return None
    source = _source(form, window) if has_words(form.content) else None
    return None if source is None else DraftMemory(form.type, form.content, (source,))


def _is_said(draft: DraftMemory, window: Window) -> bool:
    """Whether it is told of somebody, in words of its message and of those beside it."""
    number = draft.sources[0].message
    near = [one for one in window.messages if abs(one.number - number) <= 1]
    said = frozenset[str]().union(*(telling(one.text) | telling(one.speaker) for one in near))
    wanted = telling(draft.content)
    return not _FIRST_PERSON.search(draft.content) and len(wanted & said) >= _SAID * len(wanted)


def _once(drafts: list[DraftMemory]) -> list[DraftMemory]:
    """Without what is said again: small models go round in circles."""
    seen: dict[frozenset[str], DraftMemory] = {}
    for draft in drafts:
        seen.setdefault(folded_words(draft.content), draft)
    return list(seen.values())


def _source(form: SmallMemoryForm, window: Window) -> Quote | None:
    """The sentence that says most of a memory, in the message of a person that it names unless another one says more of it. What
    only the assistant said is nobody's."""
    said = [one for one in window.messages if one.role == "user"]
    wanted = telling(form.content)
    if not said:
        return None
    message = max(said, key=lambda one: (len(wanted & telling(one.text)), one.number == form.message))
    span = best_sentence(folded_words(form.content), message.text)
    return None if span is None else Quote(message.number, message.text[span[0] : span[1]])
