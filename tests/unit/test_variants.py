"""Variants of names: where they meet, where they must not, and that nothing breaks the form in which they are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.text.descriptions import Description, affiliation, described, in_conflict
from everlore.text.numerals import is_roman, roman
from everlore.text.variants import ABBREVIATIONS, initials, key, numbers_in, similar_names

MEET = [
    ["Ch35", "ch. 35", "Chapter thirty-five", "CHAPTER 35", "Chapter XXXV", "Ch. 035", "chap 35"],
    ["Capítulo treinta y cinco", "cap. 35", "CAPITULO 35"],
    ["Vol. II", "volume two", "Volume 2", "vol 2"],
    ["Part IV", "pt. 4", "part four"],
    ["No. 7", "nº 7", "#7", "Number seven", "n° 7"],
    ["Dr. Camarata", "Doctor Camarata", "dr camarata"],
    ["St. Mary", "Saint Mary"],
    ["Dept. of Physics", "Department of Physics"],
    ["Acme Corp.", "ACME Corporation"],
    ["Acme, Inc.", "acme incorporated"],
    ["Zoë O'Brien", "ZOE OBRIEN", "zoe o’brien"],
    ["Anna's sister", "ANNA’S SISTER", "Annaʼs sister"],
    ["James' dog", "James's dog"],
    ["Ali's", "Ali"],
    ["The Riverside Clinic", "riverside clinic"],
    ["J.R.R. Tolkien", "J. R. R. Tolkien", "JRR Tolkien"],
    ["U.S.A.", "USA"],
    ["Jean-Luc", "jean luc"],
    ["ciento cinco", "one hundred and five", "105"],
    ["novecientos noventa y nueve", "nine hundred ninety-nine"],
    ["R&D", "R & D", "r and d"],
    ["2nd Street", "Second St."],
    ["Łukasz", "lukasz"],
    ["ali@Camarata.com", "ALI@camarata.COM"],
]  # fmt: skip

APART = [
    ("Chapter 35", "Chapter 36"),
    ("C", "C++"),
    ("C++", "C#"),
    ("SEC", "section"),
    ("no way", "number way"),
    ("Anna's sister", "Anna Sister"),
    ("Anna's sister", "Ben's sister"),
    ("ali@camarata.com", "ali@camarata.org"),
    ("version 2.1", "version 21"),
    ("Once Upon", "11 Upon"),
    ("Malcolm X", "Malcolm 10"),
    ("東京", "京都"),
    ("ガ", "カ"),
]  # fmt: skip


@pytest.mark.parametrize("variants", MEET, ids=lambda v: v[0])
def test_variants_meet(variants: list[str]) -> None:
    assert {key(variant) for variant in variants} == {key(variants[0])}


@pytest.mark.parametrize(("one", "other"), APART)
def test_different_names_stay_apart(one: str, other: str) -> None:
    assert key(one) != key(other)


@given(st.text(max_size=60))
def test_a_key_is_its_own_key_and_never_empty(text: str) -> None:
    found = key(text)
    assert key(found) == found
    assert bool(found) == bool(text.strip())
    assert found == " ".join(found.split())


@given(
    st.lists(
        st.sampled_from(
            ["Ch", "no.", "Anna's", "the", "THE", "St.", "twenty", "one", "hundred", "and", "y", "XIV", "35", "007", "J.", "Ünal",
             "@", "a@b.co", "'s", "C++", "#", "&", "second", "3rd", "_", "-", "U.S.", "dos", "o'neil", "s'"]
        ),
        max_size=7,
    ),
    st.sampled_from([" ", "", "-", ". "]),
)  # fmt: skip
def test_whatever_is_put_together_has_a_stable_key(parts: list[str], joint: str) -> None:
    text = joint.join(parts)
    assert key(key(text)) == key(text)


@given(st.integers(1, 999))
def test_numbers_meet_their_words(number: int) -> None:
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    ones = [
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
    ]
    ones += ["fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    hundreds, rest = divmod(number, 100)
    words = [ones[hundreds - 1], "hundred"] if hundreds else []
    if rest >= 20:
        words.append(tens[rest // 10 - 2])
        rest %= 10
    if rest:
        words.append(ones[rest - 1])
    assert key("chapter " + "-".join(words)) == f"chapter {number}"


@given(st.integers(1, 399))
def test_roman_numerals_are_read(number: int) -> None:
    written, left = "", number
    for value, letters in (
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ):
        written += letters * (left // value)
        left %= value
    assert is_roman(written)
    assert roman(written) == number


def test_abbreviations_can_be_added() -> None:
    assert key("Abt. 3", {**ABBREVIATIONS, "abt": "abteilung"}) == key("Abteilung 3")


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("Ali", "Ali C.", 0.6, 0.8),
        ("Ali", "Ali Camarata", 0.6, 0.8),
        ("Ali C.", "Ali Camarata", 0.8, 0.9),
        ("A. Camarata", "Ali Camarata", 0.8, 0.9),
        ("Dr. Camarata", "Ali Camarata", 0.6, 0.7),
        ("AC", "Ali Camarata", 0.3, 0.5),
        ("ali@camarata.com", "Ali Camarata", 0.9, 1),
        ("ali.camarata@mail.org", "Ali Camarata", 0.9, 1),
        ("acamarata@mail.org", "Ali Camarata", 0.8, 0.9),
        ("ali@mail.org", "Ali Camarata", 0.6, 0.7),
        ("Chapter 3", "Ch. 3", 1, 1),
        ("Ali Baker", "Ali Camarata", 0, 0),
        ("Emma", "Anna", 0, 0),
        ("Chapter 35", "Chapter 36", 0, 0),
        ("Anna", "Anna's sister", 0, 0),
        ("a@b.co", "c@b.co", 0, 0),
    ],
)
def test_how_likely_two_names_are_one(one: str, other: str, least: float, most: float) -> None:
    assert least <= similar_names(one, other) <= most
    assert similar_names(one, other) == similar_names(other, one)


@given(st.text(max_size=20), st.text(max_size=20))
def test_similarity_is_symmetric_and_within_bounds(one: str, other: str) -> None:
    assert 0 <= similar_names(one, other) <= 1
    assert similar_names(one, other) == similar_names(other, one)
    assert similar_names(one, one) == 1


def test_initials_and_numbers() -> None:
    assert initials("Dr. Ali Camarata") == "ac"
    assert numbers_in("Chapter thirty-five of volume 2") == ("35", "2")


@pytest.mark.parametrize(
    ("text", "owner", "kind", "name"),
    [
        ("Anna's sister", "Anna", "sister", None),
        ("Anna’s little sister Emma", "Anna", "sister", "Emma"),
        ("my boss Tom", None, "boss", "Tom"),
        ("mi hermana", None, "sister", None),
        ("the brother of Ben", "Ben", "brother", None),
        ("hermana de Anna", "Anna", "sister", None),
        ("Aric's business partner Ali", "Aric", "business partner", "Ali"),
        ("my mum", None, "mother", None),
        ("James' dog", "James", "dog", None),
    ],
)
def test_descriptions_are_read(text: str, owner: str | None, kind: str, name: str | None) -> None:
    found = described(text)
    assert isinstance(found, Description)
    assert (found.owner, found.kind, found.name) == (owner, kind, name)


@pytest.mark.parametrize(
    "text", ["Anna", "University of Oxford", "Emma from accounting", "Bank of America", ""]
)
def test_names_are_no_descriptions(text: str) -> None:
    assert described(text) is None


def test_affiliations() -> None:
    assert affiliation("Emma from accounting") == ("Emma", "accounting")
    assert affiliation("Maria de Contabilidad") == ("Maria", "contabilidad")
    assert affiliation("Emma") is None


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        (["Anna's sister"], ["Anna's mother"], True),
        (["Anna's sister"], ["Anna's little sister"], False),
        (["Anna's friend"], ["Anna's colleague"], False),
        (["Anna's girlfriend"], ["Anna's wife"], False),
        (["Anna's sister"], ["Ben's wife"], False),
        (["Anna's sister"], ["Emma from accounting"], True),
        (["Emma from marketing"], ["Emma from accounting"], True),
        (["Emma"], ["Emma from accounting"], False),
        (["Anna's mum"], ["la madre de Anna"], False),
        (["Anna's dog"], ["Anna's sister"], True),
    ],
)
def test_what_cannot_be_said_of_one(one: list[str], other: list[str], conflict: bool) -> None:
    assert in_conflict(one, other) is conflict
    assert in_conflict(other, one) is conflict
