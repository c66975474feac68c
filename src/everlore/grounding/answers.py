"""What speaks against an answer of a model as a whole, before any of it is believed: then it is worth asking again."""

from everlore.grounding.evidence import evidence
from everlore.grounding.sources import Sources, in_vocabulary, only_asks, vocabulary
from everlore.grounding.wording import other_language
from everlore.ports.analyst import Doubts, DraftFact, DraftMemory, Extraction, Window


def doubts(window: Window, extraction: Extraction) -> Doubts:
    """Drafts that rest on nothing that was said, and whether all memories are in a language in which nobody said that."""
    sources, said = Sources(window), vocabulary(window)
    memories = [_unfounded(memory, sources) for memory in extraction.memories]
    facts = [_unfounded(fact, sources) for fact in extraction.facts]
    names = ["nobody said its name" for one in extraction.entities if not in_vocabulary(one.name, said)]
    return Doubts(
        memories=tuple(filter(None, memories)),
        others=(*filter(None, facts), *names),
        foreign=_is_foreign(extraction, sources),
    )


def _unfounded(draft: DraftMemory | DraftFact, sources: Sources) -> str | None:
    quotes = sources.found(draft.sources)
    if not quotes:
        return "its words stand in none of the messages"
    return "it rests on a question" if only_asks(draft, quotes, sources) else None


def _is_foreign(extraction: Extraction, sources: Sources) -> bool:
    said = [
        (memory.content, evidence(sources.authors(quotes), _no_other_names))
        for memory in extraction.memories
        if (quotes := sources.found(memory.sources))
    ]
    return bool(said) and all(other_language(content, source) for content, source in said)


def _no_other_names(name: str) -> frozenset[str]:
    return frozenset()
