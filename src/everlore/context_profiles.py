"""The settings of contexts: profiles, each a table of slots and a budget. Part of `everlore.config`, which reads them."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# The slots of a context with how many items each may hold; a slot that is not named is left out.
_COMPANION = {
    "instructions": 1, "pinned": 12, "core": 5, "standing": 5,
    "changes": 8, "elapsed": 1, "facts": 8, "memories": 15, "messages": 200,
}  # fmt: skip


class ProfileSettings(BaseModel):
    """What a context is made of: how many tokens it may have, the head's share of them, and how many items each slot may hold."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget: int = Field(default=2000, ge=0, le=1_000_000, description="tokens of head and tail together")
    head: float = Field(
        default=0.4,
        ge=0,
        le=1,
        description="the share of them that the head may take; what it leaves is the tail's",
    )
    slots: dict[str, Annotated[int, Field(ge=0, le=1000)]] = Field(
        default_factory=lambda: dict(_COMPANION),
        description="how many items each slot may hold; 0 leaves it out",
    )


class ContextSettings(BaseModel):
    """The memory part of a prompt. `custom` begins as `companion`, and is yours to change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokenizer: Path | None = Field(
        default=None,
        description="a `tokenizer.json` of the model that reads the context, by which tokens are counted exactly; left out:"
        " they are estimated, for English rather too many than too few",
    )
    templates_dir: Path | None = Field(
        default=None,
        description="Jinja templates of your own, by the names of ours (`head.j2`, `tail.j2`, ...)",
    )
    companion: ProfileSettings = ProfileSettings()
    agent: ProfileSettings = ProfileSettings(
        budget=3000, head=0.3, slots={**_COMPANION, "facts": 12, "memories": 20, "elapsed": 0}
    )
    lean: ProfileSettings = ProfileSettings(
        budget=800, slots={**_COMPANION, "pinned": 3, "standing": 3, "changes": 3, "facts": 3, "memories": 5}
    )
    custom: ProfileSettings = ProfileSettings()
