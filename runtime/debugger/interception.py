"""The debugger inside a run: a plugin that holds agents where they start, end and call, and lets a person change their calls.

A person's changes are recorded permanently in the `custom_metadata` of the resulting event, under `inspector_edited`:
`{"model": {"request": [{path, before, after}…]}}` or `{"model": {"answer": true}}`, and
`{"calls": {CALL_ID: {"tool": NAME, "arguments": {before, after}, "result": …, "failure": …, "inside": […]}}}`. `inside` holds the edits
within an agent that ran as this tool.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.contexts.hooks import CallFailure
from runtime.debugger.agent_calls import AgentCall
from runtime.debugger.calls import ModelCall, ToolCall
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Report
from runtime.debugger.stepping import Place
from runtime.events.event import Event
from runtime.events.marks import EDITED
from runtime.models.llm_response import LlmResponse
from runtime.plugins.base_plugin import BasePlugin
from runtime.support.json_schema import parameters_schema
from runtime.support.texts import text_of

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.models.llm_request import LlmRequest
    from runtime.tools.base_tool import BaseTool

NAME = "inspector_debugger"


class Interception(BasePlugin):
    """Reports each agent's position to a debugger and holds the agent there if requested.

    Register it before an app's own plugins: `runner.plugin_manager.register_plugin(Interception(debugger), first=True)`.

    Args:
        debugger: the run's debugger; pass the Runner's events to its `run`.
    """

    def __init__(self, debugger: Debugger) -> None:
        super().__init__(NAME)
        self._debugger = debugger
        self._model_edits: dict[int, tuple[InvocationContext, dict[str, Any]]] = {}  # by id() of the agent's context
        self._call_edits: dict[str | None, dict[str, Any]] = {}

    @property
    def unmarked_edits(self) -> dict[str, Any]:
        """Manual edits that no committed event records because the run failed or was stopped, for an event of their own."""
        edits: dict[str, Any] = {"calls": {call_id or "": dict(edit) for call_id, edit in self._call_edits.items()}}
        if self._model_edits:
            edits["model"] = next(reversed(self._model_edits.values()))[1]
        return {key: value for key, value in edits.items() if value}

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """See `BasePlugin`."""
        call = self._debugger.calls.entered(callback_context._invocation_context)
        await self._hold(callback_context._invocation_context, "agent start", call)
        return None

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """See `BasePlugin`."""
        call = self._debugger.calls.of_context(callback_context._invocation_context)
        await self._hold(callback_context._invocation_context, "agent end", call)
        self._debugger.calls.left(callback_context._invocation_context)
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """See `BasePlugin`."""
        context = invocation_context.shared.yielded_by.get(id(event))
        if event.partial:
            return None
        edits = self._mark(event, context)
        outer = invocation_context.shared.outer
        if outer is None:
            if self._debugger.breakpoints.use_state:
                self._debugger.know_state(invocation_context.shared.committed_state)
            self._debugger.expect(event, self._debugger.calls.of_event(event, context))
        elif edits:  # the event is not stored, only the response of the enclosing call is
            around = self._call_edits.setdefault(outer[1], {"tool": invocation_context.agent.root_agent.name})
            around.setdefault("inside", []).append(edits)
        return None

    async def on_inner_event_callback(
        self, *, invocation_context: InvocationContext, event: Event, call_ids: tuple[str | None, ...]
    ) -> None:
        """See `BasePlugin`."""
        began = time.perf_counter()
        await self._debugger.take_inner_event(event, self._debugger.calls.of_event(event, None), call_ids)
        _tell_held(invocation_context, time.perf_counter() - began)

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """See `BasePlugin`."""
        return await self._at_model(callback_context, ModelCall(llm_request))

    async def on_model_error_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest, error: Exception
    ) -> LlmResponse | None:
        """See `BasePlugin`."""
        return await self._at_model(callback_context, ModelCall(llm_request, error))

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        held = ToolCall(tool.name, tool_context.function_call_id, tool_args, schema=partial(_schema, tool))
        result = await self._at_tool(tool_context, held)
        if "arguments" in held.edits:
            tool_args.clear()
            tool_args.update(held.args)
        return result

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        if not isinstance(error, Exception):
            return None  # a cancellation
        return await self._at_tool(tool_context, ToolCall(tool.name, tool_context.function_call_id, tool_args, error))

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        if self._debugger.hold is not None:
            self._debugger.tell(Report("arrived", f"{tool.name} has returned; its result is committed when the run continues."))
        return None

    async def _at_model(self, context: CallbackContext, held: ModelCall) -> LlmResponse | None:
        ctx = context._invocation_context
        call = self._debugger.calls.of_context(ctx)
        place: Place = "before model" if held.error is None else "error"
        stands_for = self._stand_in(ctx, call, held.error)
        await self._hold(ctx, place, call, stands_for=stands_for, state=ctx.session.state, held_call=held, error=held.error)
        if held.edits:
            self._model_edits[id(ctx)] = (ctx, held.edits)
        held.apply()
        return held.response

    async def _at_tool(self, context: ToolContext, held: ToolCall) -> dict[str, Any] | None:
        ctx = context._invocation_context
        call = self._debugger.calls.of_context(ctx)
        place: Place = "before tool" if held.error is None else "error"
        stands_for = self._stand_in(ctx, call, held.error)
        part = types.Part(function_call=types.FunctionCall(id=held.call_id, name=held.name, args=held.args))
        stands_for.content = types.Content(role="model", parts=[part])
        await self._hold(
            ctx,
            place,
            call,
            stands_for=stands_for,
            state=ctx.session.state,
            tool=held.name,
            held_call=held,
            error=held.error,
        )
        if held.edits:
            self._call_edits[held.call_id] = self._call_edits.get(held.call_id, {}) | held.edits
        if held.failure is not None:
            raise CallFailure(held.failure)
        return held.result

    async def _hold(self, ctx: InvocationContext, place: Place, call: AgentCall | None, **options: Any) -> None:
        began = time.perf_counter()
        await self._debugger.hold_if_requested(place, call, **options)
        _tell_held(ctx, time.perf_counter() - began)

    def _stand_in(self, ctx: InvocationContext, call: AgentCall | None, error: Exception | None) -> Event:
        """Return an event that represents a call, for conditions."""
        event = Event(author=ctx.agent.name, branch=ctx.branch, invocation_id=ctx.invocation_id)
        if error is not None:
            event.error_code, event.error_message = type(error).__name__, text_of(error)
        return event

    def _mark(self, event: Event, context: InvocationContext | None) -> dict[str, Any]:
        """Record manual changes in the event that they led to, and return them."""
        edits: dict[str, Any] = {}
        responses = [response.id for response in event.get_function_responses()]
        calls = {call_id or "": self._call_edits.pop(call_id) for call_id in responses if call_id in self._call_edits}
        if calls:
            edits["calls"] = calls
        if not responses and context is not None and event.author == context.agent.name:
            edited = self._model_edits.pop(id(context), None)
            if edited is not None:
                edits["model"] = edited[1]
        if edits:
            event.custom_metadata = {**(event.custom_metadata or {}), EDITED: edits}
        return edits


def _tell_held(ctx: InvocationContext, seconds: float) -> None:
    """Tell the other plugins how long an agent was held, which is no work of its model or tool."""
    for plugin in getattr(ctx.plugin_manager, "plugins", ()):
        if callable(held := getattr(plugin, "held", None)):
            held(ctx, seconds)


def _schema(tool: BaseTool) -> dict[str, Any] | None:
    """Return the JSON schema of a tool's arguments; None if it declares no parameters."""
    declaration = tool._get_declaration()
    return parameters_schema(declaration) if declaration is not None else None
