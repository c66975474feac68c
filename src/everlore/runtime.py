"""Runtime: what everybody works with who does something. Put together once, by `everlore.everlore`, and handed on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from everlore.config import Settings
from everlore.ports.analyst import Analyst
from everlore.ports.clock import Clock
from everlore.ports.embedder import Embedder
from everlore.ports.reranker import Reranker
from everlore.ports.tokens import Count
from everlore.store.database import Database
from everlore.store.passage_numbers import PassageNumbers
from everlore.text.token_estimate import estimated_tokens


@dataclass(frozen=True, slots=True)
class Runtime:
    """`database` is the application's login, in a worker the workers'. `embedders` by the names of their models.

    `analyst` distils, None where nothing does; `sentence_analyst` reads what a person tells directly, by rules and without a
    model, None where the parser is not installed. `wordpieces` counts tokens of the bundled embedder, `tokens` those of the model
    that reads contexts (an upper estimate where its tokenizer is not known). `steps` names the background steps that are done
    here: recording leaves jobs for them.

    What the missing parser costs, in a sentence, None where that is nothing or as the settings say: `undistilled_because` of
    messages, of which nothing is distilled then, or no facts; `unread_because` of what a person tells directly."""

    settings: Settings
    database: Database
    embedders: Mapping[str, Embedder]
    reranker: Reranker | None
    analyst: Analyst | None
    sentence_analyst: Analyst | None
    wordpieces: Count
    clock: Clock
    undistilled_because: str | None = None
    unread_because: str | None = None
    steps: tuple[str, ...] = ()
    tokens: Count = estimated_tokens
    passage_numbers: PassageNumbers = field(default_factory=PassageNumbers)
