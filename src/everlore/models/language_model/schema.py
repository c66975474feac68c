"""The form of an answer: what the model is asked for, every list and every string bounded.

The published schema demands every field; reading is more lenient (a field that is missing has its default), because not
every endpoint enforces a schema, and an answer without a category is none the worse.

Bounds are small on purpose: local servers turn them into a grammar, which grows with them.
"""

from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from everlore.domain.memories import EntityType, MemoryType
from everlore.ports.analyst import MAX_MEMORIES, Relation

# Stands in the version of everything that was drafted: raised when what is read out of the same answer changes.
FORM = 3

# What is asked for: with six memories and all that belongs to them an answer comes to 2,500 tokens at most. (More is read.)
ASKED_FACTS = 12
ASKED_ENTITIES = 12

MAX_SOURCES = 4
MAX_QUOTE = 400
MAX_CONTENT = 600
MAX_NAME = 120
MAX_OBJECT = 300
MAX_REASONING = 300
MAX_LABEL = 60
MAX_TAGS = 5
MAX_NAMES = 8
MAX_DATE = 40
MAX_TAXONOMY = 120
MAX_NUMBER = 100_000

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Label = Annotated[str, Field(max_length=MAX_LABEL)]
Date = Annotated[str, Field(max_length=MAX_DATE)]
Share = Annotated[float, Field(ge=0, le=1)]
Number = Annotated[int, Field(ge=1, le=MAX_NUMBER)]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class SourceForm(_Form):
    message: Number
    quote: Annotated[str, Field(min_length=1, max_length=MAX_QUOTE)]


Sources = Annotated[list[SourceForm], Field(min_length=1, max_length=MAX_SOURCES)]


class MemoryForm(_Form):
    """The evidence comes first: a model that has just copied the words it rests on strays less from them."""

    sources: Sources
    reasoning: Annotated[str, Field(max_length=MAX_REASONING)] = ""
    type: MemoryType
    content: Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)]
    category: Label | None = None
    tags: Annotated[list[Label], Field(max_length=MAX_TAGS)] = []
    entities: Annotated[list[Name], Field(max_length=MAX_NAMES)] = []
    importance: Share = 0.5
    confidence: Share = 0.7
    event_at: Date | None = None
    expires_at: Date | None = None
    relation: Relation = "new"
    known: Number | None = None


class FactForm(_Form):
    """`memory` says where its words stand, and how plainly: copying them once more is what made answers too long. (Quotes and a
    confidence of its own are read where a model gives them all the same.)"""

    sources: Annotated[Sources | None, WithJsonSchema({"hidden": True})] = None
    subject: Name
    predicate: Annotated[str, Field(min_length=1, max_length=MAX_LABEL)]
    object: Annotated[str, Field(min_length=1, max_length=MAX_OBJECT)]
    object_is_entity: bool = False
    confidence: Annotated[Share | None, WithJsonSchema({"hidden": True})] = None
    valid_from: Date | None = None
    ended: bool = False
    relation: Relation = "new"
    memory: Annotated[int, Field(ge=1, le=MAX_MEMORIES)] | None = None


class EntityForm(_Form):
    name: Name
    type: EntityType
    aliases: Annotated[list[Name], Field(max_length=MAX_NAMES)] = []
    distinct: bool = False


class AnswerForm(_Form):
    memories: Annotated[list[MemoryForm], Field(max_length=MAX_MEMORIES)]
    facts: Annotated[list[FactForm], Field(max_length=ASKED_FACTS)] = []
    entities: Annotated[list[EntityForm], Field(max_length=ASKED_ENTITIES)] = []
    taxonomy: Annotated[str, Field(max_length=MAX_TAXONOMY)] | None = None


RELATIONS: tuple[Relation, ...] = get_args(Relation)
OutputMode = Literal["native", "prompted", "tool"]


def answer_schema() -> dict[str, Any]:
    """The JSON schema that goes to the model: strict, and without what only costs tokens."""
    return strict(AnswerForm.model_json_schema())


def strict(schema: Any) -> Any:
    """A JSON schema that demands every field, and no other."""
    if isinstance(schema, list):
        return [strict(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {
        key: {name: strict(one) for name, one in value.items() if not one.get("hidden")}
        if key in {"properties", "$defs"}
        else strict(value)
        for key, value in cast("dict[str, Any]", schema).items()
        if key not in {"title", "default", "description"}
    }
    if "properties" in kept:
        kept["required"] = list(kept["properties"])
        kept["additionalProperties"] = False
    return kept
