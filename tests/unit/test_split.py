"""Passages: cut at good places, near the target, never above the limit, nothing lost."""

import re
from functools import cache
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

import everlore.models
from everlore.capture.markdown import plain
from everlore.capture.passages import Count, WordCounts, passages, split

PIECE = re.compile(r"[^\W_]{1,4}|[^\w\s]|_")


def pieces(text: str) -> int:
    """Like WordPiece in what matters: pieces of words, every punctuation mark one of its own."""
    return len(PIECE.findall(text))


@cache
def wordpieces() -> Count:
    folder = Path(next(iter(everlore.models.__path__)))
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "minilm" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def solid(text: str) -> str:
    return "".join(text.split())


def sentence(words: int, name: str = "word") -> str:
    return " ".join([name] * (words - 1)) + " end."


def small(text: str) -> list[str]:
    return split(text, pieces, target=15, limit=20)


@pytest.mark.parametrize("text", ["", " \n ", "\t"])
def test_blank_text_has_no_passage(text: str) -> None:
    assert split(text, pieces) == passages(text, pieces) == []


def test_a_text_that_cannot_be_too_long_is_not_counted() -> None:
    def never(text: str) -> int:
        raise AssertionError(text)

    assert split("x " * 100, never) == [("x " * 100).strip()]
    assert passages("*héllo* " * 20, never) == [("héllo " * 20).strip()]


def test_hangul_is_counted_earlier() -> None:
    sizes = [wordpieces()(passage) for passage in split("각 " * 70, wordpieces())]  # three wordpieces each
    assert sum(sizes) == 210
    assert max(sizes) <= 120


def test_up_to_the_limit_is_one_passage() -> None:
    assert small(sentence(19)) == [sentence(19)]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        # lines before sentences, sentences before words
        (f"{sentence(5)} {sentence(6)}\n{sentence(12)}", [f"{sentence(5)} {sentence(6)}", sentence(12)]),
        (f"{sentence(9)} {sentence(12)}", [sentence(9), sentence(12)]),
        ("one two three, " * 6, ["one two three, " * 3, "one two three, " * 3]),
        # what ends a sentence
        ("Did she " + "x " * 8 + '"go?" Then ' + "y " * 9 + "z.", ['?"', "z."]),
        ("a" + " b" * 9 + "… c" + " d" * 9, ["…", "d"]),
        ("a" + " b" * 9 + "; c" + " d" * 9, [";", "d"]),
        # what does not
        ("We met Dr. Smith" + " x" * 6 + ". " + "y " * 9 + "z.", [" x.", "z."]),
        ("x " * 8 + "see e.g. " + "this. " + "y " * 9 + "z.", ["this.", "z."]),
        ("x " * 8 + "the U.S. is. " + "y " * 8 + "z.", ["is.", "z."]),
        ("x " * 6 + "has 3.5 and v1.2. " + "y " * 9 + "z.", ["v1.2.", "z."]),
    ],
)
def test_where_it_is_cut(text: str, ends: list[str]) -> None:
    found = small(text)
    assert len(found) == len(ends)
    assert all(passage.endswith(end.strip()) for passage, end in zip(found, ends, strict=True)), found
    assert solid("".join(found)) == solid(text)


def test_cjk_sentences_are_cut_after_their_stop() -> None:
    found = split("这是一个很长的句子吗？" * 40, wordpieces())
    assert len(found) == 3
    assert all(passage.endswith("？") for passage in found)


def test_no_short_rest() -> None:
    for words in range(21, 400):
        sizes = [pieces(passage) for passage in small(" ".join(["word"] * words))]
        assert max(sizes) <= 20
        assert min(sizes) >= 9, (words, sizes)


def test_prose_is_near_the_target() -> None:
    text = " ".join(sentence(5 + number * 7 % 23) for number in range(500))
    sizes = [pieces(passage) for passage in split(text, pieces)]
    assert max(sizes) <= 200
    assert min(sizes) >= 110
    assert 140 <= sum(sizes) / len(sizes) <= 160


