"""How a window is shown to the model: as lines of JSON, so that nothing that was said can look like anything but data."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from everlore.models.language_model.prompts import Prompts
from everlore.ports.analyst import Window, WindowMessage

CHARACTERS_A_TOKEN = 4
# Of what must not be too much: small models cut words into more pieces than that, and dense scripts into characters.
CHARACTERS_A_TOKEN_AT_LEAST = 3
_DENSE = 0x2E80
# What a small model is shown of what was said before, for whom "she" means: to read it takes most of its time.
_FEW = 6
# Characters of the headings of a window, of what stands around a message, and of a message that are shown at least.
_HEADINGS = 200
_AROUND = 60
_LEAST = 120
NONE = "(none)"

# Whose words are read: instructions of a system prompt and what tools put out are nobody's.
_READ = frozenset({"user", "assistant"})
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")  # strftime would speak the machine's language
# Line breaks of Unicode that JSON leaves as they are.
_BREAKS = {place: f"\\u{place:04x}" for place in (0x85, 0x2028, 0x2029)}
_MOST_NAMES = 100
_MOST_KNOWN = 1000
_MOST_CAPTIONS = 5
_CAPTION = 300


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is shown. `message_characters`: what is longer is cut in the middle. `bare`: of each message only who says what,
    and a number only where a person says it: dates and roles are half of the tokens of a chat."""

    context_messages: int = 75
    context_tokens: int = 3000
    message_characters: int = 6000
    bare: bool = False

    def within(
        self, request_tokens: int | None, instructions: str, messages: Sequence[WindowMessage]
    ) -> "Sizes":
        """So much that a request comes to that many tokens at most: messages first, each of them as long as the others, then what
        was said before."""
        if request_tokens is None:
            return self
        said = "".join(one.text for one in messages)
        dense = sum(ord(one) >= _DENSE for one in said)
        a_token = CHARACTERS_A_TOKEN_AT_LEAST - 2 * dense / max(len(said), 1)
        room = (
            int(request_tokens * a_token - len(instructions) * a_token / CHARACTERS_A_TOKEN_AT_LEAST)
            - _HEADINGS
        )
        most = min(self.message_characters, max(_LEAST, room // len(messages) - _AROUND))
        few = replace(
            self, message_characters=most, bare=True, context_messages=min(self.context_messages, _FEW)
        )
        room -= len(_lines(_numbered(one, few) for one in messages))
        return replace(few, context_tokens=min(self.context_tokens, max(0, room) // CHARACTERS_A_TOKEN))


def messages_read(window: Window) -> tuple[WindowMessage, ...]:
    """The messages of a window that a model is shown and may name as sources; none where there is not a word in them."""
    read = tuple(one for one in window.messages if one.role in _READ and one.text.strip())
    return read if any(map(has_words, (one.text for one in read))) else ()


def has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def shown(window: Window, messages: Sequence[WindowMessage], sizes: Sizes, prompts: Prompts) -> str:
    """The data that the instructions speak of."""
    return prompts.window(
        messages=_lines(_numbered(one, sizes) for one in messages),
        earlier=_lines(_earlier(window.earlier, sizes)),
        known=_lines(
            {"n": one.number, "type": one.type, "since": f"{one.valid_from:%Y-%m-%d}", "content": cut(one.content, _MOST_KNOWN)}
            for one in window.known
        ),
        entities=_listed(window.entities[:_MOST_NAMES]),
        taxonomy=_listed(window.taxonomy[:_MOST_NAMES]),
        first=str(messages[0].number),
        last=str(messages[-1].number),
    )  # fmt: skip


def cut(text: str, most: int) -> str:
    """What is too long loses its middle, and says so: beginning and end tell most."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[-half:]}"


def _earlier(earlier: Sequence[WindowMessage], sizes: Sizes) -> list[dict[str, object]]:
    """The latest of what was said before that fit into the budget, in order."""
    if sizes.context_messages == 0:
        return []
    left = sizes.context_tokens * CHARACTERS_A_TOKEN
    lines: list[dict[str, object]] = []
    for one in reversed([one for one in earlier if one.role in _READ][-sizes.context_messages :]):
        line = _said(one, sizes.message_characters // 4, bare=sizes.bare)
        left -= len(_line(line))
        if left < 0:
            break
        lines.append(line)
    return lines[::-1]


def _numbered(message: WindowMessage, sizes: Sizes) -> dict[str, object]:
    said = _said(message, sizes.message_characters, bare=sizes.bare)
    return said if sizes.bare and message.role != "user" else {"n": message.number, **said}


def _said(message: WindowMessage, most: int, *, bare: bool) -> dict[str, object]:
    by, said = cut(message.speaker, _CAPTION), cut(message.text, most)
    line: dict[str, object] = (
        {"by": by, "said": said}
        if bare
        else {
            "at": f"{_DAYS[message.at.weekday()]} {message.at:%Y-%m-%d %H:%M}",
            "by": by,
            "role": message.role,
            "said": said,
        }
    )
    if message.captions:
        line["shares"] = [cut(caption, _CAPTION) for caption in message.captions[:_MOST_CAPTIONS]]
    return line


def _lines(objects: Iterable[dict[str, object]]) -> str:
    return "\n".join(map(_line, objects)) or NONE


def _line(one: dict[str, object]) -> str:
    return json.dumps(one, ensure_ascii=False).translate(_BREAKS)


def _listed(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False) if names else NONE
