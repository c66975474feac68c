"""Ways in which clients send their histories, as their public documents describe them: what each call sends, what is new in it,
and the path at the end.

A turn is written as `u:text` (user), `a:text` (assistant), `s:text` (system), `d:text` (developer); entries of other forms stand
as the client sends them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from everlore.api.workspace import Workspace
from everlore.everlore import Everlore

CONTINUED = "u:This session is being continued from a previous conversation that ran out of context."
ANOTHER = "u:Another language model started to solve this problem and produced a summary: they talked."
ROLES = {"u": "user", "a": "assistant", "s": "system", "d": "developer"}
RECAP = "Here is a summary of our conversation: little."
QUARTER = "Summary of the previous quarter: sales rose."
REMINDER = "u:<system-reminder>Today is "
CLEARED = "[Old tool result content cleared]"
LONG = "I would like to hear everything about the harbour of Lisbon."
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "x9"}


def turn(given: Any) -> dict[str, Any]:
    if not isinstance(given, str):
        return given
    role, _, text = given.partition(":")
    return {"role": ROLES[role], "content": text}


def blocks(given: str, *, cached: bool = False) -> dict[str, Any]:
    """The same with its text as a block, as Anthropic's clients send it; the mark for the prompt cache moves with every call."""
    plain = turn(given)
    part: dict[str, Any] = {"type": "text", "text": plain["content"]}
    return {
        "role": plain["role"],
        "content": [part | ({"cache_control": {"type": "ephemeral"}} if cached else {})],
    }


def call(number: str, arguments: str = '{"path": "a.py"}') -> dict[str, Any]:
    function = {"name": "read", "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": f"call_{number}", "type": "function", "function": function}]}  # fmt: skip


def result(number: str, text: str = "print(1)") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


def tool_use(number: str) -> dict[str, Any]:
    use = {"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"path": "a.py"}}
    return {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "Let me see."}, use]}


def tool_result(number: str, said: str = "print(1)") -> dict[str, Any]:
    return {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": said}]}  # fmt: skip


def merged(*given: str) -> dict[str, Any]:
    """Several turns of a person as the blocks of one."""
    return {"role": "user", "content": [{"type": "text", "text": turn(one)["content"]} for one in given]}


def looked_up(number: int, status: str) -> list[dict[str, Any]]:
    return [
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"id": number}}}]},
        {
            "role": "function",
            "parts": [{"functionResponse": {"name": "find", "response": {"status": status}}}],
        },
    ]


