r"""Markdown to plain, searchable text.

A markdown parser is exact and costs about a millisecond a message; bulk ingest brings ten thousand messages a
call, and search forgives a marker that stays behind. So this is removal, not parsing: a few regexes take the
marks that begin a line, one scanner takes those inside it. It leans towards keeping: what might be code or
arithmetic (`snake_case`, `__init__`, `2*3*4`, `List<int>`, `x || y`) stays as it was written.

Every pattern is linear on hostile text: repetition is possessive, or stops at the character that begins the
next try. Where a closing mark has to be looked up, a failed search is remembered instead of repeated.
"""

import re
from collections.abc import Callable
from html import unescape
from html.entities import html5
from typing import NamedTuple


class Block(NamedTuple):
    """A stretch of plain text: prose, or the content of one code fence."""

    text: str
    code: bool


def plain(markdown: str) -> str:
    """The searchable text: lines kept, other white space collapsed; empty only when `markdown` is blank."""
    if not _INLINE_MARK.search(markdown):
        if markdown.isprintable() and "  " not in markdown:  # one line, single spaces: most chat messages
            line = markdown.strip()
            if not line.startswith(_LINE_MARKS):
                return line
        elif not _LINE_MARK.search("\n" + markdown):
            return _collapse(markdown)
    return "\n".join([block.text for block in blocks(markdown)])


def blocks(markdown: str) -> list[Block]:
    """The plain text in order, code fences apart; joined by newlines it is what `plain` returns."""
    found = [block for block in _blocks(markdown) if block.text]
    if found or not markdown or markdown.isspace():
        return found
    return [Block(_collapse(markdown), code=False)]  # only markers ("---"): still findable as written


# Without these, only a line's first character can be markdown. (A bare charset: alternatives scan slowly.)
_INLINE_MARK = re.compile(r"[*_`\[<\\&~]")
_LINE_MARKS = ("#", ">", "|", "+", "=", ":", "-")
_LINE_MARK = re.compile(r"\n[ \t]*+[#>|+=:-]")


def _collapse(text: str) -> str:
    return "\n".join(filter(None, [" ".join(line.split()) for line in text.splitlines()]))


# ---- blocks: fences, tables, marks that begin a line. Text starts with "\n" here, so that every line does.

_FENCE = re.compile(
    r"\n[ \t]*+(?P<fence>`{3,}+|~{3,}+)[^\n`]*+(?=\n|\Z)"  # the info string (language) goes with the fence
    r"(?P<code>.*?)"
    r"(?:\n[ \t]*+(?P=fence)[`~]*+[ \t]*+(?=\n|\Z)|\Z)",  # an open fence runs to the end, as in CommonMark
    re.DOTALL,
)
_PIPE_AHEAD = r"(?=[^\n|]*+\|)"
_DASHES = r"[ \t]*+:?+-++:?+[ \t]*+"
_TABLE = re.compile(
    rf"\n{_PIPE_AHEAD}(?P<head>[^\n]*+)"
    rf"\n{_PIPE_AHEAD}[ \t]*+\|?+{_DASHES}(?:\|{_DASHES})*+\|?+[ \t]*+(?=\n|\Z)"
    rf"(?P<rows>(?:\n{_PIPE_AHEAD}[^\n]*+)*+)"
)
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_RULE = re.compile(
    r"\n[ \t]*+(?:(?:-[ \t]*+){2,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|={2,}+[ \t]*+)(?=\n|\Z)"
)
_LINE_START = re.compile(
    r"\n[ \t]*+(?:>(?!=)[ \t]*+)*"  # quotes of any depth, but not ">= 3"
    r"(?:#{1,6}+(?=\s|\Z)|[-+*](?=\s|\Z)(?:[ \t]++\[[ xX]\](?=\s))?)?"  # heading, or bullet and check box
)


def _blocks(markdown: str) -> list[Block]:
    text = "\n" + markdown.replace("\r\n", "\n")
    if "```" not in text and "~~~" not in text:
        return [_prose(text)]
    found: list[Block] = []
    end = 0
    for fence in _FENCE.finditer(text):
        found += (_prose(text[end : fence.start()]), Block(_collapse(fence["code"]), code=True))
        end = fence.end()
    found.append(_prose(text[end:]))
    return found


def _prose(text: str) -> Block:
    if "|" in text:
        text = _TABLE.sub(_cells, text)
    text = _LINE_START.sub("\n", _RULE.sub("", text))
    return Block(_collapse(_Inline(text).read()), code=False)


