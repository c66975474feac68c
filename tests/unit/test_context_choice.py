"""What goes into a context, chosen by worth per token; how texts are made inert; how many tokens they are taken for."""

from collections.abc import Hashable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.context.choice import Offer, choose
from everlore.models.tokenizer_file import counter_of
from everlore.text.prompt_marks import CLOSING, MARK, inert
from everlore.text.token_estimate import estimated_tokens

# What each heading costs, whichever item it is opened for.
COSTS: dict[Hashable, int] = {"monday": 3, "tuesday": 5, None: 0}
OFFERS = st.lists(
    st.builds(
        Offer,
        slot=st.sampled_from(["facts", "memories", "messages"]),
        value=st.floats(0, 1),
        tokens=st.integers(0, 60),
        first=st.booleans(),
        heading=st.sampled_from(["monday", "tuesday", None]),
    ).map(lambda one: replace(one, heading_tokens=COSTS[one.heading])),
    max_size=30,
)
MOST = st.dictionaries(st.sampled_from(["facts", "memories", "messages"]), st.integers(0, 10))


@given(OFFERS, st.integers(0, 300), MOST)
def test_what_is_chosen_fits_and_the_rest_says_why(
    offers: list[Offer], budget: int, most: dict[str, int]
) -> None:
    choice = choose(offers, budget, most)
    assert sorted([*choice.chosen, *choice.left_out]) == list(range(len(offers)))
    chosen = [offers[place] for place in choice.chosen]
    headings = sum(COSTS[heading] for heading in {one.heading for one in chosen})
    assert sum(one.tokens for one in chosen) + headings <= budget
    for slot in ("facts", "memories", "messages"):
        assert sum(one.slot == slot for one in chosen) <= most.get(slot, 0)
    if not chosen:
        assert all(most.get(one.slot, 0) == 0 or one.tokens + one.heading_tokens > budget for one in offers)


@given(OFFERS, MOST)
def test_with_room_for_all_only_slots_are_a_limit(offers: list[Offer], most: dict[str, int]) -> None:
    choice = choose(offers, 10_000, most)
    assert set(choice.left_out.values()) <= {"slot is full"}


def test_the_densest_go_in_and_what_is_first_before_them() -> None:
    offers = [
        Offer("messages", 1.0, 50),
        Offer("messages", 0.9, 10),
        Offer("messages", 0.1, 10),
        Offer("changes", 0.0, 15, first=True),
    ]
    choice = choose(offers, 40, {"messages": 9, "changes": 9})
    assert choice.chosen == (1, 2, 3)
    assert choice.left_out == {0: "over the budget"}


TEXTS = st.text(
    st.sampled_from(list("</>|! \n\r\u2028\u200b＜‹〈«⁄／everlo-mуеѵ`[]{}")) | st.characters(codec="utf-8"),
    max_size=80,
)


@given(TEXTS)
def test_an_inert_text_holds_no_tag_and_begins_no_line(text: str) -> None:
    made = inert(text)
    assert "</" not in made
    assert f"<{MARK}" not in made
    assert "<|" not in made
    assert all(line.startswith("| ") or line == "|" for line in made.splitlines()[1:])
    assert inert("x" + CLOSING + text).startswith("x&lt;/everlore")


@given(TEXTS, TEXTS)
def test_ordinary_text_stays_as_it_is(one: str, other: str) -> None:
    for plain in ("I said: 3 < 5, and «nothing» more.", "a <- b; x<5; i < n", "《红楼梦》", "„so‟ ‹leise›"):
        assert inert(plain) == plain


LANGUAGES = {
    "English": "My sister Emma moved to Lisbon in May, and she's looking for a flat near the river.",
    "German": "Meine Schwester Emma ist im Mai nach Lissabon gezogen und sucht eine Wohnungsbesichtigung.",
    "Spanish": "Mi hermana se mudó a Lisboa en mayo y está buscando un piso cerca del río.",
    "Russian": "Моя сестра переехала в Лиссабон в мае и ищет квартиру у реки.",
    "Chinese": "我妹妹五月搬到了里斯本，正在找河边的公寓。",
    "Arabic": "انتقلت أختي إلى لشبونة في مايو وتبحث عن شقة.",
    "code": "def f(x: int) -> int:\n    return x ** 2 + 0x1F  # αβγ\n",
    "emoji": "Happy birthday 🎂🎉👩‍👩‍👧‍👦!",
    "hash": "commit 998ae24f0c7e4d0b8f6a41aa and xKq9ZtLmNbVcQwErTy==",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_estimate_is_not_exceeded(language: str) -> None:
    """By the tokenizer that comes along. (Its unknown signs are one token each, so other scripts are held against it loosely.)"""
    count = counter_of(Path(__file__).parents[2] / "src/everlore/models/minilm/tokenizer.json")
    text = LANGUAGES[language]
    assert count(text) <= estimated_tokens(text) <= max(len(text.encode()), 3 * count(text))


@given(st.text(max_size=60), st.text(max_size=60))
def test_an_estimate_grows_with_the_text(one: str, other: str) -> None:
    sizes = [estimated_tokens(text) for text in (one, f"{one}\n", f"{one}\n{other}")]
    assert all(small <= large for small, large in pairwise(sizes))
    assert bool(one.strip(" ")) <= (sizes[0] > 0)
