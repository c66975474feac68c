"""What is believed depends on when things were said, not on which thread was distilled first."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from itertools import permutations

import pytest
from tests.conftest import Clock, TestDatabase
from tests.steps.conftest import Rows

from everlore.api.workspace import Workspace
from everlore.capture.importers import read_jsonl
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.models.fake import FakeEmbedder

BELIEVED = {
    "memory": """
        select m.type, m.author, m.content, m.valid_from, m.valid_to, m.event_at, m.expires_at, m.confidence, m.importance,
               array(select e.name from everlore.memory_entity x join everlore.entity e using (workspace_id, entity_id)
                     where x.workspace_id = m.workspace_id and x.lineage_id = m.lineage_id order by 1)
        from everlore.memory m
        where m.workspace_id = %s and m.superseded_at is null and m.review is null and m.forgotten_at is null""",
    "fact": """
        select e.name, f.predicate, f.object, o.name, f.valid_from, f.valid_to, f.confidence
        from everlore.fact f
        join everlore.entity e on e.workspace_id = f.workspace_id and e.entity_id = f.subject_id
        left join everlore.entity o on o.workspace_id = f.workspace_id and o.entity_id = f.object_id
        where f.workspace_id = %s and f.superseded_at is null and f.review is null
          and (f.valid_to is null or f.valid_to > f.valid_from)""",
    "entity": """
        select e.name, e.type,
               array(select a.variant || ' ' || a.weight || ' ' || a.origin from everlore.alias a
                     where a.workspace_id = e.workspace_id and a.entity_id = e.entity_id order by 1),
               (select count(*) from everlore.mention n where n.workspace_id = e.workspace_id and n.entity_id = e.entity_id)
        from everlore.entity e where e.workspace_id = %s and e.merged_into is null""",
}  # fmt: skip