def _cells(table: re.Match[str]) -> str:
    return "\n" + _CELL_BORDER.sub(" ", table["head"] + table["rows"])


# ---- inline: one scan from mark to mark, each handler says where the next search begins

# Other names, mixed case and single capitals are left alone: `Map<Key>`, `<your-name>`, `Set<S>`.
_INLINE_TAGS = "a abbr b code del em font i ins kbd mark q s samp small span strike strong sub sup u var wbr"
_BLOCK_TAGS = (
    "article aside blockquote body br button center dd details div dl dt figcaption figure footer "
    "h1 h2 h3 h4 h5 h6 head header hr html iframe img input li main nav ol p picture pre script section "
    "style summary svg table tbody td tfoot th thead tr ul video"
)
_BREAKING = {name: " " if name in ("td", "th") else "\n" for name in _BLOCK_TAGS.split()}
_NAMES = f"{_INLINE_TAGS} {_BLOCK_TAGS}".split()
_TAG_NAME = "|".join(_NAMES + [name.upper() for name in _NAMES if len(name) > 1])

_TOKEN = re.compile(
    r"([^\\`*_~!\[\]<&:]*+)(?:"  # the text before; then one of the marks that may begin here
    r"(?P<emphasis>\*++|_++|~~++)"
    r"|(?P<code>`++)"
    r"|(?P<url>://[^\s<>*`|\\\[\]()\"]++(?:\([^\s<>*`|\\()]*+\)[^\s<>*`|\\\[\]()\"]*+){0,20}+)"
    r"|(?P<bracket>!?+\[)"
    r"|(?P<link>\]\("
    r"[ \t]*+(?:<(?P<pointy>[^<>\n]*+)>|(?P<target>[^\s()<>]*+(?:\([^\s()]*+\)[^\s()<>]*+){0,20}+))"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'))?+[ \t]*+\))"  # the title, which only a tooltip shows
    r"|(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<entity>&(?:#\d{1,7}+|#[xX][0-9a-fA-F]{1,6}+|[A-Za-z][A-Za-z0-9]{1,31}+);)"
    r"|(?P<address><(?:(?:[a-z][a-z0-9+.-]{1,30}+://|mailto:)[^\s<>]++|[\w.+-]++@[\w.-]++)>)"
    rf"|(?P<tag></?+(?P<name>{_TAG_NAME})(?:\s[^<>=]*+=[^<>]*+|\s++[a-z]*+\s*+)?+/?+>)"
    r"|(?P<comment><!--)"
    r"|(?P<other>.))"
)
_SHOWN_ATTRIBUTE = re.compile(r"""\s(?:alt|href)=["']([^"'<>]*+)["']""")
_LONGEST_EMPHASIS = 4_000  # characters; without a bound, nested marks would be looked through again and again
_LONGEST_SHOWN_URL = 16  # parts; likewise for nested brackets
_CODE_MARK = re.compile(r"`++")
_SCHEME = re.compile(r"(?:https?://|mailto:)")


