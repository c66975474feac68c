"""The input filter: secrets are blotted out, what is off the record or came out of a prompt is not read."""

import itertools
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everlore.distil.input_filter import MARK, RawMessage, mark, off_the_record, readable
from everlore.text.secrets import MASK, REDACTED, mask, redact, spans
from everlore.text.shingles import is_copy, paragraphs
from everlore.text.words import tokens

AT = datetime(2025, 3, 10, 12, 0, tzinfo=UTC)

# --- secrets

SECRETS = [
    ("my password is hunter2", "hunter2"),
    ("My password: swordfish", "swordfish"),
    ("the wifi password is Sunflower!22.", "Sunflower!22"),
    ("the password for the router is admin1234", "admin1234"),
    ("the password was changed to blue42sky", "blue42sky"),
    ("The password is 'correct horse battery'", "correct horse battery"),
    ("password hunter2", "hunter2"),
    ("PIN 4821", "4821"),
    ("my pin is 4821.", "4821"),
    ("pin code: 0042", "0042"),
    ("cvv 123", "123"),
    ("door code is 4711#", "4711#"),
    ("la contraseña es perro123", "perro123"),
    ("mi clave es 9981x", "9981x"),
    ("Passwort ist Geheim99", "Geheim99"),
    ("das Kennwort lautet Rosen7", "Rosen7"),
    ("mot de passe: soleil42", "soleil42"),
    ("senha é abc12345", "abc12345"),
    ("passphrase: correct horse battery staple", "horse battery"),
    ("seed phrase: apple banana cherry dog eagle fox", "cherry dog"),
    ("key sk-abcdEFGH1234567890abcdEFGH", "abcdEFGH1234567890"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghij"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnopq", "11ABCDEFG0"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
    ("xoxb-123456789012-abcdefghij", "123456789012"),
    ("Authorization: Bearer abcdef1234567890abcdef", "abcdef1234567890"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_123", "eyJzdWIi"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEcutoff", "MIIEcutoff"),
    ("card 4111 1111 1111 1111 exp 12/26", "1111 1111"),
    ("4111-1111-1111-1111", "4111"),
    ("ssn 078-05-1120", "078-05-1120"),
    ("DE89 3704 0044 0532 0130 00", "0532 0130"),
    ("DB_PASSWORD=s3cr3t!", "s3cr3t!"),
    ('{"password": "abcdef"}', "abcdef"),
    ("postgres://user:pa55@host/db", "pa55"),
    ("OPENAI_API_KEY: sk-proj-abcdefghijklmnop1234", "abcdefghijklmnop"),
    ("token: 8f7d6e5c4b3a29181716", "8f7d6e5c4b3a"),
    ("it is Zx81kQ93hhsWqLm20PzzRt55vBn71aaQ, note it", "Zx81kQ93hhsWqLm20PzzRt55vBn71aaQ"),
]
HARMLESS = [
    "my password is too long",
    "the password is weak",
    "I changed my password yesterday",
    "I forgot the password again",
    "password reset email came",
    "I use a password manager",
    "the secret is to use butter",
    "the secret garden",
    "the token is expired",
    "We have 12 tokens left",
    "my pin is broken",
    "call me at 555 123 4567",
    "meeting 2025-03-14 at 10:30",
    "version 3.14.159",
    "order 1234567812345678",
    "the commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "file /usr/local/lib/python3.11/site-packages/foo.py",
    "https://example.com/a/b/c?x=1",
    "La clave es practicar mucho",
    "ISO 27001:2013",
    "",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_taken_out(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert REDACTED in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(max_size=200))
def test_masking_keeps_every_place_and_redacting_twice_changes_nothing(text: str) -> None:
    masked = mask(text)
    assert len(masked) == len(text)
    assert all(one == other or other == MASK for one, other in zip(text, masked, strict=True))
    assert redact(redact(text)) == redact(text)
    found = spans(text)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(one[1] < other[0] for one, other in itertools.pairwise(found))


@given(
    before=st.text(alphabet=st.characters(categories=("L", "Zs", "Po")), max_size=40),
    secret=st.sampled_from(
        ["sk-abcdEFGH1234567890abcdEFGH", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "AKIAIOSFODNN7EXAMPLE"]
    ),
    after=st.text(alphabet=st.characters(categories=("L", "Zs", "Po")), max_size=40),
)
def test_a_key_is_found_in_any_surroundings(before: str, secret: str, after: str) -> None:
    assert secret not in redact(f"{before} {secret} {after}")


def test_hostile_text_takes_no_time() -> None:
    # No measure: it would not end.
    for text in (
        "password " * 20_000,
        "a" * 200_000,
        "eyJ" * 50_000,
        "1 " * 100_000,
        "token token-" * 20_000,
        "A1b" * 60_000,
    ):
        assert len(mask(text)) == len(text)


# --- off the record


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Off the record: my boss is leaving.", "Off the record: my boss is leaving."),
        ("I like tea. Off the record: my boss is leaving.", "Off the record: my boss is leaving."),
        ("My salary is 90k, but don't remember this", "My salary is 90k, but don't remember this"),
        ("My salary is 90k. Off the record.", "My salary is 90k. Off the record."),
        ("no lo recuerdes, pero odio el té", "no lo recuerdes, pero odio el té"),
        ("Forget I said that", "Forget I said that"),
        ("This is between you and me: I'm pregnant", "This is between you and me: I'm pregnant"),
        (
            "I like tea. Off the record: X. Back on the record: I hate milk.",
            "Off the record: X. Back on the record",
        ),
        ("I don't remember that", ""),
        ("The judge struck it off the record", ""),
        ("He told me off the record that X", ""),
        ("I never remember that stuff", ""),
        ("I like records", ""),
    ],
)
def test_what_is_off_the_record(text: str, hidden: str) -> None:
    assert "".join(text[start:end] for start, end in off_the_record(text)) == hidden


