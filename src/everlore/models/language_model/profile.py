"""What is asked of a model: of a large one everything at once, of a small one what it can do."""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from everlore.domain.memories import MEMORY_TYPES
from everlore.models.language_model.reading import read_answer
from everlore.models.language_model.schema import answer_schema
from everlore.models.language_model.small import SMALL_TYPES, read_small, small_schema
from everlore.ports.analyst import Doubting, Extraction, Window

Size: TypeAlias = Literal["small", "large"]


@dataclass(frozen=True, slots=True)
class Profile:
    """`schema`: the form of an answer; `read`: an answer as drafts; `prompts`: the names of its templates, instructions first;
    `types`: those that a memory may have. `full_answer_tokens`: what an answer comes to that says as much of a window as it
    may. `request_tokens`: what a prompt may come to (None: as much as `Sizes` says); `keeps_cut`: of an answer that is cut off,
    what is complete counts; `frequency_penalty`: against the loops that small models fall into."""

    size: Size
    schema: Callable[[], dict[str, Any]]
    read: Callable[[dict[str, Any], Window, Doubting], Extraction]
    prompts: tuple[str, str]
    types: tuple[str, ...]
    timeout_s: float
    max_output_tokens: int
    full_answer_tokens: int
    request_tokens: int | None = None
    keeps_cut: bool = False
    frequency_penalty: float | None = None


LARGE: Final = Profile(
    "large",
    answer_schema,
    read_answer,
    ("distil", "window"),
    MEMORY_TYPES,
    timeout_s=60.0,
    max_output_tokens=4096,
    full_answer_tokens=2500,
)
# A server on a laptop has 4,096 tokens of context if nobody says otherwise (Ollama), and takes minutes for an answer.
SMALL: Final = Profile(
    "small",
    small_schema,
    read_small,
    ("distil_small", "window_small"),
    SMALL_TYPES,
    timeout_s=300.0,
    max_output_tokens=1200,
    full_answer_tokens=350,
    request_tokens=2200,
    keeps_cut=True,
    frequency_penalty=0.35,
)


def profile_of(size: Size | None, url: str | None) -> Profile:
    """The one that was chosen; else small for a model on this machine."""
    if size is None:
        size = "small" if url is not None and _is_here(url) else "large"
    return SMALL if size == "small" else LARGE


def chosen_because(size: Size | None, url: str | None) -> str:
    """What the choice follows from, for people."""
    if size is not None:
        return f'distil.size is "{size}"'
    if url is None:
        return "distil.size is not set, and it is a provider's"
    return f"distil.size is not set, and its url is on {'this' if _is_here(url) else 'another'} machine"


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
