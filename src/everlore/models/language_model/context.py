"""How much context a server of one's own serves, where it says so: what is longer some of them cut without a word."""

from collections.abc import Iterator
from typing import Any, Final, cast
from urllib.parse import urlsplit

_TIMEOUT_S: Final = 3.0
# Below the url, and below its root: vLLM and gateways, llama.cpp, Ollama (what is loaded), LM Studio.
_PAGES: Final = ("{url}/models", "{root}/props", "{root}/api/ps", "{root}/api/v0/models")
# What is served; not what the model was made for (max_context_length, n_ctx_train).
_KEYS: Final = ("n_ctx", "max_model_len", "loaded_context_length", "context_length")
_NAMES: Final = ("id", "name", "model")


async def served_context(url: str, model: str, key: str | None) -> int | None:
    """Tokens of context, as the first page says that says anything; None where none does."""
    import httpx

    place = urlsplit(url)
    root, headers = f"{place.scheme}://{place.netloc}", {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(timeout=_TIMEOUT_S, headers=headers) as client:
        for page in _PAGES:
            try:
                answer = await client.get(page.format(url=url.rstrip("/"), root=root))
                told = answer.json() if answer.is_success else None
            except (httpx.HTTPError, ValueError):
                continue
            if found := _found(told, model):
                return found
    return None


def _found(told: Any, model: str) -> int | None:
    """Of several models the one that is meant, else the only one."""
    said = list(_sizes(told, None))
    named = [size for name, size in said if name == model or (name or "").removesuffix(":latest") == model]
    several = named or [size for _, size in said]
    return several[0] if len(set(several)) == 1 else None


def _sizes(told: Any, name: str | None) -> Iterator[tuple[str | None, int]]:
    """All sizes that an answer names, with the name that stands beside or above them."""
    if isinstance(told, list):
        for one in cast("list[Any]", told):
            yield from _sizes(one, name)
    elif isinstance(told, dict):
        entry = cast("dict[str, Any]", told)
        name = next((entry[key] for key in _NAMES if isinstance(entry.get(key), str)), name)
        for key in _KEYS:
            size = entry.get(key)
            if isinstance(size, int) and not isinstance(size, bool) and size > 0:
                yield name, size
        for key, one in entry.items():
            if key != "details":
                yield from _sizes(one, name)
