"""The places where a run is reported and may wait: agents, calls of models and tools."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import google_adk
from .calls import Calls
from .channel import Channel
from .current_run import CurrentRun
from .edits import Edits
from .errors import RaisedByHandError, error_fields
from .json_text import event_json
from .model_requests import change_request, request_json

if TYPE_CHECKING:
    from .edits import ModelCall


class Places:
    """Reports each place of a run, waits there if the policy says so, and applies the answer.

    Args:
        run: the current run.
        channel: carries messages.
        look: takes the commands that have arrived.

    Attributes:
        calls: the active calls of agents and tools.
        edits: what the user changed.
    """

    def __init__(self, run: CurrentRun, channel: Channel, look: Callable[[], None]) -> None:
        self._run = run
        self._channel = channel
        self._look = look
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._sent: dict[ModelCall, int] = {}  # the place of each request to a model
        self._failures: dict[str, str] = {}  # of tool calls that shall raise
        self._recorded_response: Any = None  # the last one
        self._recorded: dict[str, Any] = {}  # results of calls that were answered from a recording
        self.calls = Calls()
        self.edits = Edits()

    def answer(self, command: dict[str, Any]) -> None:
        """Let the run continue from a place where it waits."""
        waiting = self._waiting.pop(command["at"], None)
        if waiting is not None and not waiting.done():
            waiting.set_result(command)

    def take_request(self, event: Any) -> int | None:
        """Return the place of the request that a model's event answers."""
        return None if event.get_function_responses() else self._sent.pop((event.invocation_id, event.author, event.branch), None)

    def end_run(self) -> dict[str, Any]:
        """Forget the run; return the user's changes that no event has recorded."""
        for kept in (self._waiting, self._sent, self._failures, self._recorded):
            kept.clear()
        self.calls.clear()
        return self.edits.take_rest()

    async def at(self, place: str, context: Any, event: str | None = None, /, **fields: Any) -> dict[str, Any]:
        """Report a place of the run; wait there if the policy says so.

        Args:
            place: one of PLACES; `inner event`, which waits as `event` does; or `after tool`, which never waits.
            context: the invocation context.
            event: the event that is there, as JSON text.
            **fields: what there is to say.

        Returns:
            The answer; just the place's number if it did not wait.
        """
        self._look()
        run, number, policy = self._run, next(self._ids), self._run.policy
        waits = (place if place != "inner event" else "event") in policy.hold and not run.is_stopping and not fields.get("is_partial")
        message: dict[str, Any] = {
            "run": run.number,
            "at": number,
            "place": place,
            "waits": waits,
            "agent": getattr(context.agent, "name", None),
            "branch": context.branch,
            "invocation_id": context.invocation_id,
            "session_id": context.session.id,
            "call": fields.pop("call", None) or self.calls.number(context),
            **fields,
        }
        if waits:
            state, committed = context.session.state, run.state or {}
            changed = {key: value for key, value in state.items() if key not in committed or not _is_same(committed[key], value)}
            message["uncommitted"] = changed if run.state is not None else {}
            if policy.state:
                message["state"] = state
            self._waiting[number] = self._loop.create_future()
        self._channel.send("at", event, **message)
        if not waits:
            return {"at": number}
        try:
            return await self._waiting[number]
        except asyncio.CancelledError:
            self._channel.send("left", run=run.number, at=number)
            raise
        finally:
            self._waiting.pop(number, None)

    async def at_agent(self, place: str, context: Any) -> None:
        """Report that an agent starts or ends."""
        if place == "agent end":
            await self.at(place, context)
            self.calls.left(context)
            return
        if self._run.state is None:
            self._run.state = dict(context.session.state)
        number, callers = self.calls.entered(context)
        is_inner = context.session.id != self._run.session_id
        await self.at(place, context, call=number, callers=callers, outer=self.calls.tool_call.get() if is_inner else None)

    async def at_model(self, callback_context: Any, request: Any, error: Exception | None = None) -> Any:
        """Report a model call or its failure; return an answer that replaces the model's."""
        context = callback_context._invocation_context
        place = "before model" if error is None else "error"
        fields: dict[str, Any] = {"kind": "model"}
        if self._run.policy.requests or place in self._run.policy.hold:
            fields["request"] = request_json(request)
        if error is not None:
            fields["error"], fields["source"] = error_fields(error, self._run.folder), self.calls.source()
        key = (context.invocation_id, getattr(context.agent, "name", ""), context.branch)
        answer = await self.at(place, context, **fields)
        if error is None:
            self._sent[key] = answer["at"]
        if answer.get("edits"):
            self.edits.add_to_model(key, answer["edits"])
        if answer.get("response") is not None:
            response = google_adk.made(("google.adk.models.llm_response", "LlmResponse"), answer["response"])
            if self._take_effects(answer, callback_context, key):
                self._recorded_response = response
            return response
        if answer.get("request") is not None and error is None:
            change_request(request, answer["request"])
        return None

    def at_model_answer(self, response: Any) -> Any:
        """Return a recorded answer, which the agent's own callbacks have changed already."""
        return response if response is self._recorded_response else None

    async def at_tool(self, context: Any, tool: Any, args: dict[str, Any], error: Exception | None = None) -> Any:
        """Report a tool call or its failure; return a result that replaces the tool's."""
        ctx = context._invocation_context
        call_id = context.function_call_id
        place = "before tool" if error is None else "error"
        fields: dict[str, Any] = {"kind": "tool", "tool": tool.name, "call_id": call_id, "args": args, **_source(tool)}
        if error is not None:
            fields["error"], fields["source"] = error_fields(error, self._run.folder), self.calls.source()
            self.calls.tool_ends(call_id)
        elif place in self._run.policy.hold:
            fields["declaration"] = _declaration(tool)
        answer = await self.at(place, ctx, **fields)
        if error is None:
            self.calls.tool_starts(ctx, tool.name, call_id)
        if answer.get("edits") and call_id:
            self.edits.add_to_tool(call_id, answer["edits"])
        if answer.get("args") is not None and error is None:
            args.clear()
            args.update(answer["args"])
        if answer.get("raise") is not None:
            if error is not None:
                return None  # the tool's own exception is raised
            self._fail(tool, call_id, answer["raise"])
        if self._take_effects(answer, context, call_id):
            self._recorded[call_id] = answer["result"]
        return answer.get("result")

    async def at_tool_result(self, context: Any, tool: Any) -> Any:
        """Report that a tool has returned; return a recorded result, which the agent's own callbacks have changed already."""
        self.calls.tool_ends(context.function_call_id)
        await self.at("after tool", context._invocation_context, kind="tool", tool=tool.name, call_id=context.function_call_id)
        return self._recorded.pop(context.function_call_id, None)

    async def at_inner_event(self, context: Any, event: Any) -> None:
        """Report an event of an agent that runs as a tool: google-adk stores none of them."""
        if context.session.id == self._run.session_id:
            return
        outer = self.calls.tool_call.get()
        await self.at("inner event", context, event_json(event), outer=outer, is_partial=bool(event.partial))

    def _take_effects(self, answer: dict[str, Any], context: Any, key: Any) -> bool:
        """Apply the side effects of a recorded answer to the callback's context; return whether the answer is a recorded one."""
        if answer.get("marks") is None:
            return False
        self.edits.add_marks(key, answer["marks"])
        effects = google_adk.made(("google.adk.events.event_actions", "EventActions"), answer.get("actions") or {})
        actions = getattr(context, "actions", None) or context._event_actions
        for name in effects.model_fields_set:
            value = getattr(effects, name)
            if name == "state_delta":
                context.state.update(value)
            elif isinstance(value, dict):
                getattr(actions, name).update(value)
            else:
                setattr(actions, name, value)
        return True

    def _fail(self, tool: Any, call_id: str, message: str) -> None:
        """Make a tool's next call with this id raise, so that the agent's own error handling sees it."""
        self._failures[call_id] = message
        if "run_async" in vars(tool):
            return
        original = tool.run_async

        async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
            failure = self._failures.pop(tool_context.function_call_id, None)
            if not self._failures:
                vars(tool).pop("run_async", None)
            if failure is not None:
                raise RaisedByHandError(failure)
            return await original(args=args, tool_context=tool_context)

        vars(tool)["run_async"] = run_async