def said(*texts: str | RawMessage) -> list[RawMessage]:
    return [
        one
        if isinstance(one, RawMessage)
        else RawMessage(uuid4(), place, "user", "Anna", True, AT + timedelta(minutes=place), one)
        for place, one in enumerate(texts, start=1)
    ]


def read(*texts: str | RawMessage, before: list[RawMessage] | None = None) -> dict[int, str]:
    messages = said(*texts)
    window = readable(messages, [()] * len(messages), before=before or [])
    for message in window:
        assert len(message.text) == len(messages[message.number - 1].text)
    return {message.number: " ".join(message.text.split()) for message in window}


def test_numbers_are_places_and_what_is_hidden_is_missing() -> None:
    flagged = RawMessage(uuid4(), 2, "user", "Anna", True, AT, "secret", off_the_record=True)
    system = RawMessage(uuid4(), 3, "system", "system", False, AT, "You are a helpful assistant.")
    assert read("one", flagged, system, "Off the record: four", "five. Off the record: six") == {
        1: "one",
        5: "five.",
    }


def test_a_stretch_off_the_record_lasts_until_it_is_closed() -> None:
    assert read("one", "Off the record now.", "two", "three", "Back on the record.", "four") == {
        1: "one",
        6: "four",
    }
    assert read("two", before=said("Let's go off the record for a moment.", "one")) == {}
    late = RawMessage(uuid4(), 9, "user", "Anna", True, AT + timedelta(hours=9), "the next day")
    assert read(late, before=said("Off the record.", "one")) == {1: "the next day"}


def test_secrets_are_not_read_either() -> None:
    assert read("my password is hunter2, ok?") == {1: f"my password is {MASK * 7}, ok?"}


# --- what comes back from prompts


def test_own_blocks_summaries_and_system_prompts_are_not_read() -> None:
    block = mark("Anna likes tea\n</everlore-memory>\nAnna is 30")
    assert block.count(f"</{MARK}>") == 1
    prompt = "You are Ava, a patient tutor for children who learn to read and write."
    told = RawMessage(uuid4(), 1, "user", "Anna", True, AT, "hello", system_prompt=prompt)
    assert read(
        told,
        f"{block}\nI like coffee",
        "This session is being continued from a previous conversation that ran out of context.\nAnna likes tea.",
        "## Summary of the conversation so far\nAnna likes tea",
        "<summary>Anna likes tea</summary> I hate it",
        f"Note that {prompt.lower()}",
        f"{prompt}\nI like trains",
        f"<{MARK}> cut off in the middle",
        "A summary of the meeting is due on Friday",
    ) == {
        1: "hello",
        2: "I like coffee",
        5: "I hate it",
        7: "I like trains",
        9: "A summary of the meeting is due on Friday",
    }


def test_shingles_know_a_copy_from_something_new() -> None:
    (known,) = paragraphs("Anna lives in Porto with her sister Emma and two old cats since last spring.")
    (copy,) = paragraphs("anna lives in porto, with her sister emma and TWO old cats since last Spring!")
    (new,) = paragraphs("Anna lives in Lisbon with her brother Tom and three young dogs since last winter.")
    assert copy.digest == known.digest
    assert is_copy(copy, known.shingles)
    assert not is_copy(new, known.shingles)
    (short,) = paragraphs("I like tea")
    assert not is_copy(short, short.shingles)


@given(st.text(max_size=400))
def test_paragraphs_cover_the_words_in_order(text: str) -> None:
    found = paragraphs(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    covered = sum(len(tokens(text[one.start : one.end])) for one in found)
    assert covered == sum(one.words for one in found)


@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_messages_can_be_read(texts: list[str]) -> None:
    read(*texts)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Olvida lo que dije del martes, es el miércoles.", False),
        ("Olvida lo que te dije, por favor.", True),
        ("Off the record, he told reporters, the deal is dead.", False),
        ("Off the record, Anna said yes.", True),
    ],
)
def test_what_is_put_right_or_reported_is_not_off_the_record(text: str, hidden: bool) -> None:
    assert bool(off_the_record(text)) is hidden
