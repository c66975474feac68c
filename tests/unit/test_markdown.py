"""Markdown becomes searchable text: markers go, everything that a person may search for stays."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.capture.markdown import Block, blocks, plain

INLINE = {
    "**bold** and *it*": "bold and it",
    "__two words__ and _it_": "two words and it",
    "***both*** of them": "both of them",
    "**bold with *both***": "bold with both",
    "~~gone~~": "gone",
    "**Note**s": "Notes",
    "这是**重点**内容": "这是重点内容",
    "*она* сказала": "она сказала",
    "*over\ntwo lines*": "over\ntwo lines",
    "[docs](https://a.org/x_y)": "docs (https://a.org/x_y)",
    '[docs](https://a.org "A title").': "docs (https://a.org).",
    "[https://a.org](https://a.org)": "https://a.org",
    "[a.org](https://a.org)": "a.org",
    "[**bold** text](/path)": "bold text (/path)",
    "[Lua](https://en.wikipedia.org/wiki/Lua_(language))": "Lua (https://en.wikipedia.org/wiki/Lua_(language))",
    "[a b](<x y>)": "a b (x y)",
    "[](https://a.org)": "https://a.org",
    "![a cat](cat.png) sits": "a cat sits",
    "[![build](b.svg)](https://ci.org)": "build (https://ci.org)",
    "<https://a.org/b>": "https://a.org/b",
    "<me@a.org>": "me@a.org",
    "see https://a.org/_b_/*c": "see https://a.org/_b_/*c",
    "_https://a.org_": "https://a.org",
    "`x = *a* & _b_ <b>`": "x = *a* & _b_ <b>",
    "``a ` b``": "a ` b",
    "a `lone backtick": "a `lone backtick",
    "one `a\n\nb` two": "one `a\nb` two",
    r"\*not\* \_it\_ \[a\](b) \`c\`": "*not* _it_ [a](b) `c`",
    r"C:\new\table": r"C:\new\table",
    "fish &amp; chips &#8364; &#x41; &nbsp;x": "fish & chips € A x",
    "&lt;b&gt;": "<b>",
    "?a=1&copy=2 &nosuch; AT&T": "?a=1&copy=2 &nosuch; AT&T",
    "<b>bold</b> H<sub>2</sub>O": "bold H2O",
    "one<br>two<BR/>three": "one\ntwo\nthree",
    '<p class="x">hi</p>': "hi",
    '<img src="a.png" alt="a cat">': "a cat",
    '<a href="https://a.org">docs</a>': "https://a.org docs",
    "a<!-- hidden -->b": "ab",
    "open <!-- comment": "open <!-- comment",
}
LINES = {
    "# Title\n## Second": "Title\nSecond",
    "- one\n* two\n+ three\n  - deep": "one\ntwo\nthree\ndeep",
    "1. one\n2) two": "1. one\n2) two",
    "- [x] done\n- [ ] open": "done\nopen",
    "> quoted\n> > twice": "quoted\ntwice",
    "> - **a** in a quote": "a in a quote",
    "a\n\n---\n\nb\n***\nc": "a\nb\nc",
    "Title\n=====\ntext\n-----": "Title\ntext",
    "| a | b |\n|---|:-:|\n| 1 | **2** |\n| x\\|y | |": "a b\n1 2\nx|y",
    "a | b\n--|--\n1 | 2\n\nx | y": "a b\n1 2\nx | y",
    "a  \t b\r\n\r\n\r\nc\u00a0 d": "a b\nc d",
    "```python\nx = '*a*'\n```": "x = '*a*'",
    "see\n~~~\n# no title\n~~~\n# title": "see\n# no title\ntitle",
    "````\n```\nin\n```\n````": "```\nin\n```",
    "```\nnever closed *x*": "never closed *x*",
    "```one line```": "one line",
}
UNTOUCHED = [
    "",
    "Hello, how are you? I'm fine (really)!",
    "well-known, 3 - 2 = 1",
    "snake_case and CamelCase",
    "2 * 3 * 4",
    "2*3*4",
    "x**2 + y**2",
    "*args and **kwargs",
    "__init__.py, __name__",
    "_private",
    "C++ and C# and F#",
    "#hashtag",
    ":-) :) >:(",
    "a < b and c > d",
    "List<int>, Map<String, List<T>>, Set<S>",
    "<your-name>",
    "arr[0][1]",
    "[a] (b)",
    "x || y | z",
    "~5 minutes",
    "fill in ____ here",
    "**/*.py",
    "-5 degrees",
    ">= 3",
    "日本語のテキスト。",
    "שלום עולם 👋🏽 👩‍👩‍👧",
    "$5.00 & 10%",
    "e.g. this",
]
ONLY_MARKS = [
    "---",
    "![](x.png)",
    "```\n```",
    "<br>",
    "**",
    "#",
    "-",
    "> >",
    "[]()",
    "<!-- a -->",
    "***\n***",
]


@pytest.mark.parametrize(("markdown", "text"), (INLINE | LINES).items())
def test_markers_go(markdown: str, text: str) -> None:
    assert plain(markdown) == text


@pytest.mark.parametrize("text", UNTOUCHED)
def test_prose_and_code_stay(text: str) -> None:
    assert plain(text) == text
    assert plain(f"{text}\n**x**") == f"{text}\nx".strip()  # and on the way past the short cut


@pytest.mark.parametrize("markdown", ONLY_MARKS)
def test_only_marks_are_kept_as_written(markdown: str) -> None:
    assert plain(f" {markdown} ") == markdown


def test_fences_are_blocks_of_their_own() -> None:
    assert blocks("a *b*\n```sh\nls *\n```\nc") == [
        Block("a b", code=False),
        Block("ls *", code=True),
        Block("c", code=False),
    ]


MARKDOWN = st.lists(
    st.sampled_from(
        [*"*_`~[]()<>!&#|-+=\\:/. \n\tab1é字", "```", "~~~", "](", "<b>", "<!--", "-->", "&amp;", "://"]
    )
    | st.text(max_size=5)
).map("".join)


@given(MARKDOWN)
def test_never_raises_never_empty_always_collapsed(markdown: str) -> None:
    text = plain(markdown)
    assert bool(text) == bool(markdown.strip())
    assert all(line and line == " ".join(line.split()) for line in text.split("\n")) or not text
    assert text == "\n".join(block.text for block in blocks(markdown))


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1))
def test_every_word_survives(words: list[str]) -> None:
    assert plain("**" + "** `x` _".join(words) + "_").split() != []
    assert [word for word in words if word not in plain("- **" + "** *".join(words) + "*")] == []


HOSTILE = [
    *("*", "_", "`", "[", "<", "(", "&", "~", "|", "#", ">", "-", "!", "\\", "=", " ", "\n", "\n \n"),
    *(
        "](",
        "[a](",
        "](a(",
        "](a()",
        '](a "',
        "[[](a)",
        "[x](y",
        "<!--",
        "<a ",
        "<a =",
        "<a@",
        "<mailto:",
        "<b<",
    ),
    *("*a ", "**a", "*(", "__(", "`` ` ", "~~a", "://", "://_", "://(", "&#1", "&a", "x\n\n"),
    *(
        "|-",
        "|\n-|\n",
        "\n|",
        "\n---|",
        "\n--- ",
        "\n***",
        "\n> ",
        "\n- [",
        "\n```",
        "```\na\n",
        "a|b\n-|-\n",
    ),
]
NESTED = [
    "__(" * 16_000 + ")__" * 16_000,
    "*(" * 25_000 + ")*" * 25_000,
    "[" * 20_000 + "](u)" * 20_000,
    "[" * 30_000 + "](x(y" * 10_000,
    " ".join("`" * length for length in range(1, 440)),
]


@pytest.mark.parametrize(
    "text", [(part * 100_000)[:100_000] for part in HOSTILE] + NESTED, ids=lambda t: repr(t[:12])
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    start = time.process_time()
    assert plain(text) if text.strip() else not plain(text)
    assert time.process_time() - start < 1.0  # 0.1 is usual; a quadratic pattern takes minutes
