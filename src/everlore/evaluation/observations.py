"""The facts that LoCoMo itself names (`observation`), each with the turns it rests on: as an analyst, and as a measure of one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everlore.capture.importers import LocomoConversation
from everlore.domain.memories import MAX_CONTENT_CHARACTERS
from everlore.ports.analyst import MAX_MEMORIES, DraftMemory, Extraction, Governor, Quote, Window

_TURN = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Observation:
    speaker: str
    text: str
    turns: tuple[str, ...]


def observations_of(conversation: LocomoConversation) -> list[Observation]:
    """What the data set says of a conversation; empty where it says nothing."""
    found: list[Observation] = []
    sessions: Mapping[str, Any] = conversation.observation
    for of_session in sessions.values():
        for speaker, said in of_session.items():
            for text, turns in said:
                if named := tuple(_TURN.findall(str(turns))):
                    found.append(Observation(str(speaker), str(text), named))
    return found


class ObservationAnalyst:
    """Answers each window with the observations whose first turn stands in it. It knows turns by their words: what an analyst
    is shown has no ids."""

    name = "locomo-observations"
    version = "1"
    model: str | None = None

    def __init__(self, conversations: Sequence[LocomoConversation]) -> None:
        self._said: dict[tuple[str, str], list[Observation]] = {}
        for conversation in conversations:
            messages = {
                str(message.external_id): message
                for session in conversation.sessions
                for message in session.messages
            }
            for observation in observations_of(conversation):
                turns = [messages[turn] for turn in observation.turns if turn in messages]
                for message in turns[:1]:
                    key = (message.author or message.role, message.text)
                    self._said.setdefault(key, []).append(observation)

    async def extract(self, window: Window, governor: Governor) -> Extraction:
        observed = [
            (Quote(message.number, message.text), [one.text for one in said])
            for message in window.messages
            if (said := self._said.get((message.speaker, message.text)))
        ]
        # An answer holds few memories: where there are more, what one turn says becomes one, the fullest turn first.
        for _, texts in sorted(observed, key=lambda one: -len(one[1])):
            if sum(len(other) for _, other in observed) > MAX_MEMORIES:
                texts[:] = [" ".join(texts)]
        drafts = [
            DraftMemory("fact", text[:MAX_CONTENT_CHARACTERS], (quote,))
            for quote, texts in observed
            for text in texts
        ]
        return Extraction(memories=tuple(drafts[:MAX_MEMORIES]))

    async def close(self) -> None:
        return None
