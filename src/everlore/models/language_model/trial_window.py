"""The conversation that a model is tried with: a few plain things in messages that are long for a chat, behind small talk."""

from datetime import UTC, datetime, timedelta
from typing import Final

from everlore.models.language_model.window import CHARACTERS_A_TOKEN, Sizes
from everlore.ports.analyst import Window, WindowMessage

_AT: Final = datetime(2025, 6, 14, 12, 0, tzinfo=UTC)
_PERSON: Final = "Nora"
_SAID: Final = (
    (_PERSON, "Guess what, I moved to Bergen in March, into a flat above a bakery."),
    ("assistant", "Bergen! How is it to live above a bakery?"),
    (_PERSON, "Loud at five in the morning. My brother Jonas carried the piano up four floors with me."),
    ("assistant", "That is a kind brother."),
    (_PERSON, "He is. I started at Havforskningsinstituttet in April, as a marine biologist."),
    ("assistant", "What are you working on there?"),
    (_PERSON, "Cod larvae. And I'm allergic to shellfish, so I never work in the prawn lab."),
    ("assistant", "Sensible."),
    (_PERSON, "I've decided to learn Norwegian sign language, since my neighbour Ingrid is deaf."),
    (_PERSON, "And next year I want to cycle from Bergen to Trondheim with Jonas."),
)
_SMALL_TALK: Final = (
    "It has been raining here since the morning, and everybody on the tram looked as if they had swum to the stop.",
    "I had soup for lunch again, the one with too much pepper in it, and there is a whole pot of it left for tomorrow.",
    "The neighbours paint their fence, one board a day, and will be done at about the time of the first snow.",
    "Somebody left a single red glove on the railing in front of the house, and nobody has taken it home.",
)
# Characters of a message: with ten of them a question to a small model is as long as they get.
_LONG: Final = 440


def trial_window(sizes: Sizes) -> Window:
    """Ten messages that say six plain things, and what was said before them."""
    messages = tuple(
        _message(n, by, f"{said} {_small_talk(n, _LONG - len(said))}"[:_LONG])
        for n, (by, said) in enumerate(_SAID, start=1)
    )
    most = sizes.context_messages
    each = sizes.context_tokens * CHARACTERS_A_TOKEN // max(most, 1)
    earlier = tuple(_message(n - most, _PERSON, _small_talk(n, each)) for n in range(most))
    return Window(messages, earlier)


def _message(n: int, by: str, said: str) -> WindowMessage:
    role = "user" if by == _PERSON else "assistant"
    return WindowMessage(max(n, 1), role, by, _AT + timedelta(minutes=n), said)


def _small_talk(n: int, characters: int) -> str:
    """Other words each time, at least as long."""
    pieces = 1 + characters // len(_SMALL_TALK[-1])
    return " ".join(_SMALL_TALK[(n + piece) % len(_SMALL_TALK)] for piece in range(pieces))
