"""Repeating a run: recorded answers replace models and tools; after the end of the recording, models and tools are called.

The recorded events of one agent on one branch form a stream. Each event that the run commits consumes its counterpart in its stream, and
a model's answer is taken from the stream when the agent calls its model. A tool call is identified by its id, which came with the recorded
answer. When an agent diverges from the recording, its stream and the streams of all agents that see its branch become invalid; agents on
other branches do not see the change and continue from the recording.

Only models and tools are replaced. Agent callbacks and the code of custom agents run. Model and tool callbacks do not, as the recorded
answer already contains their changes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runtime.contexts.hooks import NoResult
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.kinds import kind_of
from runtime.events.marks import CALLED_WITHOUT_RESULT, EDITED, REPLAYED, RESUMED
from runtime.forks.recording import Recording, is_agent_output, overridable_part
from runtime.history.turns import answer_set
from runtime.models.llm_response import LlmResponse
from runtime.plugins.base_plugin import BasePlugin
from runtime.sessions.state import scope_of

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.models.llm_request import LlmRequest
    from runtime.tools.base_tool import BaseTool

NAME = "inspector_replay"
_OWN_MARKS = (RESUMED, EDITED, REPLAYED)
Stream = tuple[str, str | None]  # an agent's name and its branch


class Replay(BasePlugin):
    """A plugin that answers a run's model and tool calls from a recording.

    Attributes:
        model_calls: how many model calls were answered from the recording.
        tool_calls: how many tool calls were answered from it.
        divergences: where the run differs from the recording, as sentences; from there on it is live.

    Args:
        recording: the recording to repeat.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(NAME)
        self.model_calls = 0
        self.tool_calls = 0
        self.divergences: list[str] = []
        self._left: dict[Stream, list[Event]] = {}
        self._results: dict[str, list[Event]] = {}
        self._given: set[str] = set()
        self._overridden = recording.last if recording.is_overridden else None
        self._gone: list[str | None] = []
        for event in recording.answers:
            self._left.setdefault((event.author, event.branch), []).append(event)
            for call_id in _answered(event):
                self._results.setdefault(call_id, []).append(event)

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """See `BasePlugin`."""
        ctx = callback_context._invocation_context
        stream = (ctx.agent.name, ctx.branch)
        if ctx.shared.outer is not None or not self._holds(ctx.branch):
            return None
        event = next((event for event in self._left.get(stream, ()) if not _answered(event)), None)
        if event is None or not is_agent_output(event):
            self._check_nothing_left(ctx, f"{ctx.agent.name} called its model once more than was recorded")
            return None
        self.model_calls += 1
        self._given.add(event.id)
        _take_over(event.actions, callback_context, None)
        return _response(event)

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """See `BasePlugin`; the recorded answer already contains the changes of the agent's own callback."""
        return llm_response if isinstance(llm_response, _Recorded) else None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        ctx, call_id = tool_context._invocation_context, tool_context.function_call_id
        if ctx.shared.outer is not None or not self._holds(ctx.branch):
            return None
        results = self._results.get(call_id or "")
        if not results:
            self._check_nothing_left(ctx, f"{tool.name} was called, but no result was recorded for this call", own=True)
            return None
        event = results.pop(0)
        self.tool_calls += 1
        self._given.add(event.id)
        _take_over(event.actions, tool_context, call_id)
        response = next((response for response in event.get_function_responses() if response.id == call_id), None)
        if response is None:
            raise NoResult
        answer = answer_set(event)
        tool_context.actions.set_model_response = json.loads(answer) if answer is not None else None
        return _RecordedResult(response.response or {})

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """See `BasePlugin`; as `after_model_callback`."""
        return dict(result) if isinstance(result, _RecordedResult) else None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """See `BasePlugin`; removes the event's counterpart from the recorded events."""
        if event.partial or invocation_context.shared.outer is not None or not self._holds(event.branch):
            return None
        left = self._left.get((event.author, event.branch), [])
        counterpart = _counterpart(event, left)
        if counterpart is None:
            if any(not _answered(other) for other in left):
                self._diverge(event.branch, f"{event.author} committed something else ({kind_of(event)}) than was recorded")
            return None
        left.remove(counterpart)
        if overridable_part(counterpart) is None and counterpart.long_running_tool_ids:
            # A request to a person: the recorded answer names the recorded call.
            event.content = counterpart.content and counterpart.content.model_copy(deep=True)
            event.long_running_tool_ids = set(counterpart.long_running_tool_ids)
        if counterpart.id in self._given:
            marks: dict[str, Any] = {REPLAYED: counterpart.id}
            if counterpart is self._overridden:
                marks[EDITED] = _edits(counterpart)
            event.custom_metadata = {**(event.custom_metadata or {}), **marks}
        return None

    def _check_nothing_left(self, ctx: InvocationContext, what: str, *, own: bool = False) -> None:
        """Note a divergence if the recording has events left for the agents that see this one.

        Args:
            ctx: the context of the unrecorded action.
            what: a phrase that describes the action.
            own: count only this agent's own answers, because other calls of its turn are still being answered.
        """
        here = (ctx.agent.name, ctx.branch)
        streams = [here] if own else [stream for stream in self._left if _sees(stream[1], ctx.branch)]
        left = [event for stream in streams for event in self._left.get(stream, ())]
        if any(is_agent_output(event) if own else not _answered(event) for event in left):
            self._diverge(ctx.branch, what)

    def _diverge(self, branch: str | None, what: str) -> None:
        self._gone.append(branch)
        self.divergences.append(f"{what}; from there on the run is live.")

    def _holds(self, branch: str | None) -> bool:
        return not any(_sees(branch, gone) for gone in self._gone)