def image(data: str) -> dict[str, Any]:
    return {"role": "user", "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """`calls`: the histories that are sent, one after the other; `new`: how many turns each of them stores; `path`: texts of the
    path in the end (None: of a turn without words); `stored`: how many turns the thread has then."""

    name: str
    calls: Sequence[Sequence[Any]]
    new: Sequence[int]
    path: Sequence[str | None]
    stored: int


TALK = ["u:Hello", "a:Hi!", "u:Where is Faro?", "a:In Portugal.", "u:And Lagos?", "a:There, too."]
WORDS = [one[2:] for one in TALK]
SHAPES = [
    Shape("a client that keeps no state, turn by turn", [TALK[:1], TALK[:3], TALK[:5]], [1, 2, 2], WORDS[:5], 5),
    Shape("the same request sent twice", [TALK[:3], TALK[:3]], [3, 0], WORDS[:3], 3),
    Shape("blanks around a turn differ", [TALK[:2], ["u:Hello ", "a:Hi!\n", TALK[2]]], [2, 1], WORDS[:3], 3),
    Shape("SillyTavern: a swipe", [TALK[:1], TALK[:2], ["u:Hello", "a:Hey you."]], [1, 1, 1], ["Hello", "Hey you."], 3),
    Shape("SillyTavern: swiped back and continued", [TALK[:2], ["u:Hello", "a:Hey."], TALK[:3]],
          [2, 1, 1], WORDS[:3], 4),
    Shape("SillyTavern: the greeting is swiped", [["a:Welcome.", "u:Hi"], ["a:Come in.", "u:Hi"]],
          [2, 2], ["Come in.", "Hi"], 4),
    Shape("SillyTavern: the head is dropped as the context fills", [TALK, [*TALK[3:], "u:And Tavira?"]],
          [6, 1], [*WORDS, "And Tavira?"], 7),
    Shape("SillyTavern: the head is dropped and the system prompt stays",
          [["s:You are Ann.", *TALK], ["s:You are Ann.", *TALK[2:], "u:And Tavira?"]],
          [6, 1], [*WORDS, "And Tavira?"], 7),
    Shape("SillyTavern: a message in the middle is edited in place", [TALK, [*TALK[:2], "u:Where is Rome?", *TALK[3:]]],
          [6, 4], [*WORDS[:2], "Where is Rome?", *WORDS[3:]], 10),
    Shape("SillyTavern: continue, which sends no new turn", [TALK[:4], TALK[:4]], [4, 0], WORDS[:4], 4),
    Shape("SillyTavern: a world info entry comes and goes in the system prompt",
          [["s:You are Ann.", *TALK[:3]], ["s:You are Ann. The harbour is old.", *TALK[:5]]],
          [3, 2], WORDS[:5], 5),
    Shape("Open WebUI: an earlier question is edited", [TALK[:4], ["u:Hello", "a:Hi!", "u:Where is Rome?"]],
          [4, 1], [*WORDS[:2], "Where is Rome?"], 5),
    Shape("Open WebUI: the first question is edited", [TALK[:4], ["u:Good day"]], [4, 1], ["Good day"], 5),
    Shape("Open WebUI: regenerate", [TALK[:4], TALK[:3], [*TALK[:3], "a:In the Algarve."]],
          [4, 0, 1], [*WORDS[:3], "In the Algarve."], 5),
    Shape("Open WebUI: an answer is edited and kept", [TALK[:2], ["u:Hello", "a:Hi there!", TALK[2]]],
          [2, 2], ["Hello", "Hi there!", "Where is Faro?"], 4),
    Shape("LibreChat: a fork that includes the whole branch", [TALK, [*TALK[:4], "u:And Rome?"]],
          [6, 1], [*WORDS[:4], "And Rome?"], 7),
    Shape("LibreChat: back to the first branch", [TALK[:4], [*TALK[:2], "u:Where is Rome?"], TALK],
          [4, 1, 2], WORDS, 7),
    Shape("a reasoning model: thoughts come back, or do not",
          [["u:Hello", "a:<think>Say hi.</think>Hi!"], TALK[:3]], [2, 1], WORDS[:3], 3),
    Shape("tool calls with other ids and other spelling of the arguments",
          [["u:Look", call("1"), result("1")], ["u:Look", call("2", '{"path":"a.py"}'), result("2"), "a:Done."]],
          [3, 1], ["Look", None, None, "Done."], 4),
    Shape("Claude Code: blocks, thoughts, and a mark for the cache that moves",
          [[blocks("u:Read it", cached=True), tool_use("1"), tool_result("1")],
           [blocks("u:Read it"), tool_use("1"), tool_result("1"), blocks("a:Done.")]],
          [3, 1], ["Read it", "Let me see.", None, "Done."], 4),
    Shape("Claude Code: compaction with turns that stay",
          [TALK, [CONTINUED, *TALK[4:], "u:Go on"]],
          [6, 1], [*WORDS, "Go on"], 7),
    Shape("Claude Code: compaction with nothing that stays",
          [TALK, [CONTINUED, "u:Go on"]],
          [6, 1], [*WORDS, "Go on"], 7),
    Shape("Claude Code: a mark for the cache comes later",
          [[blocks("u:Hello"), "a:Hi!"], [blocks("u:Hello", cached=True), "a:Hi!", TALK[2]]],
          [2, 1], WORDS[:3], 3),
    Shape("Codex: items of the responses API, with reasoning between them",
          [[{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}],
           [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi!"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Where is Faro?"}]}]],
          [1, 2], WORDS[:3], 3),
    Shape("Codex: a rollback, and another question", [TALK, [*TALK[:2], "u:Never mind. What is the time?"]],
          [6, 1], [*WORDS[:2], "Never mind. What is the time?"], 7),
    Shape("Codex: compaction by a summary of another model",
          [TALK, [ANOTHER, *TALK[4:], "u:Go on"]],
          [6, 1], [*WORDS, "Go on"], 7),
    Shape("a developer's instructions in front", [["d:Be brief.", *TALK[:2]], ["d:Be very brief.", *TALK[:3]]],
          [2, 1], WORDS[:3], 3),
    Shape("the middle is cut out, head and tail stay", [TALK, [TALK[0], TALK[1], *TALK[4:], "u:Go on"]],
          [6, 1], [*WORDS, "Go on"], 7),
    Shape("an image that is sent again", [[image("aaa"), "a:A cat."], [image("aaa"), "a:A cat.", "u:Sure?"]],
          [2, 1], ["What is this?", "A cat.", "Sure?"], 3),
    Shape("another image under the same question", [[image("aaa"), "a:A cat."], [image("bbb")]],
          [2, 1], ["What is this?"], 3),
    Shape("a single long turn is known by itself", [[*TALK[:2], "u:" + LONG], ["u:" + LONG, "a:It is old."]],
          [3, 1], [*WORDS[:2], LONG, "It is old."], 4),
    Shape("a system prompt with the time in it, before a short beginning",
          [["s:It is 1.", "u:hi"], ["s:It is 2.", "u:hi", "a:Hello.", "u:How are you?"]], [1, 2],
          ["hi", "Hello.", "How are you?"], 3),
    Shape("SillyTavern: an author's note that moves with the end",
          [[*TALK[:2], "s:Be kind.", TALK[2]], [*TALK[:4], "s:Be kind.", TALK[4]]], [3, 2], WORDS[:5], 5),
    Shape("the head is dropped, and what is left begins with words that were said before",
          [["u:hello there", "a:hi", "u:ok", "a:sure", "u:ok", "a:sure"], ["u:ok", "a:sure", "u:ok", "a:sure", "u:new"]],
          [6, 1], ["hello there", "hi", "ok", "sure", "ok", "sure", "new"], 7),
    Shape("the head is dropped, and what is left begins as the thread does",
          [["u:hi", "a:one", "u:q", "a:two", "u:hi", "a:three"], ["u:hi", "a:three", "u:new"]],
          [6, 1], ["hi", "one", "q", "two", "hi", "three", "new"], 7),
    Shape("an edit that drops some of what followed it",
          [TALK, [*TALK[:2], "u:My address is Elm Street 5.", *TALK[5:], "u:Go on"]],
          [6, 3], [*WORDS[:2], "My address is Elm Street 5.", WORDS[5], "Go on"], 9),
    Shape("an answer, and a question, that read like summaries",
          [["u:What did we say?", "a:" + RECAP, "u:" + QUARTER],
           ["u:What did we say?", "a:" + RECAP, "u:" + QUARTER,
            "a:Good."]],
          [3, 1], ["What did we say?", RECAP,
                   QUARTER, "Good."], 4),
    Shape("Gemini: calls of a tool that differ in an id that is given, and in what comes back",
          [["u:Look", *looked_up(5, "failed")], ["u:Look", *looked_up(5, "failed"), *looked_up(6, "ok")]],
          [3, 2], ["Look", None, None, None, None], 5),
    Shape("a function call of the older form",
          [["u:Look", {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}]],
          [2], ["Look", None], 2),
    Shape("the same words again and again are turns of their own", [["u:go on"] * 3, ["u:go on"] * 5],
          [3, 2], ["go on"] * 5, 5),
    Shape("Claude Code: nothing stays but the summary, and the question behind it is sent again",
          [TALK, [CONTINUED, "u:Go on"], [CONTINUED, "u:Go on"], [CONTINUED, "u:Go on", "a:Well.", "u:And?"]],
          [6, 1, 0, 2], [*WORDS, "Go on", "Well.", "And?"], 9),
    Shape("Claude Code: a thread that begins with a summary",
          [[CONTINUED, "u:Go on"], [CONTINUED, "u:Go on", "a:Well."]], [2, 1], [CONTINUED[2:], "Go on", "Well."], 3),
    Shape("Claude Code: the summary and a question in one turn",
          [TALK, [merged(CONTINUED, "u:I moved to Elm Street 5.")],
           [merged(CONTINUED, "u:I moved to Elm Street 5."), "a:Noted."]],
          [6, 1, 1], [*WORDS, "I moved to Elm Street 5.", "Noted."], 8),
    Shape("Claude Code: a reminder in front of the first turn changes, and stands in front of the summary",
          [[merged(REMINDER + "Monday</system-reminder>", TALK[0]), *TALK[1:]],
           [merged(REMINDER + "Tuesday</system-reminder>", TALK[0]), *TALK[1:], "u:Go on"],
           [merged(REMINDER + "Tuesday</system-reminder>", CONTINUED), "u:Go on", "a:Well."]],
          [6, 1, 1], [*WORDS, "Go on", "Well."], 8),
    Shape("Claude Code: what tools answered long ago is cleared",
          [[TALK[0], tool_use("1"), tool_result("1"), "a:It prints."],
           [TALK[0], tool_use("1"), tool_result("1", CLEARED), "a:It prints.", "u:Go on"]],
          [4, 1], [WORDS[0], "Let me see.", None, "It prints.", "Go on"], 5),
    Shape("a picture that is not sent again", [[image("aaa"), "a:A cat."], ["u:What is this?", "a:A cat.", "u:Sure?"]],
          [2, 1], ["What is this?", "A cat.", "Sure?"], 3),
    Shape("Codex: what was asked is kept in front of the summary",
          [TALK, [TALK[0], TALK[2], TALK[4], ANOTHER, "u:Go on"], [TALK[0], TALK[2], TALK[4], ANOTHER, "u:Go on", "a:Well."]],
          [6, 1, 1], [*WORDS, "Go on", "Well."], 8),
    Shape("a long request is sent again after going back",
          [["u:hello", "a:hi", "u:Try it", "a:Tried.", "u:" + LONG, "a:failed"], ["u:hello", "a:hi", "u:" + LONG],
           ["u:hello", "a:hi", "u:" + LONG, "a:works"]],
          [6, 1, 1], ["hello", "hi", LONG, "works"], 8),
    Shape("a branch that is not the path is summarised",
          [TALK, [*TALK[:2], "u:b2", "a:b3", "u:b4", "a:b5"], TALK, [*TALK[:2], "u:b2", CONTINUED, "u:b4", "a:b5", "u:Go on"]],
          [6, 4, 0, 1], [*WORDS[:2], "b2", "b3", "b4", "b5", "Go on"], 11),
    Shape("a question is edited into one that reads like a summary",
          [TALK[:4], [*TALK[:2], "u:Summary of our conversation, please."],
           [*TALK[:2], "u:Summary of our conversation, please.", "a:Little."]],
          [4, 1, 1], [*WORDS[:2], "Summary of our conversation, please.", "Little."], 6),
    Shape("most of what is left without the head begins as the thread does",
          [["u:go on", "a:ok", "u:go on", "a:Faro", "u:x", "a:y", "u:go on", "a:ok", "u:go on", "a:Rome"],
           ["u:go on", "a:ok", "u:go on", "a:Rome", "u:new"]],
          [10, 1], ["go on", "ok", "go on", "Faro", "x", "y", "go on", "ok", "go on", "Rome", "new"], 11),
    Shape("Gemini: a model's turns, in parts",
          [[{"role": "user", "parts": [{"text": "Hello"}]}, {"role": "model", "parts": [{"text": "Hi!"}]}], TALK[:3]],
          [2, 1], WORDS[:3], 3),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_what_a_client_sends_again_is_stored_once(lore: Everlore, shape: Shape) -> None:
    workspace: Workspace = await lore.workspace("alice", create=True)
    new = [(await workspace.reconcile([turn(one) for one in history])).stored for history in shape.calls]
    assert new == list(shape.new)
    assert [one.text or None for one in await workspace.messages()] == list(shape.path)
    (thread,) = await workspace.threads()
    assert thread.messages + thread.off_path == shape.stored


async def test_a_helper_of_a_client_has_a_thread_of_its_own(lore: Everlore) -> None:
    workspace: Workspace = await lore.workspace("alice", create=True)
    await workspace.reconcile([turn(one) for one in TALK], thread="work")
    await workspace.reconcile([turn("s:You look for files."), turn("u:Find it")], thread="work helper")
    assert {one.name: one.messages for one in await workspace.threads()} == {"work": 6, "work helper": 1}
    (asked,) = await workspace.messages("work helper")
    assert asked.system_prompt == "You look for files."
