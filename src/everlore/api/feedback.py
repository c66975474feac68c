"""Feedback: which sources of an answer answered the question, and which did not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from everlore.api.directory import Verbs
from everlore.domain.answers import Doc
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.recall import Feedback
from everlore.store import conversation, feedback, memories
from everlore.store.feedback import AnswerSource
from everlore.store.run import Transaction
from everlore.validation import Check, Id, Question, checked, found_by_id

MAX_SOURCES = 100
_SOURCE = "message or memory"


def _at_most(given: Sequence[Any], field: str) -> Sequence[Any]:
    if len(given) > MAX_SOURCES:
        raise InvalidInput(field, f"names {len(given):,} sources; the limit is {MAX_SOURCES}")
    return given


Sources = Annotated[Sequence[Id], Check(_at_most, {"maxItems": MAX_SOURCES})]


@dataclass(frozen=True, slots=True)
class Judging(Verbs):
    """The verb on answers."""

    @checked
    async def feedback(
        self,
        query: Annotated[Question, Doc("The question that was answered.")],
        *,
        confirmed: Annotated[
            Sources, Doc("Messages and memories that answer it, by their ids or the last 8 characters.")
        ] = (),
        refused: Annotated[Sources, Doc("Those that do not.")] = (),
    ) -> Feedback:
        """Confirm or refuse the sources of an answer.

        From then on, for this question and those like it, what is confirmed comes a little earlier, what is refused a little
        later, and both say so in their support; other questions are answered as before. The last word on a source counts. Of
        the question only hashes are kept, and they go with the source. Raises InvalidInput, NotFound.
        """
        if not (confirmed or refused):
            raise InvalidInput("confirmed", "is empty, and so is refused; name a message or memory")
        async with self.writing() as tx:
            yes, no = await self._sources(tx, confirmed), await self._sources(tx, refused)
            if both := yes.keys() & no.keys():
                raise InvalidInput("refused", f"has {min(both)}, which is confirmed as well")
            given = [(one, True) for one in yes.values()] + [(one, False) for one in no.values()]
            if not await feedback.note(tx, query, given, self.now()):
                raise InvalidInput("query", "has no word that tells it from other questions")
            await conversation.audit(tx, "feedback", None, confirmed=len(yes), refused=len(no))
        return Feedback(tuple(yes), tuple(no))

    async def _sources(self, tx: Transaction, given: Sequence[str | UUID]) -> dict[UUID, AnswerSource]:
        """What was named, by the ids of messages and of lineages."""

        async def ending(digits: str) -> list[UUID]:
            return [*await conversation.find_message(tx, digits), *await memories.find(tx, digits)]

        ids = [await found_by_id(one, _SOURCE, ending) for one in given]
        found = await feedback.sources(tx, ids)
        if missing := [one for one in ids if one not in found]:
            raise NotFound(f"There is no {_SOURCE} {missing[0]} in the workspace {self.name}.")
        return {found[one].source_id: found[one] for one in ids}