class _Inline:
    """Reads prose into parts; a mark that finds its partner is blanked, any other stays as text.

    A handler gets the token and its text, and returns the position where reading goes on.
    """

    __slots__ = ("brackets", "code_marks", "comments", "marks", "parts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: list[str] = []
        self.marks: dict[str, list[tuple[int, int]]] = {}  # open emphasis: index of its part, end in the text
        self.brackets: list[int] = []  # open brackets: index of the part
        self.code_marks: dict[int, list[int]] | None = (
            None  # by length: where runs of backticks start, last first
        )
        self.comments = True  # whether a "-->" may still follow

    def read(self) -> str:
        text, parts, match = self.text, self.parts, _TOKEN.match
        position = 0
        while token := match(text, position):
            parts.append(token[1])
            kind = token.lastgroup or ""
            position = _HANDLERS[kind](self, token, token[kind])
        parts.append(text[position:])
        return "".join(parts)

    def other(self, token: re.Match[str], mark: str) -> int:
        self.parts.append(mark)
        return token.end()

    def escape(self, token: re.Match[str], mark: str) -> int:
        self.parts.append(mark[1])
        return token.end()

    def url(self, token: re.Match[str], mark: str) -> int:
        address = mark.rstrip("_~")  # "_https://a.b_": the last one closes the emphasis
        self.parts.append(address)
        return token.end() - len(mark) + len(address)

    def address(self, token: re.Match[str], mark: str) -> int:
        self.parts.append(mark[1:-1])
        return token.end()

    def entity(self, token: re.Match[str], mark: str) -> int:
        self.parts.append(unescape(mark) if mark[1] == "#" else html5.get(mark[1:], mark))
        return token.end()

    def tag(self, token: re.Match[str], mark: str) -> int:
        if shown := _SHOWN_ATTRIBUTE.search(mark):
            self.parts.append(f" {shown[1]} ")
        else:
            self.parts.append(_BREAKING.get(token["name"].lower(), ""))
        return token.end()

    def comment(self, token: re.Match[str], mark: str) -> int:
        end = self.text.find("-->", token.end()) if self.comments else -1
        if end >= 0:
            return end + 3
        self.comments = False
        self.parts.append(mark)
        return token.end()

    # -- code

    def code(self, token: re.Match[str], mark: str) -> int:
        end = token.end()
        closing = self._closing_code_mark(end, len(mark))
        if closing < 0:
            self.parts.append(mark)
            return end
        self.parts.append(self.text[end:closing])
        return closing + len(mark)

    def _closing_code_mark(self, after: int, length: int) -> int:
        if self.code_marks is None:
            self.code_marks = {}
            for run in reversed(list(_CODE_MARK.finditer(self.text, after))):
                self.code_marks.setdefault(run.end() - run.start(), []).append(run.start())
        waiting = self.code_marks.get(length, [])
        while waiting and waiting[-1] < after:
            waiting.pop()
        if not waiting or self.text.find("\n\n", after, waiting[-1]) >= 0:
            return -1
        return waiting.pop()

    # -- links and images

    def bracket(self, token: re.Match[str], mark: str) -> int:
        self.brackets.append(len(self.parts))
        self.parts.append(mark)
        return token.end()

    def link(self, token: re.Match[str], mark: str) -> int:
        if not self.brackets:
            self.parts.append("]")
            return token.end() - len(mark) + 1
        part = self.brackets.pop()
        if self.parts[part] == "[":
            shown = "".join(self.parts[part + 1 : part + 1 + _LONGEST_SHOWN_URL])
            self.parts.append(_target(token["pointy"] or token["target"] or "", shown.strip()))
        self.parts[part] = ""
        return token.end()

    # -- emphasis

    def emphasis(self, token: re.Match[str], mark: str) -> int:
        end = token.end()
        start = end - len(mark)
        before, after = self.text[start - 1 : start] or " ", self.text[end : end + 1] or " "
        part = len(self.parts)
        self.parts.append(mark)
        if before not in " \n" and _may_close(mark, after) and self._close(mark, part, start):
            return end
        if after not in " \n" and _may_open(mark, before):
            self.marks.setdefault(mark, []).append((part, end))
        return end

    def _close(self, mark: str, part: int, start: int) -> bool:
        opened = self._partners(mark)
        if not opened:
            return False
        inside = opened[0][1]
        if start - inside > _LONGEST_EMPHASIS or self.text.find("\n\n", inside, start) >= 0:
            return False
        if mark == "__" and self.text[inside:start].isidentifier():
            return True  # __init__ is a name; both marks stay
        for partner, _ in opened:
            self.parts[partner] = ""
        self.parts[part] = ""
        return True

    def _partners(self, mark: str) -> list[tuple[int, int]]:
        if waiting := self.marks.get(mark):
            return [waiting.pop()]
        if len(mark) != 3:
            return []
        double, single = self.marks.get(mark[:2]), self.marks.get(mark[:1])  # **bold with *both***
        return [double.pop(), single.pop()] if double and single else []


def _target(target: str, shown: str) -> str:
    """What of a link's address follows its text."""
    if not target or shown in (target, _SCHEME.sub("", target, count=1)):
        return ""
    return f" ({target})" if shown else target


def _may_open(mark: str, before: str) -> bool:
    if mark[0] == "*":
        return not (before.isascii() and before.isalnum())  # 2*3, x**n; but 这是**重点**
    return not before.isalnum()


def _may_close(mark: str, after: str) -> bool:
    if mark[0] == "_":
        return not after.isalnum()
    if mark == "*":
        return not (after.isascii() and after.isalnum())
    return not after.isdigit()  # **Note**s, but not **kwargs, 2**3


_HANDLERS: dict[str, Callable[[_Inline, re.Match[str], str], int]] = {
    "emphasis": _Inline.emphasis,
    "code": _Inline.code,
    "url": _Inline.url,
    "bracket": _Inline.bracket,
    "link": _Inline.link,
    "escape": _Inline.escape,
    "entity": _Inline.entity,
    "address": _Inline.address,
    "tag": _Inline.tag,
    "comment": _Inline.comment,
    "other": _Inline.other,
}
