"""Prompts: templates beside the step that uses them; a file of the same name in the user's folder takes their place.

`$name` is filled in, `$$` is a dollar. Values are filled in once and never looked at again, so that a message that contains
`$known` stays what it is.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from everlore.domain.errors import ConfigurationError
from everlore.domain.memories import ENTITY_TYPES
from everlore.domain.predicates import KNOWN
from everlore.models.language_model.schema import ASKED_ENTITIES, ASKED_FACTS, FORM, MAX_TAGS
from everlore.ports.analyst import MAX_MEMORIES

# Each prompt with the names that can be filled in, and the ones without which it makes no sense.
_FIELDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "distil": (
        frozenset(
            {"max_memories", "max_facts", "max_entities", "max_tags", "types", "entity_types", "predicates"}
        ),
        frozenset(),
    ),
    "window": (
        frozenset({"known", "entities", "taxonomy", "earlier", "messages", "first", "last"}),
        frozenset({"messages"}),
    ),
    "distil_small": (frozenset({"max_memories", "types"}), frozenset()),
    "window_small": (frozenset({"earlier", "messages"}), frozenset({"messages"})),
}
SUFFIX = ".md"


class Prompts:
    """The templates in use, by `names`: instructions, and what is shown. Raises ConfigurationError if one cannot be read or asks
    for what there is not."""

    def __init__(self, folder: Path | None = None, *, names: tuple[str, str] = ("distil", "window")) -> None:
        if folder is not None and not folder.is_dir():
            raise ConfigurationError(f"The setting distil.prompts_dir names {folder}, which is no folder.")
        self._names = names
        self._texts = {name: _text(name, folder) for name in names}
        self._templates = {name: _template(name, text) for name, text in self._texts.items()}

    def version(self, schema: Mapping[str, Any]) -> str:
        """Changes with every word of a prompt, with the schema and with how answers are read."""
        whole = json.dumps([self._texts, schema], sort_keys=True)
        return f"{FORM}-{hashlib.sha256(whole.encode()).hexdigest()[:10]}"

    def instructions(self, types: Sequence[str]) -> str:
        """`types`: those that a memory may have."""
        return self._templates[self._names[0]].substitute(
            max_memories=MAX_MEMORIES,
            max_facts=ASKED_FACTS,
            max_entities=ASKED_ENTITIES,
            max_tags=MAX_TAGS,
            types=", ".join(types),
            entity_types=", ".join(ENTITY_TYPES),
            predicates=", ".join(sorted(KNOWN)),
        )

    def window(self, **shown: str) -> str:
        return self._templates[self._names[1]].substitute(shown)


def _text(name: str, folder: Path | None) -> str:
    own = None if folder is None else folder / (name + SUFFIX)
    if own is None or not own.exists():
        return (resources.files("everlore.models.language_model") / "prompts" / (name + SUFFIX)).read_text(
            encoding="utf-8"
        )
    try:
        return own.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The prompt {own} cannot be read: {error}") from error


def _template(name: str, text: str) -> Template:
    template = Template(text)
    possible, needed = _FIELDS[name]
    if not template.is_valid():
        raise ConfigurationError(f"The prompt {name}{SUFFIX} has a lone dollar sign; write $$ for a dollar.")
    given = set(template.get_identifiers())
    if unknown := given - possible:
        raise ConfigurationError(
            f"The prompt {name}{SUFFIX} asks for ${min(unknown)}; there are only {sorted(possible)}."
        )
    if missing := needed - given:
        raise ConfigurationError(f"The prompt {name}{SUFFIX} lacks ${min(missing)}.")
    return template
