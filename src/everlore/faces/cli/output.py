"""All that reaches the terminal: text made harmless, times in the local zone, tables, progress, JSON.

JSON is what `to_json` makes of an answer, as over HTTP. It goes to standard output alone; whatever is said to people goes
to standard error.
"""

import json
import re
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from everlore.domain.answers import to_json
from everlore.domain.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress, TaskID
    from rich.table import Table

# Stored text is anybody's. Controls are shown as the pictures that Unicode has for them; what could turn the direction of
# the text around it is left out.
_HARMLESS = (
    {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
    | {0x7F: "\u2421"}
    | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
    | dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "")
    | {0x2028: "\n", 0x2029: "\n", 0x0D: ""}
    | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
)
# JSON escapes the other controls by itself; these could otherwise reach a terminal as they are.
_JSON_HARMLESS = {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0), 0x2028, 0x2029)}


def clean(text: str) -> str:
    """The text without anything that a terminal would take for an order."""
    return text.translate(_HARMLESS)


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", clean(text)).strip()


def shortened(text: str, limit: int, words: Sequence[str] = ()) -> str:
    """On one line of at most `limit` characters, so that the first of `words` can be seen."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    lower = line.lower()
    places = [place for word in words if (place := lower.find(word.lower())) >= 0]
    start = 0
    if places and min(places) > limit * 2 // 3:
        start = min(min(places) - limit // 3, len(line) - limit)
        start = line.find(" ", start) + 1 or start
    kept = line[start : start + limit]
    if start + limit < len(line):
        kept = kept[: kept.rfind(" ") if " " in kept[limit // 2 :] else limit].rstrip() + "…"
    return f"…{kept}" if start else kept


def local(moment: datetime) -> datetime:
    try:
        return moment.astimezone()
    except (OverflowError, ValueError):  # the first and last day of the calendar
        return moment


def when(moment: datetime | None) -> str:
    """`2025-05-12 14:03`, in the local zone."""
    return "" if moment is None else local(moment).isoformat(" ", "minutes")[:16]


def moment(given: str | None, field: str) -> datetime | None:
    """A time that a person typed: without a zone it is the local one. Raises InvalidInput."""
    if given is None:
        return None
    try:
        read = datetime.fromisoformat(given.strip())
        return read if read.tzinfo is not None else read.astimezone()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(
            field, f"{given!r} is not a time such as 2025-05-12, 2025-05-12T14:03 or 2025-05-12T14:03+02:00"
        ) from error


def as_json(value: Any, *, indent: int | None = 2) -> str:
    text = json.dumps(to_json(value), ensure_ascii=not _unicode(), indent=indent)
    return text.translate(_JSON_HARMLESS)


def _unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


class Output:
    """The two streams of this run."""

    def __init__(self) -> None:
        from rich.console import Console

        # Nothing that is printed is markup: texts come from anywhere.
        self.console: Console = Console(markup=False, emoji=False, highlight=False)
        self.errors: Console = Console(stderr=True, markup=False, emoji=False, highlight=False)

    @property
    def width(self) -> int:
        return self.console.width

    def json(self, value: Any) -> None:
        sys.stdout.write(as_json(value) + "\n")

    def print(self, *what: "RenderableType") -> None:
        for one in what:
            self.console.print(_harmless(one))

    def line(self, text: str = "") -> None:
        """Plain text as it is, however long."""
        self.console.print(clean(text), soft_wrap=True)

    def wrapped(self, text: str, first: str = "", style: str = "") -> None:
        """A paragraph at the terminal's width: `first` stands before its first line, and the others are indented by as much."""
        from rich.text import Text

        lines = Text(clean(text), style).wrap(self.console, max(self.width - len(first), 1))
        for number, line in enumerate(lines):
            before = Text(" " * len(first) if number else first, style)
            self.console.print(before + line, soft_wrap=True)

    def note(self, text: str) -> None:
        """Something worth knowing that is not the answer."""
        self.errors.print(clean(text), soft_wrap=True, style="dim")

    def warn(self, text: str) -> None:
        self.errors.print(f"Warning: {clean(text)}", soft_wrap=True, style="yellow")

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Generator[Callable[[int], None]]:
        """A bar on a terminal's standard error; gives a function that hears by how many it went on."""
        with self._bars() as bars:
            task = bars.add_task(clean(what), total=total)
            yield lambda count: bars.advance(task, count)

    @contextmanager
    def stages(self) -> Generator[Callable[[str, int, int], None]]:
        """A bar for each stage; gives a function that hears of the stage, how much of it is done, and of how much."""
        with self._bars() as bars:
            tasks: dict[str, TaskID] = {}

            def report(what: str, done: int, of: int) -> None:
                if what not in tasks:
                    tasks[what] = bars.add_task(clean(what), total=of)
                bars.update(tasks[what], completed=done, total=of)

            yield report

    def _bars(self) -> "Progress":
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.errors,
            transient=True,
            disable=not self.errors.is_terminal,
        )


class _Harmless:
    """A renderable whose text is made harmless once more when it is drawn: markdown can spell controls as entities."""

    def __init__(self, inner: "RenderableType") -> None:
        self._inner = inner

    def __rich_console__(self, console: "Console", options: Any) -> Iterator[Any]:
        from rich.segment import Segment

        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(clean(segment.text), segment.style)


def _harmless(inner: "RenderableType") -> "RenderableType":
    return cast("RenderableType", _Harmless(inner))


def markdown(text: str) -> "RenderableType":
    """Links are printed, never made clickable: what can be seen is what would be opened."""
    from rich.markdown import Markdown

    return Markdown(clean(text), hyperlinks=False)


def table(*columns: str, numbers: Sequence[str] = (), wide: str | None = None) -> "Table":
    """A table without frames. `numbers` are set to the right; only `wide` may be wrapped; on a narrow terminal the other columns
    stand beneath it."""
    from rich import box

    from everlore.faces.cli.text_table import TextTable

    made = TextTable(
        wide, box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 1, 0, 0)
    )
    for name in columns:
        made.add_column(
            name, justify="right" if name in numbers else "left", no_wrap=wide is not None and name != wide
        )
    return made


def facts(pairs: Mapping[str, object]) -> "Table":
    """Names and values, one pair a line; what is None or empty is left out."""
    from rich.table import Table

    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs.items():
        if value is not None and value != "":
            made.add_row(name, clean(str(value)))
    return made