def make_plugin(places: Places) -> Any:
    """Return the plugin that reports the places of a run."""
    base = google_adk.required("google.adk.plugins.base_plugin", "BasePlugin")

    class InspectorPlugin(base):  # type: ignore[misc, valid-type]
        """Holds a run before its model and tool calls."""

        async def before_agent_callback(self, *, agent: Any, callback_context: Any, **_: Any) -> None:
            await places.at_agent("agent start", callback_context._invocation_context)

        async def after_agent_callback(self, *, agent: Any, callback_context: Any, **_: Any) -> None:
            await places.at_agent("agent end", callback_context._invocation_context)

        async def before_model_callback(self, *, callback_context: Any, llm_request: Any, **_: Any) -> Any:
            return await places.at_model(callback_context, llm_request)

        async def after_model_callback(self, *, callback_context: Any, llm_response: Any, **_: Any) -> Any:
            return places.at_model_answer(llm_response)

        async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception, **_: Any) -> Any:
            return await places.at_model(callback_context, llm_request, error)

        async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, **_: Any) -> Any:
            return await places.at_tool(tool_context, tool, tool_args)

        async def after_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any, **_: Any) -> Any:
            return await places.at_tool_result(tool_context, tool)

        async def on_tool_error_callback(self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any, **_: Any) -> Any:
            if not isinstance(error, Exception):
                return None  # a cancellation
            return await places.at_tool(tool_context, tool, tool_args, error)

        async def on_event_callback(self, *, invocation_context: Any, event: Any, **_: Any) -> None:
            await places.at_inner_event(invocation_context, event)

    return InspectorPlugin(name="inspector_debugger")


def _declaration(tool: Any) -> Any:
    with contextlib.suppress(Exception):  # the tool's own code
        declaration = tool._get_declaration()
        if declaration is not None:
            return declaration.model_dump(mode="json", exclude_none=True)
    return None


def _source(tool: Any) -> dict[str, Any]:
    """Return the file and line of a tool's code."""
    code = getattr(inspect.unwrap(tool.func), "__code__", None) if callable(getattr(tool, "func", None)) else None
    return {"file": code.co_filename, "line": code.co_firstlineno} if code is not None else {}


def _is_same(one: Any, other: Any) -> bool:
    try:
        return bool(one is other or one == other)
    except BaseException:  # the object's own code
        return False
