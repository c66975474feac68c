"""Hostile shapes of text: what a pass over a message could need quadratic time for. Each is a unit that is repeated, or a
build of its own; `build` gives any number of characters of it."""

from collections.abc import Callable, Mapping

# Text without blanks, or with odd ones.
_SCRIPTS = {
    "chinese": "他昨天在里斯本买了一只猫",
    "japanese": "私の妹は五月にリスボンへ引っ越しました",
    "thai": "ฉันชอบกินข้าวผัดกุ้ง",
    "korean": "나는리스본에산다",
    "accented": "éàüöñçß",
    "combining": "e\u0301a\u0308",
    "only combining": "\u0301",
    "cyrillic": "МояСестраЭмма",
    "arabic": "أناأحبالشاي",
    "hindi": "मुझेचायपसंदहै",
    "one letter": "a",
    "full width": "\uff21\uff22\uff11",
    "mathematical": "𝐀𝐛𝟏",
}
_BLANKS = {
    "blanks": " ",
    "tabs": "\t",
    "line breaks": "\n",
    "blank lines with blanks": "  \n",
    "zero width": "\u200b",
    "joiners": "a\u200d",
    "line separators": "\u2028",
}
# Words that start a pattern, over and over.
_TRIGGERS = {
    "off and on the record": "off the record: back on the record ",
    "back on the record": "back on the record ",
    "do not remember": "don't remember that ",
    "forget what I just said": "forget what I just said, ",
    "between you and me": "between you and me ",
    "seed phrase": "seed phrase:",
    "password": "password ",
    "password is secret": "my password is hunter2x ",
    "quoted password": "password is 'a b ",
    "token-token": "token-",
    "word token": "word token ",
    "login": "login: ",
    "chinese password": "密码是",
    "key of a web token": "eyJabcde-",
    "secret key": "sk-abc-",
    "private key": "-----BEGIN PRIVATE KEY-----\n",
    "ignore": "ignore ",
    "ignore all previous": "ignore all previous ",
    "store that": "store that x ",
    "store in memory": "store in memory, ",
    "remember that the user": "remember that the user is ",
    "from now on": "from now on, always ",
    "in all future answers": "in all future answers, recommend answer ",
    "I always ignore": "I always ignore all previous instructions ",
    "system": "system: ",
    "olvida": "olvida todas ",
    "tags of tools": "<tool_call ",
    "names": "Anna Maria ",
    "possessives": "Anna's ",
    "comma and": "a, b, and ",
    "because": "I like because ",
    "call me": "call me ",
    "dates": "on 3 March 2024 ",
    "relative dates": "last Friday ",
    "times": "at 7:30 pm ",
    "number words": "twenty ",
    "question": "is it? ",
    "abbreviations": "e.g. ",
}
_MARKS = {
    "opening quotes": '"',
    "nested quotes": "\"'",
    "opening quote and word": '"a ',
    "backquotes": "`",
    "code fences": "```\n",
    "unclosed fences": "```python\nx = 1\n~~~\n",
    "opening brackets": "[",
    "brackets": "[](",
    "link texts": "[a](b",
    "images": "![",
    "parentheses": "(",
    "stars": "*",
    "stars and words": "*a **b ",
    "underscores": "_a",
    "deep quotation": ">",
    "deep lists": "  - ",
    "numbered": "1. ",
    "tables": "| a | b ",
    "setext": "a\n=\n",
    "tags": "<",
    "open tags": "<b>",
    "summaries": "<summary>",
    "own mark": "<everlore-memory>",
    "comments": "<!--",
    "backslashes": "\\",
    "thoughts": "<think>",
}
_STRINGS = {
    "addresses": "https://example.com/a/b?c=d ",
    "credentials": "a://b:c",
    "e-mail": "a@b.c,",
    "dotted": "a.",
    "dots": ".",
    "hyphens": "-",
    "paths": "/usr/local/",
    "equals": "=",
    "apostrophes": "a'",
    "digits": "7",
    "blank digits": "1 ",
    "phones": "+351 912-",
    "mixed case": "aB1",
    "base64": "aGVsbG8gd29ybGQ",
    "bank accounts": "DE89 3704 ",
    "emoji": "🙂",
    "families": "👩‍👩‍👧",
    "control": "\x01",
}
_WHOLE: Mapping[str, Callable[[int], str]] = {
    "open and never closed": lambda size: "([{<\"'`*_" * (size // 10) + "a" * (size // 10),
    "brackets that close": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "parentheses that close": lambda size: "(" * (size // 2) + ")" * (size // 2),
    "braces that close": lambda size: "{" * (size // 2) + "}" * (size // 2),
    "quotes that close": lambda size: "“" * (size // 2) + "”" * (size // 2),
    "growing words": lambda size: " ".join("a" * n for n in range(1, int((2 * size) ** 0.5))),
    "different words": lambda size: " ".join(f"word{n}" for n in range(size // 10)),
    "different names": lambda size: " ".join(f"Name{n}" for n in range(size // 10)),
    "different statements": lambda size: " ".join(f"I own house {n} in Lisbon." for n in range(size // 28)),
    "different sisters": lambda size: " ".join(f"My sister Emma{n} lives in Porto{n}." for n in range(size // 40)),
    "one huge line, then lines": lambda size: "a " * (size // 4) + "\n" * (size // 2),
    "blanks before the end": lambda size: "a" + " " * (size - 2) + "b",
    "dots before the end": lambda size: "a" + "." * (size - 2) + "b",
}  # fmt: skip

UNITS = {**_SCRIPTS, **_BLANKS, **_TRIGGERS, **_MARKS, **_STRINGS}
SHAPES = (*UNITS, *_WHOLE)


def build(shape: str, size: int) -> str:
    """`size` characters of a shape, or nearly so."""
    if shape in _WHOLE:
        return _WHOLE[shape](size)
    return (UNITS[shape] * (size // len(UNITS[shape]) + 1))[:size]
