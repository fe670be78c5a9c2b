"""An event as one line of text: its kind, a summary, an icon and a colour role. Pure, no Qt.

The kinds are those of the event stream. Each has a word and an icon, so that colour is never the only cue.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.values import preview, visible
from runtime.events.credentials import hide
from runtime.events.kinds import Kind, asks_a_person, kind_of, node_path, text_of, text_of_content, tokens_of
from runtime.events.marks import (
    CALLED_WITHOUT_RESULT,
    CONFIRMATION_CALL,
    CREDENTIAL_CALL,
    INPUT_CALL,
    NOT_CAPTURED,
    REQUEST_CALLS,
    TRANSFER_CALL,
)

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events import Event

__all__ = [
    "ICONS",
    "Kind",
    "Presentation",
    "describe",
    "failure_of",
    "is_failure",
    "result_title",
    "short_id",
    "signature",
    "text_of",
    "tokens_of",
]

ICONS: dict[Kind, str] = {
    "user input": "message",
    "answer": "comment",
    "streaming": "comment-dots",
    "thought": "lightbulb",
    "tool call": "wrench",
    "tool result": "reply",
    "state change": "sliders",
    "transfer": "right-left",
    "escalate": "arrow-up-from-bracket",
    "checkpoint": "flag",
    "end of agent": "flag-checkered",
    "error": "triangle-exclamation",
    "waiting": "hand",
    "rewind": "clock-rotate-left",
    "compaction": "compress",
    "code": "code",
    "output": "right-from-bracket",
    "empty": "circle",
}

RAN_AHEAD = "Ran ahead: committed while the agent was held before it."

SUMMARY_LIMIT = 300  # characters; more than the widest window shows on one line


@dataclass(frozen=True, slots=True)
class Presentation:
    """An event's row in the stream.

    Attributes:
        kind: one of `Kind`.
        summary: one line, control characters made visible, at most about `SUMMARY_LIMIT` characters.
        icon: Font Awesome name (fa6s, without prefix).
        role: colour of the summary: `text`, `dim`, `warn`, `bad` or `ok`.
    """

    kind: Kind
    summary: str
    icon: str
    role: str


def is_model_answer(event: Event) -> bool:
    """Return whether an event is an answer of a model, as far as the event alone tells: a callback's text looks like one."""
    calls = event.get_function_calls()
    if event.author == "user" or event.get_function_responses() or (calls and all(call.name in REQUEST_CALLS for call in calls)):
        return False
    return event.usage_metadata is not None or bool(event.content and event.content.role == "model" and event.content.parts)


def describe(event: Event) -> Presentation:
    """Return an event's kind, one-line summary, icon and colour role.

    Args:
        event: committed or partial.
    """
    kind = kind_of(event)
    if kind == "error":
        return _present(kind, _error_text(event), "bad")
    if kind == "rewind":
        target = short_id(event.actions.rewind_before_invocation_id or "")
        return _present(kind, f"rewind: invocation {target} and all later ones taken back", "warn")
    if event.actions.compaction:
        return _present(kind, "summary of earlier events: " + text_of_content(event.actions.compaction.compacted_content), "dim")
    calls, responses = event.get_function_calls(), event.get_function_responses()
    if calls:
        return _calls(kind, event, calls)
    if responses:
        return _responses(kind, event, responses)
    return _said(kind, event) or _acted(kind, event)


def writer_name(event: Event) -> str:
    """Return the writer of the event's changes: the tool for a tool's result, else the author."""
    tools = list(dict.fromkeys(response.name or "?" for response in event.get_function_responses()))
    name = tools[0] if len(tools) == 1 and event.author != "user" else event.author
    return visible(name[:80])


def short_id(identifier: str) -> str:
    """Return a readable short form of an id: a prefix such as `e-` and the first eight digits of a uuid; others up to 16 characters."""
    head, dash, tail = identifier.partition("-")
    if dash and len(head) <= 3 and len(tail) >= 32:
        return f"{head}-{visible(tail[:8])}"
    if len(identifier) == 36 and identifier.count("-") == 4:
        return visible(head)
    return visible(identifier if len(identifier) <= 16 else identifier[:15] + "…")


def _present(kind: Kind, summary: str, role: str = "text", icon: str | None = None) -> Presentation:
    cut = summary if len(summary) <= SUMMARY_LIMIT else summary[:SUMMARY_LIMIT] + "…"
    return Presentation(kind, visible(cut), icon or ICONS[kind], role)