class _Recorded(LlmResponse):
    """A recorded answer of a model."""


class _RecordedResult(dict[str, Any]):
    """A recorded result of a tool."""


def _sees(branch: str | None, other: str | None) -> bool:
    """Return whether agents on two branches see each other's events, in one direction or the other."""
    if branch is None or other is None or branch == other:
        return True
    return branch.startswith(other + ".") or other.startswith(branch + ".")


def _answered(event: Event) -> list[str]:
    """Return the ids of the calls that an event answers, including those that returned nothing."""
    without: list[str] = (event.custom_metadata or {}).get(CALLED_WITHOUT_RESULT, [])
    return [*(response.id or "" for response in event.get_function_responses()), *without]


def _counterpart(event: Event, left: list[Event]) -> Event | None:
    answered = _answered(event)
    if answered:
        return next((other for other in left if set(answered) & set(_answered(other))), None)
    other = next((other for other in left if not _answered(other)), None)
    return other if other is not None and _shape(other) == _shape(event) else None


def _shape(event: Event) -> tuple[Any, ...]:
    return kind_of(event), [call.name for call in event.get_function_calls()]


def _edits(event: Event) -> dict[str, Any]:
    """Return the description of a person's change in an answer, as `runtime.debugger.interception` marks it."""
    results = {response.id or "": {"tool": response.name, "result": response.response} for response in event.get_function_responses()}
    return {"calls": results} if results else {"model": {"answer": True}}


def _response(event: Event) -> LlmResponse:
    fields = {name: getattr(event, name) for name in LlmResponse.model_fields if name in event.model_fields_set}
    content = fields.get("content")
    if content is not None:
        fields["content"] = content.model_copy(deep=True)  # the flow assigns ids to its calls
    metadata = {key: value for key, value in (event.custom_metadata or {}).items() if key not in _OWN_MARKS}
    return _Recorded(**{**fields, "custom_metadata": metadata or None})


def _take_over(recorded: EventActions, context: CallbackContext, call_id: str | None) -> None:
    """Apply the side effects of a recorded answer.

    Args:
        recorded: the recorded event's actions.
        context: the context of the callback that gives the answer.
        call_id: the call whose result it is; None for a model's answer.
    """
    context.state.update({key: value for key, value in recorded.state_delta.items() if scope_of(key) != "temp"})
    actions = context.actions
    actions.artifact_delta.update(recorded.artifact_delta)
    for name in ("transfer_to_agent", "escalate", "skip_summarization"):
        if getattr(recorded, name) is not None:
            setattr(actions, name, getattr(recorded, name))
    for name in ("requested_auth_configs", "requested_tool_confirmations"):
        getattr(actions, name).update({key: value for key, value in getattr(recorded, name).items() if key == call_id})
