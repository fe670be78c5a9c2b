"""The debugger's view of a run in a child process: the places that the child reports, and the answers to them.

This does for a child what `runtime/debugger/interception.py` does for an agent in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from google.genai import types
from pydantic import ValidationError

from inspector_app.engines.child_replay import ChildReplay
from runtime.debugger.agent_calls import AgentCall
from runtime.debugger.calls import ModelCall, ToolCall
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Report
from runtime.debugger.stepping import Place
from runtime.events.event import Event
from runtime.models.llm_request import LlmRequest
from runtime.storage.layouts.decode import parse_event
from runtime.support.json_schema import parameters_schema


class AgentCodeError(Exception):
    """An exception of the agent's code in a child process. Instances are of subclasses that have the original class's name.

    Attributes:
        traceback: its traceback from the agent's own code on, if any.
        file, line: the place in the agent's code, if known.
    """

    traceback: str | None = None
    file: str | None = None
    line: int | None = None


def error_from_child(fields: Mapping[str, Any]) -> AgentCodeError:
    """Return the exception that a child describes."""
    name = str(fields.get("type") or "Error")
    error: AgentCodeError = type(name, (AgentCodeError,), {})(str(fields.get("message") or ""))
    error.traceback, error.file, error.line = fields.get("traceback"), fields.get("file"), fields.get("line")
    return error


@dataclass(eq=False)
class _Agent:
    name: str


@dataclass(eq=False)
class _Session:
    state: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class _Shared:
    """What the calls of one run share; an agent that runs as a tool has a run of its own."""

    outer: tuple[_Context, str | None] | None
    committed_state: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class _Context:
    """A call of an agent in the child, as the debugger's `CallContext`."""

    agent: _Agent
    branch: str | None
    depth: int
    session: _Session
    shared: _Shared


class ChildModelCall(ModelCall):
    """A held model call in a child process.

    Args:
        given: the request, as `ModelCall.json` returns it.
        error: the model's exception, if the call is held at its failure.
    """

    def __init__(self, given: Mapping[str, Any], error: Exception | None = None) -> None:
        self._given = {"model": None, "contents": [], "config": {}, **given}
        super().__init__(request_from_child(self._given), error)

    @cached_property
    def _first(self) -> dict[str, Any]:
        return self._given

    def answer_fields(self) -> dict[str, Any]:
        """Return what the child is to do, as fields of `go`."""
        fields: dict[str, Any] = {}
        if self.response is not None:
            fields["response"] = self.response.model_dump(mode="json", exclude_none=True)
        elif self.edits:
            fields["request"] = self.json()
        return {**fields, "edits": self.edits} if fields else {}


def request_from_child(given: Mapping[str, Any]) -> LlmRequest:
    """Return a request of its JSON; fields that this version of google-genai does not know are left out."""
    config: dict[str, Any] = {}
    for name, value in (given.get("config") or {}).items():
        try:
            config[name] = getattr(types.GenerateContentConfig.model_validate({name: value}), name)
        except (ValidationError, AttributeError):
            continue
    contents = [_content(value) for value in given.get("contents") or []]
    return LlmRequest(model=given.get("model"), contents=contents, config=types.GenerateContentConfig.model_construct(**config))


def _content(value: Any) -> types.Content:
    try:
        return types.Content.model_validate(value)
    except ValidationError:
        return types.Content(role=value.get("role") if isinstance(value, Mapping) else None, parts=[])