def _joined(separator: str, texts: Iterable[str]) -> str:
    """Join texts until the summary is full: an event may have ten thousands of calls."""
    kept, left = [], SUMMARY_LIMIT
    for text in texts:
        kept.append(text)
        left -= len(text)
        if left < 0:
            break
    return separator.join(kept)


def _error_text(event: Event) -> str:
    return ": ".join(part for part in (event.error_code, event.error_message) if part)


def _calls(kind: Kind, event: Event, calls: list[types.FunctionCall]) -> Presentation:
    if kind == "transfer":
        return _present(kind, f"transfer → {_joined(', ', (str((call.args or {}).get('agent_name', '?')) for call in calls))}")
    if kind == "waiting":
        return _present(kind, _joined("   ‖   ", map(_request, calls)), "warn", _REQUEST_ICONS[calls[0].name or ""])
    later = event.long_running_tool_ids or ()
    texts = (_call(call) + (" · answers later" if call.id in later else "") for call in calls)
    said = text_of(event).strip()
    icon = "hourglass-half" if any(call.id in later for call in calls) else None
    return _present(kind, _joined("   ‖   ", texts) + (f"   ·   {said}" if said else ""), icon=icon)


_REQUEST_ICONS = {CONFIRMATION_CALL: "hand", CREDENTIAL_CALL: "key", INPUT_CALL: "keyboard"}


def _call(call: types.FunctionCall) -> str:
    return f"call {signature(call.name, call.args)}"


def signature(name: str | None, args: dict[str, Any] | None) -> str:
    """Return a call in the form of code, shortened: `find_product(name="A4 paper", qty=40)`."""
    pieces, left = [], SUMMARY_LIMIT
    for key, value in (args or {}).items():
        if left <= 0:
            pieces.append("…")
            break
        piece = f"{key[:60]}={preview(value, min(left, 120))}"
        left -= len(piece)
        pieces.append(piece)
    return f"{(name or '?')[:80]}({', '.join(pieces)})"


def _request(call: types.FunctionCall) -> str:
    args = call.args or {}
    if call.name == CONFIRMATION_CALL:
        original = args.get("originalFunctionCall")
        if isinstance(original, dict):
            inner = original.get("args")
            return f"asks to confirm {signature(str(original.get('name')), inner if isinstance(inner, dict) else None)}"
        return "asks to confirm a tool call"
    if call.name == CREDENTIAL_CALL:
        return "asks for a credential"
    return f"asks: {args.get('message') or 'input'}"


def _responses(kind: Kind, event: Event, responses: list[types.FunctionResponse]) -> Presentation:
    target = event.actions.transfer_to_agent
    if target and all(response.name == TRANSFER_CALL for response in responses) and not is_failure(event):
        said = _joined("   ·   ", (preview(value, 160) for response in responses if (value := _value(response)) not in (None, {})))
        return _present(kind, f"transferred to {target}" + (f"   ·   {said}" if said else ""))  # its call has the words `transfer → …`
    if kind == "waiting":
        return _present(kind, _joined("   ·   ", (f"{response.name} waits for an answer" for response in responses)), "warn")
    text = _joined(
        "   ·   ", (_response(response, asks_a_person(event, response), is_a_persons=event.author == "user") for response in responses)
    )
    if kind == "escalate":
        return _present(kind, f"{text}   ·   escalate: the loop ends")
    if target:
        return _present(kind, f"{text}   ·   transferred to {target}")
    if is_failure(event):
        return _present(kind, text, "bad", ICONS["error"])
    return _present(kind, text)


def is_failure(event: Event) -> bool:
    """Return whether an event reports a failure: an error of its own, or a failed tool."""
    if event.error_code or event.error_message:
        return True
    for response in event.get_function_responses():  # noqa: SIM110 - a loop, as `any` with a generator takes as long as the rest
        if failure_of(response) is not None and not asks_a_person(event, response):
            return True
    return False


def result_title(event: Event, response: types.FunctionResponse) -> tuple[str, bool]:
    """Return the title of a tool's result, and whether it reports a failure."""
    if asks_a_person(event, response):  # google-adk's interim answer is an error
        return f"{response.name} waits for an answer", False
    failed = failure_of(response) is not None
    return f"{response.name} failed" if failed else f"Result of {response.name}", failed


def failure_of(response: types.FunctionResponse) -> str | None:
    """Return the error text of a response marked as failed by google-adk's convention (only `{"error": …}`), or None."""
    answer = response.response
    if isinstance(answer, dict) and len(answer) == 1 and answer.get("error"):
        error = answer["error"]
        return error if isinstance(error, str) else preview(error)
    return None


