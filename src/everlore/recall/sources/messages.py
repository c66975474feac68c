"""Messages: what was said. Found by the lanes, and by way of what rests on them; ranked together with their neighbours."""

from collections.abc import Mapping
from typing import Any

from everlore.domain.recall import Layer
from everlore.recall.hits import Listed, make_hits
from everlore.recall.lanes import ESSENTIAL_MS, look
from everlore.recall.near import seeds
from everlore.recall.rank import rank
from everlore.recall.request import Lane, Request
from everlore.recall.sources.source import RecallSource
from everlore.store import recall as store
from everlore.store.recall import Surroundings

# How much deeper the lanes are read when long messages crowd out others, and how deep at the most.
_DEEPER = 4
_DEEPEST = 4000


class MessageSource(RecallSource):
    kind: str = "message"
    layer: Layer = "said"

    async def answer(self, request: Request) -> Mapping[str, Any]:
        watch = request.watch
        # What rests on a turn is a key to it.
        keys: dict[str, Lane] = {"keys": seeds(request)} if request.near and request.settings.keys > 0 else {}
        candidates = await _candidates(request, request.lanes | keys)
        while _crowded(request, candidates):
            # Long messages hold many passages and crowd out others: look deeper.
            request.depth *= _DEEPER
            await look(request)
            candidates = await _candidates(request, request.lanes | keys)
        if candidates is None:
            return {}
        watch.mark("candidates")
        ranking = await rank(request, candidates)
        watch.mark("rank")
        listed = await watch.lane(
            request.tx,
            "hits",
            lambda: make_hits(request, candidates, ranking, request.lanes | keys),
            Listed(),
            at_least_ms=ESSENTIAL_MS,
        )
        watch.mark("hits")
        return {"hits": listed.hits, "unsupported": listed.unsupported}


async def _candidates(request: Request, lanes: Mapping[str, Lane]) -> Surroundings | None:
    """What the lanes offer, with neighbours; None if they offer nothing."""
    offered = sorted({number for lane in lanes.values() for number, _ in lane})
    if not offered:
        return None
    model_id = request.model.model_id if request.model and request.encoded else None
    return await request.watch.lane(
        request.tx,
        "candidates",
        lambda: store.around(request.tx, offered, request.settings.reach, model_id),
        None,
        at_least_ms=ESSENTIAL_MS,
    )


def _crowded(request: Request, candidates: Surroundings | None) -> bool:
    """Whether fewer messages were found than asked for although a lane has more to offer, and there is time."""
    if candidates is None or request.depth >= _DEEPEST:
        return False
    if len(set(candidates.message_ids)) >= request.ask.limit or request.watch.remaining_ms() <= 0:
        return False
    return any(len(lane) >= request.depth for lane in request.lanes.values())