class ChildInterception:
    """Passes the places that a child reports to a debugger.

    Args:
        debugger: the run's debugger.
        answer: sends the answer to a place: its number, and the fields of `go`.
        on_request: called with a place's number and the request of a model call, for each model call.
        replay: answers calls from a recording, before they are held.
    """

    def __init__(
        self,
        debugger: Debugger,
        answer: Callable[[int, dict[str, Any]], None],
        on_request: Callable[[int, LlmRequest], None] = lambda number, request: None,
        replay: ChildReplay | None = None,
    ) -> None:
        self._debugger = debugger
        self._replay = replay
        self._answer = answer
        self._on_request = on_request
        self._contexts: dict[int, _Context] = {}
        self._shared: dict[str, _Shared] = {}
        self._errors: dict[tuple[str, str], AgentCodeError] = {}

    @property
    def places(self) -> list[str]:
        """The places where the child has to wait for an answer."""
        return sorted(self._debugger.possible_holds | ({"before model", "before tool"} if self._replay is not None else set()))

    @property
    def needs_state(self) -> bool:
        """Whether a breakpoint's condition reads state."""
        return self._debugger.breakpoints.use_state

    def failure(self, fields: Mapping[str, Any]) -> AgentCodeError:
        """Return a run's failure; the same object that a place reported before, so that it is not held twice."""
        error = error_from_child(fields)
        return self._errors.get((type(error).__name__, str(error)), error)

    def committed(self, event: Event, state_before: dict[str, Any] | None, run: _Shared | None = None, *, ahead: bool = False) -> None:
        """Record that an event of the run is committed, before the run yields it.

        Args:
            event: the event.
            state_before: the committed state before it, if a breakpoint needs it.
            run: see `run`, where the debugger has several runs.
            ahead: whether it was committed while the run is held.
        """
        if ahead:
            text = f"{event.author} ran ahead: it has committed an event while the run is held."
            self._debugger.tell(Report("ahead", text, event))
        if state_before is not None:
            self._debugger.know_state(state_before)
        if self._replay is not None:
            self._replay.committed(event)
        self._debugger.expect(event, self._debugger.calls.of_event(event, None, run))

    def run(self, session_id: str) -> _Shared:
        """Return what identifies the run in its session, as `AgentCall.run`."""
        return self._shared.setdefault(session_id, _Shared(None))

    async def at(self, message: Mapping[str, Any]) -> None:
        """Handle a place that the child reports; answer it if the child waits there.

        The answer is sent when the debugger lets the agent continue. If this is cancelled, nothing is sent.
        """
        fields = await self._at(message)
        if message.get("waits"):
            self._answer(message["at"], fields)

    async def _at(self, message: Mapping[str, Any]) -> dict[str, Any]:
        place = message["place"]
        context = self._context(message)
        if place == "agent start":
            await self._hold("agent start", self._debugger.calls.entered(context), message)
            return {}
        call = self._debugger.calls.of_context(context)
        if place == "inner event":
            event = parse_event(message["event"])
            await self._debugger.take_inner_event(event, self._debugger.calls.of_event(event, None), _call_ids(context.shared))
            return {}
        if place == "agent end":
            await self._hold("agent end", call, message)
            self._debugger.calls.left(context)
            self._contexts.pop(message.get("call") or 0, None)
            return {}
        if place == "after tool":
            if self._debugger.hold is not None:
                text = f"{message['tool']} has returned; its result is committed when the run continues."
                self._debugger.tell(Report("arrived", text))
            return {}
        error = self._error(message)
        recorded = self._replay.answer(message) if self._replay is not None and context.shared.outer is None else None
        if recorded is not None:
            return recorded
        return await (self._at_model if message.get("kind") == "model" else self._at_tool)(message, call, error)

    async def _at_model(self, message: Mapping[str, Any], call: AgentCall | None, error: AgentCodeError | None) -> dict[str, Any]:
        held = ChildModelCall(message.get("request") or {}, error)
        if error is None and message.get("request") is not None:
            self._on_request(message["at"], held.request)
        await self._hold("before model" if error is None else "error", call, message, held_call=held, error=error)
        return held.answer_fields()

    async def _at_tool(self, message: Mapping[str, Any], call: AgentCall | None, error: AgentCodeError | None) -> dict[str, Any]:
        schema = partial(_schema, message.get("declaration"))
        held = ToolCall(message["tool"], message.get("call_id"), message.get("args") or {}, error, schema)
        await self._hold("before tool" if error is None else "error", call, message, tool=held.name, held_call=held, error=error)
        edits = held.edits
        fields: dict[str, Any] = {"edits": edits} if edits else {}
        if "arguments" in edits:
            fields["args"] = held.args
        if held.failure is not None:
            fields["raise"] = str(held.failure)
        if held.result is not None:
            fields["result"] = held.result
        return fields

    async def _hold(
        self,
        place: Place,
        call: AgentCall | None,
        message: Mapping[str, Any],
        *,
        tool: str = "",
        held_call: ModelCall | ToolCall | None = None,
        error: AgentCodeError | None = None,
    ) -> None:
        if not message.get("waits"):
            return
        stands_for = None
        if place not in ("agent start", "agent end"):
            stands_for = Event(
                author=message.get("agent") or "agent", branch=message.get("branch"), invocation_id=message.get("invocation_id") or ""
            )
            if isinstance(held_call, ToolCall):
                part = types.Part(function_call=types.FunctionCall(id=held_call.call_id, name=held_call.name, args=held_call.args))
                stands_for.content = types.Content(role="model", parts=[part])
            if error is not None:
                stands_for.error_code, stands_for.error_message = type(error).__name__, str(error)
        state = message.get("state")
        await self._debugger.hold_if_requested(place, call, stands_for=stands_for, state=state, tool=tool, held_call=held_call, error=error)

    def _context(self, message: Mapping[str, Any]) -> _Context:
        number = message.get("call") or 0
        context = self._contexts.get(number)
        if context is None:
            callers = message.get("callers") or ()
            context = _Context(
                _Agent(message.get("agent") or "agent"), message.get("branch"), len(callers) + 1, _Session(), self._shared_of(message)
            )
            self._contexts[number] = context
        # Only the keys that no event carries yet are known, so the committed state is empty.
        if message.get("waits"):
            context.session.state = dict(message.get("uncommitted") or {})
            outermost = next((one for one in self._contexts.values() if one.shared.outer is None), context)
            if context.shared.outer is None:
                outermost.session.state = context.session.state
        return context

    def _shared_of(self, message: Mapping[str, Any]) -> _Shared:
        session_id = message.get("session_id") or ""
        if session_id not in self._shared:
            outer = message.get("outer")
            caller = self._contexts.get(outer[0] or 0) if outer else None
            self._shared[session_id] = _Shared((caller, outer[1]) if outer and caller is not None else None)
        return self._shared[session_id]

    def _error(self, message: Mapping[str, Any]) -> AgentCodeError | None:
        if message.get("place") != "error":
            return None
        error = error_from_child(message.get("error") or {})
        return self._errors.setdefault((type(error).__name__, str(error)), error)


def _call_ids(shared: _Shared) -> tuple[str | None, ...]:
    """Return the ids of the function calls that lead to a run of an agent as a tool, the outermost first."""
    ids: list[str | None] = []
    while shared.outer is not None:
        ids.insert(0, shared.outer[1])
        shared = shared.outer[0].shared
    return tuple(ids)


def _schema(declaration: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the JSON schema of a tool's arguments; None if it declares no parameters."""
    if declaration is None:
        return None
    try:
        return parameters_schema(types.FunctionDeclaration.model_validate(declaration))
    except ValidationError:  # of a newer google-genai
        return None
