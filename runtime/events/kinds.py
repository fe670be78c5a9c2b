"""The classification of events that the window, filters and breakpoints share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from runtime.events.marks import ASKING_CALLS, SAME_MODEL_CALL, TRANSFER_CALL

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event

Kind = Literal[
    "user input",
    "answer",
    "streaming",
    "thought",
    "tool call",
    "tool result",
    "state change",
    "transfer",
    "escalate",
    "checkpoint",
    "end of agent",
    "error",
    "waiting",
    "rewind",
    "compaction",
    "code",
    "output",
    "empty",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

# Why a model did not end its answer itself: google-genai's names of reasons to finish, and to block a request. google-adk has the latter,
# and the former of an answer without content, as the error's code.
REFUSALS = frozenset(
    (
        "SAFETY",
        "PROHIBITED_CONTENT",
        "BLOCKLIST",
        "SPII",
        "MODEL_ARMOR",
        "JAILBREAK",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
    )
)
RECITATIONS = frozenset(("RECITATION", "IMAGE_RECITATION"))
MALFORMED = frozenset(
    ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "MISSING_THOUGHT_SIGNATURE")
)
_ENDED = frozenset(("STOP", "FINISH_REASON_UNSPECIFIED", "OTHER"))
_CODES = REFUSALS | RECITATIONS | MALFORMED | {"MAX_TOKENS", "OTHER", "IMAGE_OTHER", "NO_IMAGE"}


def kind_of(event: Event) -> Kind:
    """Return the kind of an event, committed or partial.

    An event that fits several kinds gets the first of: stops or redirects the flow, has text, only changes state.
    """
    if event.error_code or event.error_message:
        return "error"
    if event.actions.rewind_before_invocation_id:
        return "rewind"
    if event.actions.compaction:
        return "compaction"
    if event.content and event.content.parts:
        calls = event.get_function_calls()
        if calls:
            return _kind_of_calls(calls)
        responses = event.get_function_responses()
        if responses:
            return _kind_of_responses(event, responses)
        said = _kind_of_said(event, event.content.parts)
        if said is not None:
            return said
    if _is_transcribed(event):
        return _kind_of_speech(event)
    return _kind_of_actions(event)


def asks_a_person(event: Event, response: types.FunctionResponse) -> bool:
    """Return whether a function response is the placeholder of a confirmation or credential request."""
    return response.id in event.actions.requested_tool_confirmations or response.id in event.actions.requested_auth_configs


def text_of(event: Event, *, thoughts: bool = False) -> str:
    """Return the event's text parts joined, or its thoughts if `thoughts` is true."""
    return text_of_content(event.content, thoughts=thoughts)


def text_of_content(content: types.Content | None, *, thoughts: bool = False) -> str:
    """Return a content's text parts joined, or its thoughts if `thoughts` is true."""
    if content is None or not content.parts:
        return ""
    return "".join(part.text for part in content.parts if part.text and bool(part.thought) == thoughts)


def cut_off(event: Event) -> str | None:
    """Return why a model did not end its answer itself, such as `MAX_TOKENS`; None if it did, or if the event is no answer of a model."""
    if event.partial or SAME_MODEL_CALL in (event.custom_metadata or {}):
        return None
    reason = getattr(event.finish_reason, "value", event.finish_reason)
    if reason is not None and reason not in _ENDED:
        return str(reason)
    return event.error_code if event.error_code in _CODES else None


def node_path(event: Event) -> tuple[str, ...]:
    """Return the names of the workflow and the nodes in it that lead to an event; empty for an event of no workflow of google-adk 2."""
    info = (event.model_extra or {}).get("node_info")
    path = info.get("path") if isinstance(info, dict) else None
    return tuple(step.partition("@")[0] for step in path.split("/")) if isinstance(path, str) and path else ()


def is_workflow_output(event: Event) -> bool:
    """Return whether an event has the output of a whole workflow of google-adk 2, not only of one of its nodes."""
    info = (event.model_extra or {}).get("node_info")
    made_for = info.get("output_for") if isinstance(info, dict) and event.output is not None else None
    return isinstance(made_for, list) and any(isinstance(path, str) and "/" not in path for path in made_for)


def tokens_of(event: Event) -> int:
    """Return the event's token count as reported by the model, prompt included; 0 if it reported none."""
    usage = event.usage_metadata
    if usage is None:
        return 0
    return usage.total_token_count or (usage.prompt_token_count or 0) + (usage.candidates_token_count or 0)


def _kind_of_calls(calls: list[types.FunctionCall]) -> Kind:
    if all(call.name == TRANSFER_CALL for call in calls):
        return "transfer"
    return "waiting" if calls[0].name in ASKING_CALLS else "tool call"


def _kind_of_responses(event: Event, responses: list[types.FunctionResponse]) -> Kind:
    if all(response.name == TRANSFER_CALL for response in responses):
        return "transfer"
    if all(asks_a_person(event, response) for response in responses):
        return "waiting"
    if event.actions.escalate:
        return "escalate"
    return "transfer" if event.actions.transfer_to_agent else "tool result"


def _kind_of_said(event: Event, parts: list[types.Part]) -> Kind | None:
    """Return the kind of an event without calls and responses; None if it has no text, file or code."""
    said = thought = False
    for part in parts:
        if part.executable_code is not None or part.code_execution_result is not None:
            return "code"
        if part.inline_data is not None or part.file_data is not None:
            said = True
        elif part.text and not part.text.isspace():
            said, thought = said or not part.thought, thought or bool(part.thought)
    if said:
        return _kind_of_speech(event)
    if _is_transcribed(event) or not thought:
        return None
    return "streaming" if event.partial else "thought"


def _is_transcribed(event: Event) -> bool:
    spoken = event.output_transcription or event.input_transcription
    return bool(spoken and spoken.text)


def _kind_of_speech(event: Event) -> Kind:
    if event.partial:
        return "streaming"
    if event.author == "user":
        return "user input"
    return "escalate" if event.actions.escalate else "answer"


def _kind_of_actions(event: Event) -> Kind:
    """Return the kind of an event without content, from its actions."""
    actions = event.actions
    if event.partial:
        return "streaming"  # the actions of partial events do nothing
    if actions.transfer_to_agent:
        return "transfer"
    if actions.escalate:
        return "escalate"
    if actions.end_of_agent:
        return "end of agent"
    if actions.agent_state is not None:
        return "checkpoint"
    if event.output is not None:
        return "output"
    if actions.state_delta or actions.artifact_delta:
        return "state change"
    return "empty"