FENCE = "```python\n" + "\n".join(f"value_{number} = call({number})" for number in range(12)) + "\n```"


def test_a_fence_that_fits_stays_whole() -> None:
    found = passages(f"{sentence(90)}\n{FENCE}\n{sentence(90)}", pieces)
    assert any(plain(FENCE) in passage for passage in found)
    assert max(map(pieces, found)) <= 200


def test_a_fence_too_long_is_cut_at_line_ends() -> None:
    lines = [f"value_{number} = call({number})" for number in range(200)]
    found = passages("```\n" + "\n".join(lines) + "\n```", pieces)
    assert "\n".join(found).split("\n") == lines
    assert max(map(pieces, found)) <= 200


@pytest.mark.parametrize(
    "text", ["a" * 5_000, "Ab3+" * 2_000, "字" * 3_000, "각" * 3_000, "🎉" * 3_000, "é" * 3_000]
)
@pytest.mark.parametrize("count", [pieces, wordpieces()])
def test_text_without_spaces_is_cut_hard(text: str, count: Count) -> None:
    found = split(f"see {text} there", count)
    assert max(map(count, found)) <= 200
    assert max(map(len, found)) <= 1_600
    assert solid("".join(found)) == f"see{text}there"


def test_an_unknown_long_word_does_not_make_a_passage_endless() -> None:
    text = " ".join(["🎉" * 90] * 100)  # one [UNK] each
    assert max(map(len, split(text, wordpieces()))) <= 1_600


WORDS = [
    "Hello there. ",
    "Dr. ",
    "word ",
    "x" * 150,
    "字。",
    "각",
    "\n",
    "```\n",
    "- ",
    "!",
    "a" * 30,
    "é",
    "/+=",
]


def repeated(part: str, times: int) -> str:
    return part * times


PART = st.one_of(
    st.sampled_from(WORDS),
    st.text(max_size=20),
    st.builds(repeated, st.text(min_size=1, max_size=12), st.integers(1, 60)),
)
TEXT = st.lists(PART, max_size=60).map("".join)


@given(TEXT, st.integers(8, 60))
def test_nothing_is_lost_and_the_limit_holds(text: str, limit: int) -> None:
    found = split(text, pieces, target=limit * 3 // 4, limit=limit)
    assert solid("".join(found)) == solid(text)
    assert all(passage == passage.strip() and passage for passage in found)
    assert max(map(pieces, found), default=0) <= limit


@given(TEXT)
@settings(deadline=None)
def test_markdown_with_the_real_tokenizer(markdown: str) -> None:
    found = passages(markdown, wordpieces(), target=30, limit=40)
    assert solid("".join(found)) == solid(plain(markdown))
    assert max(map(wordpieces(), found), default=0) <= 40


PROSE = "I went to the lake with Tam yesterday; we saw 3.5 herons, e.g. two grey ones! Wasn't that fun? "


def test_word_counts_are_those_of_the_tokenizer() -> None:
    counts = WordCounts(wordpieces(), capacity=10)
    for text in [PROSE, PROSE.upper(), "naïve 你好 각 🎉🎉 a_b", "x" * 300, "", PROSE]:
        assert counts(text) == wordpieces()(text)


def test_known_words_are_counted_once() -> None:
    asked: list[str] = []
    counts = WordCounts(lambda word: asked.append(word) or 1)
    assert counts("one two one") == counts("two one two") == 3
    assert asked == ["one", "two"]


MEGABYTE = 1_000_000


@pytest.mark.parametrize("part", [PROSE, "a", "字", "你好世界。", "a.\n", "x. ", "Ab3+", "```\nx = f(1)\n"])
def test_a_megabyte_is_split_while_counting_it_a_few_times(part: str) -> None:
    text = (part * MEGABYTE)[:MEGABYTE]
    counts, handed = WordCounts(wordpieces()), 0

    def count(piece: str) -> int:
        nonlocal handed
        handed += len(piece)
        return counts(piece)

    found = passages(text, count)
    assert handed <= 2 * MEGABYTE
    assert max(map(wordpieces(), found)) <= 200
