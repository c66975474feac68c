"""The kinds of things that recall finds, one file each. A new kind is a file here (or elsewhere) and a line in `SOURCES`."""

from everlore.recall.sources.facts import Facts
from everlore.recall.sources.memories import Memories
from everlore.recall.sources.messages import Messages
from everlore.recall.sources.source import Source

# In the order in which they are asked: with a deadline, the later ones may be left out.
SOURCES: list[Source] = [Messages(), Memories(), Facts()]