def _response(response: types.FunctionResponse, asking: bool, *, is_a_persons: bool) -> str:
    name = (response.name or "?")[:80]
    answer = response.response or {}
    if asking:
        return f"{name} waits for an answer"
    if response.name == CONFIRMATION_CALL and isinstance(answer.get("confirmed"), bool):
        return "confirmed" if answer["confirmed"] else "rejected"
    if response.name == CREDENTIAL_CALL:
        return "credential given"
    failure = failure_of(response)
    if failure is not None:
        return f"{name} failed: {failure[:SUMMARY_LIMIT]}"
    value = _value(response)
    return f"{name} → {preview(hide(value) if is_a_persons else value, 160)}"


def _value(response: types.FunctionResponse) -> Any:
    """Return what a tool returned, without the object that a value is sent in."""
    answer = response.response or {}
    return answer["result"] if len(answer) == 1 and "result" in answer else answer


def _said(kind: Kind, event: Event) -> Presentation | None:
    """Return the row of an event with content other than calls; None if the content is empty."""
    parts = (event.content.parts if event.content else None) or []
    if kind == "code":
        code = (text for part in parts if (text := _code(part)))
        return _present(kind, _joined("   ·   ", filter(None, chain([text_of(event).strip()], code))))
    said = text_of(event)
    media = _joined("   ", (text for part in parts if (text := _media(part))))
    spoken = event.output_transcription or event.input_transcription
    said = "   ".join(filter(None, [said.strip(), media])) or (spoken.text if spoken and spoken.text else "")
    thought = text_of(event, thoughts=True).strip()
    if not said and not thought:
        return None
    if kind == "streaming":
        return _present(kind, said or thought, "text" if said else "dim")
    if kind == "thought":
        return _present(kind, thought, "dim")
    if event.interrupted:
        said += "   ·   interrupted"
    return _present(kind, f"{said}   ·   escalate: the loop ends" if kind == "escalate" else said)


def _acted(kind: Kind, event: Event) -> Presentation:
    """Return the row of an event without content, from its actions."""
    actions = event.actions
    if kind == "transfer":
        return _present(kind, f"transfer → {actions.transfer_to_agent}")
    if kind == "escalate":
        return _present(kind, "escalate: the loop ends")
    if kind == "output":
        node = node_path(event)[-1:]
        return _present(kind, f"{node[0] if node else event.author} → {preview(event.output, 200)}")
    if kind == "end of agent":
        return _present(kind, f"end of {event.author}", "dim")
    if kind == "checkpoint":
        return _present(kind, f"checkpoint {preview(actions.agent_state, 200)}", "dim")
    changed = []
    if actions.state_delta:
        changed.append("state: " + ", ".join(f"{key[:60]} = {preview(value, 60)}" for key, value in islice(actions.state_delta.items(), 8)))
    if actions.artifact_delta:
        changed.append("saved: " + ", ".join(f"{name[:80]} v{version}" for name, version in islice(actions.artifact_delta.items(), 8)))
    if actions.route is not None:
        changed.append(f"route → {preview(actions.route, 200)}")
    if changed:
        return _present(kind, "   ·   ".join(changed), "dim")
    if (event.custom_metadata or {}).get(CALLED_WITHOUT_RESULT):
        return _present(kind, "the call was made; its result comes later", "dim")
    if (event.custom_metadata or {}).get(NOT_CAPTURED):
        return _present(kind, "content was not captured", "dim")
    if event.interrupted:  # a live conversation has events without content
        return _present(kind, "the user interrupted the answer", "dim")
    if event.turn_complete:
        return _present(kind, "end of the turn", "dim")
    return _present(kind, "…" if kind == "streaming" else "no content and no change", "dim")


def _code(part: types.Part) -> str | None:
    if part.executable_code is not None:
        return f"run {preview(part.executable_code.code or '', 160)}"
    if part.code_execution_result is not None:
        return f"→ {preview((part.code_execution_result.output or '').strip(), 160)}"
    return None


def _media(part: types.Part) -> str | None:
    if part.inline_data is not None:
        return f"[{part.inline_data.mime_type or 'data'}, {len(part.inline_data.data or b''):,} bytes]"
    if part.file_data is not None:
        return f"[{part.file_data.mime_type or 'file'} {part.file_data.file_uri or ''}]"
    return None
