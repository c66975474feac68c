"""A table that is still read on a narrow terminal: there each row is its text, with the rest of it in one line beneath."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

# Narrower than that (in columns), what stands beside a text would leave it a few letters a line.
NARROW = 72


class Listing(Table):
    """`wide`: the name of the column that holds the text; None: a table is a table however narrow it is."""

    def __init__(self, wide: str | None, **options: Any) -> None:
        super().__init__(**options)
        self.wide = wide

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.wide is None or options.max_width >= NARROW:
            return super().__rich_console__(console, options)
        return self._stacked(self.wide)

    def _stacked(self, wide: str) -> Iterator[Any]:
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            text = next(
                cell for column, cell in zip(self.columns, cells, strict=True) if column.header == wide
            )
            beside = [
                _named(column, cell)
                for column, cell in zip(self.columns, cells, strict=True)
                if column.header != wide
            ]
            yield text
            yield Padding(Text(", ".join(one for one in beside if one), style="dim"), (0, 0, 0, 2))


def _named(column: Column, cell: Any) -> str:
    """A number says what it counts; what is plain by itself (a day, a name) does not."""
    said = " ".join((cell.plain if isinstance(cell, Text) else str(cell)).split())
    return f"{column.header} {said}" if said and column.justify == "right" and column.header != "#" else said
