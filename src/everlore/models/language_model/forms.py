"""What is mended in an item before it is checked: what is merely too long, oddly written, or said in another word."""

from collections.abc import Sequence
from typing import Any, cast

from everlore.models.language_model import schema
from everlore.models.language_model.repair import clean

_LISTS = {
    "sources": schema.MAX_SOURCES,
    "tags": schema.MAX_TAGS,
    "entities": schema.MAX_NAMES,
    "aliases": schema.MAX_NAMES,
}
_REMARKS = {"reasoning": schema.MAX_REASONING, "category": schema.MAX_LABEL}
_DATES = ("event_at", "expires_at", "valid_from")
# Null stands for "as usual" in these.
_HAVE_DEFAULTS = frozenset({"tags", "entities", "aliases", "reasoning", "importance", "confidence", "relation", "ended",
                            "distinct", "object_is_entity"})  # fmt: skip


def mended(item: Any, types: Sequence[str] = (), other: str = "") -> Any:
    """Strings without what no database takes; lists and remarks cut to their bounds; an unknown type as `other`.

    Words that matter (content, quotes, names) are not cut: half a sentence says something else.
    """
    if not isinstance(item, dict):
        return item
    form: dict[str, Any] = {
        key: _cleaned(value)
        for key, value in cast("dict[str, Any]", item).items()
        if value is not None or key not in _HAVE_DEFAULTS
    }
    for key, most in _LISTS.items():
        if isinstance(form.get(key), list):
            form[key] = [one for one in form[key] if one not in ("", None)][:most]
    for key, most in _REMARKS.items():
        if isinstance(form.get(key), str):
            form[key] = form[key][:most]
    for key, options, instead in (("type", types, other), ("relation", schema.RELATIONS, "new")):
        if isinstance(form.get(key), str) and options:
            said = form[key].lower().replace(" ", "_")
            form[key] = said if said in options else instead
    for key, most in (("known", schema.MAX_NUMBER), ("memory", schema.MAX_MEMORIES)):
        number = form.get(key)
        if not isinstance(number, int) or not 1 <= number <= most:
            form[key] = None
    for key in _DATES:
        if not isinstance(form.get(key), str) or len(form[key]) > schema.MAX_DATE:
            form[key] = None
    return form


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _cleaned(one) for key, one in cast("dict[str, Any]", value).items()}
    return value
