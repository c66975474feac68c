"""Everlore: a long-term memory for AI agents and companions.

    async with Everlore.open() as lore:
        workspace = await lore.workspace("alice")
        await workspace.record([NewMessage(role="user", text="My sister Emma moved to Lisbon.")])
        found = await workspace.recall("Where does my sister live?")

The names below are the public interface. They are loaded when first used, so that `import everlore` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace as Workspace
    from everlore.config import Settings as Settings
    from everlore.domain.answers import Page as Page
    from everlore.domain.answers import to_json as to_json
    from everlore.domain.errors import CallerError as CallerError
    from everlore.domain.errors import ConfigurationError as ConfigurationError
    from everlore.domain.errors import DatabaseUnavailable as DatabaseUnavailable
    from everlore.domain.errors import EverloreError as EverloreError
    from everlore.domain.errors import InternalError as InternalError
    from everlore.domain.errors import InvalidInput as InvalidInput
    from everlore.domain.errors import ModelUnavailable as ModelUnavailable
    from everlore.domain.errors import NotFound as NotFound
    from everlore.domain.errors import WorldError as WorldError
    from everlore.domain.memories import AsOf as AsOf
    from everlore.domain.memories import Fact as Fact
    from everlore.domain.memories import Memory as Memory
    from everlore.domain.messages import NewMessage as NewMessage
    from everlore.domain.messages import Outcome as Outcome
    from everlore.domain.messages import Receipt as Receipt
    from everlore.domain.recall import Citation as Citation
    from everlore.domain.recall import FactHit as FactHit
    from everlore.domain.recall import Hit as Hit
    from everlore.domain.recall import MemoryHit as MemoryHit
    from everlore.domain.recall import Recall as Recall
    from everlore.everlore import Everlore as Everlore

_HOME = {
    "Everlore": "everlore.everlore",
    "Settings": "everlore.config",
    "Workspace": "everlore.api.workspace",
    **dict.fromkeys(("Page", "to_json"), "everlore.domain.answers"),
    **dict.fromkeys(("AsOf", "Fact", "Memory"), "everlore.domain.memories"),
    **dict.fromkeys(("NewMessage", "Outcome", "Receipt"), "everlore.domain.messages"),
    **dict.fromkeys(("Citation", "FactHit", "Hit", "MemoryHit", "Recall"), "everlore.domain.recall"),
    **dict.fromkeys(
        (
            "CallerError",
            "ConfigurationError",
            "DatabaseUnavailable",
            "EverloreError",
            "InternalError",
            "InvalidInput",
            "ModelUnavailable",
            "NotFound",
            "WorldError",
        ),
        "everlore.domain.errors",
    ),
}
__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'everlore' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(_HOME)
