"""Repeating a run: recorded answers replace models and tools; after the end of the recording, models and tools are called.

Only models and tools are replaced. Agent callbacks and the code of custom agents run. Model and tool callbacks do not, as the recorded
answer already contains their changes. See `recorded_answers` for which answer belongs to which call.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runtime.contexts.hooks import NoResult
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.marks import EDITED, REPLAYED, RESUMED, inner_run
from runtime.forks.recorded_answers import Divergence, RecordedAnswers
from runtime.forks.recording import Recording, overridable_part
from runtime.history.turns import answer_set
from runtime.models.llm_response import LlmResponse
from runtime.plugins.base_plugin import BasePlugin
from runtime.sessions.state import scope_of
from runtime.tools.inner_runs import InnerPause

if TYPE_CHECKING:
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.models.llm_request import LlmRequest
    from runtime.tools.base_tool import BaseTool

NAME = "inspector_replay"
_OWN_MARKS = (RESUMED, EDITED, REPLAYED)


REPLAY_ENDED = "REPLAY_ENDED"  # error code of the event that represents a model call that was not recorded


def ended(answers: RecordedAnswers, agent: str) -> LlmResponse:
    """Return the answer that ends a strict replay in place of a model call, and note why."""
    if not answers.divergences:
        answers.divergences.append(Divergence(f"{agent} called its model after the end of the recording", is_live=False))
    text = f"No longer as recorded at model call {answers.model_calls + 1}: {answers.divergences[0].what}."
    return LlmResponse(error_code=REPLAY_ENDED, error_message=text)


class Replay(BasePlugin):
    """A plugin that answers a run's model and tool calls from a recording.

    Attributes:
        answers: how many answers came from the recording, and where the run diverged.

    Args:
        recording: the recording to repeat.
        runs_tools: run the tools, and answer only the models from the recording.
        strict: an event with other content than was recorded is a divergence, and no model is called after a divergence.
        on_request: receives the agent's name and each request that a recorded answer replaces.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        runs_tools: bool = False,
        strict: bool = False,
        on_request: Callable[[str, LlmRequest], None] | None = None,
    ) -> None:
        super().__init__(NAME)
        self.answers = RecordedAnswers(recording, exact=strict or runs_tools)
        self._runs_tools = runs_tools
        self._strict = strict
        self._on_request = on_request

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """See `BasePlugin`."""
        ctx = callback_context._invocation_context
        event = self.answers.of_model(ctx.agent.name, ctx.branch) if ctx.shared.outer is None else None
        if event is None:
            return ended(self.answers, ctx.agent.name) if self._strict and ctx.shared.outer is None else None
        if self._on_request is not None:
            self._on_request(ctx.agent.name, llm_request)
        _take_over(event.actions, callback_context, None)
        return _Recorded(**recorded_response(event))

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """See `BasePlugin`; the recorded answer already contains the changes of the agent's own callback."""
        return llm_response if isinstance(llm_response, _Recorded) else None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        ctx, call_id = tool_context._invocation_context, tool_context.function_call_id
        if self._runs_tools:
            return None
        event = self.answers.of_tool(tool.name, ctx.agent.name, ctx.branch, call_id) if ctx.shared.outer is None else None
        if event is None:
            return None
        _take_over(event.actions, tool_context, call_id)
        result = recorded_result(event, call_id)
        if result is None:
            raise NoResult
        question = self.answers.question_of(event, call_id)
        if question is not None:
            tool_context.inner_pause = InnerPause(tool.name, [], question.get_function_calls(), dict(inner_run(question) or {}))
            tool_context.inner_pause.receipt = result
        answer = answer_set(event)
        tool_context.actions.set_model_response = json.loads(answer) if answer is not None else None
        return _RecordedResult(result)

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """See `BasePlugin`; as `after_model_callback`."""
        return dict(result) if isinstance(result, _RecordedResult) else None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """See `BasePlugin`; removes the event's counterpart from the recorded events."""
        counterpart = self.answers.take_counterpart(event) if invocation_context.shared.outer is None else None
        if counterpart is None:
            return None
        if is_request(counterpart):  # the recorded answer names the recorded call
            event.content = counterpart.content and counterpart.content.model_copy(deep=True)
            event.long_running_tool_ids = set(counterpart.long_running_tool_ids or ())
        if marks := self.answers.marks_of(counterpart):
            event.custom_metadata = {**(event.custom_metadata or {}), **marks}
        return None


def is_request(event: Event) -> bool:
    """Return whether a recorded event asks a person something, so that it is no model's answer."""
    return overridable_part(event) is None and bool(event.long_running_tool_ids)


def recorded_response(event: Event) -> dict[str, Any]:
    """Return the fields of the `LlmResponse` that a recorded event repeats."""
    fields = {name: getattr(event, name) for name in LlmResponse.model_fields if name in event.model_fields_set}
    content = fields.get("content")
    if content is not None:
        fields["content"] = content.model_copy(deep=True)  # the flow assigns ids to its calls
    metadata = {key: value for key, value in (event.custom_metadata or {}).items() if key not in _OWN_MARKS}
    return {**fields, "custom_metadata": metadata or None}


def recorded_result(event: Event, call_id: str | None) -> dict[str, Any] | None:
    """Return the recorded result of a call; None if it returned nothing."""
    found = next((response for response in event.get_function_responses() if response.id == call_id), None)
    return (found.response or {}) if found is not None else None


def recorded_effects(recorded: EventActions, call_id: str | None) -> dict[str, Any]:
    """Return the side effects of a recorded answer, as fields of `EventActions`.

    Args:
        recorded: the recorded event's actions.
        call_id: the call whose result it is; None for a model's answer.
    """
    effects: dict[str, Any] = {
        "state_delta": {key: value for key, value in recorded.state_delta.items() if scope_of(key) != "temp"},
        "artifact_delta": recorded.artifact_delta,
    }
    for name in ("transfer_to_agent", "escalate", "skip_summarization"):
        if getattr(recorded, name) is not None:
            effects[name] = getattr(recorded, name)
    for name in ("requested_auth_configs", "requested_tool_confirmations"):
        effects[name] = {key: value for key, value in getattr(recorded, name).items() if key == call_id}
    return effects


class _Recorded(LlmResponse):
    """A recorded answer of a model."""


class _RecordedResult(dict[str, Any]):
    """A recorded result of a tool."""


def _take_over(recorded: EventActions, context: CallbackContext, call_id: str | None) -> None:
    """Apply the side effects of a recorded answer to the context of the callback that gives it."""
    for name, value in recorded_effects(recorded, call_id).items():
        if name == "state_delta":
            context.state.update(value)
        elif isinstance(value, dict):
            getattr(context.actions, name).update(value)
        else:
            setattr(context.actions, name, value)
