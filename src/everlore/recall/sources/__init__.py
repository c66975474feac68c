"""The kinds of things that recall finds, one file each. A new kind is a file here (or elsewhere) and a line in `SOURCES`."""

from everlore.recall.sources.branches import BranchSource
from everlore.recall.sources.facts import FactSource
from everlore.recall.sources.keys import KeySource
from everlore.recall.sources.memories import MemorySource
from everlore.recall.sources.messages import MessageSource
from everlore.recall.sources.source import RecallSource

# In the order in which they are asked: with a deadline, the later ones may be left out.
SOURCES: list[RecallSource] = [MessageSource(), MemorySource(), FactSource(), BranchSource(), KeySource()]
