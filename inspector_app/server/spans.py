"""What runs did and how long it took, as the spans that google-adk's page shows as traces."""

from __future__ import annotations

import itertools
import json
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.events.credentials import without_credentials
from runtime.events.event import Event
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from runtime.agents.base_agent import BaseAgent
    from runtime.contexts.context import CallbackContext, ToolContext
    from runtime.contexts.invocation_context import InvocationContext
    from runtime.tools.base_tool import BaseTool

MAX_SPANS = 5_000  # of all runs together; each model call's has its whole request
_EVENT = "gcp.vertex.agent.event_id"


@dataclass(slots=True)
class Span:
    """A part of a run.

    Attributes:
        session_id: the run's session.
        trace_id, span_id, parent_id: the run, this part and the part around it.
        name: the kind of part and what it is about.
        start, end: nanoseconds since 1970; `end` is None while it lasts.
        attributes: with OpenTelemetry's and google-adk's names.
    """

    session_id: str
    trace_id: int
    parent_id: int | None
    name: str
    attributes: dict[str, Any]
    span_id: int = field(default_factory=lambda: secrets.randbits(53))  # JavaScript reads larger numbers wrongly
    start: int = field(default_factory=time.time_ns)
    end: int | None = None

    @property
    def json(self) -> dict[str, Any]:
        """The span in the form of google-adk's server."""
        return {
            "name": self.name,
            "start_time": self.start,
            "end_time": self.end,
            "trace_id": self.trace_id,
            "span_id": self.span_id,
            "parent_span_id": self.parent_id,
            "attributes": self.attributes,
            "logs": [],
        }


class SpanRecorder(BasePlugin):
    """Records the spans of an app's runs in memory.

    Args:
        most: how many spans are kept; the oldest are dropped.
    """

    def __init__(self, most: int = MAX_SPANS) -> None:
        super().__init__("agent_inspector_spans")
        self._most = most
        self._numbers = itertools.count()
        self._kept: OrderedDict[int, Span] = OrderedDict()
        self._open: OrderedDict[tuple[Any, ...], Span] = OrderedDict()  # those of a cancelled run are never finished
        self._waiting: dict[tuple[str, str, str | None], Span] = {}  # model calls whose event is not committed yet

    def of_session(self, session_id: str) -> list[dict[str, Any]]:
        """Return the finished spans of a session's runs, oldest first."""
        return [span.json for span in self._kept.values() if span.session_id == session_id and span.end is not None]

    def of_event(self, event_id: str) -> dict[str, Any] | None:
        """Return the attributes of the call that led to an event; None if there is none."""
        for span in reversed(self._kept.values()):
            if span.attributes.get(_EVENT) == event_id:
                return {**span.attributes, "trace_id": span.trace_id, "span_id": span.span_id}
        return None

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """See `BasePlugin`."""
        self._begin(invocation_context, ("run", invocation_context.invocation_id), "invocation", {})
        return None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """See `BasePlugin`."""
        self._end_run(invocation_context, None)

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        """See `BasePlugin`."""
        self._end_run(invocation_context, error)

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """See `BasePlugin`."""
        ctx = callback_context._invocation_context
        described = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent.name,
            "gen_ai.agent.description": agent.description,
        }
        self._begin(ctx, _agent(ctx, agent.name), f"invoke_agent {agent.name}", described, agent.parent_agent)
        return None

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> types.Content | None:
        """See `BasePlugin`."""
        self._finish(_agent(callback_context._invocation_context, agent.name))
        return None

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
        """See `BasePlugin`."""
        ctx, name = callback_context._invocation_context, callback_context.agent_name
        described = {
            "gen_ai.operation.name": "generate_content",
            "gen_ai.request.model": llm_request.model or "",
            "gen_ai.agent.name": name,
            "gcp.vertex.agent.llm_request": _request_text(llm_request),
        }
        span = self._begin(ctx, ("model", *_agent(ctx, name)), "call_llm", described, name)
        self._waiting[ctx.invocation_id, name, ctx.branch] = span
        return None

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
        """See `BasePlugin`."""
        ctx = callback_context._invocation_context
        if not llm_response.partial:
            span = self._finish(("model", *_agent(ctx, callback_context.agent_name)))
            if span is not None:
                span.attributes["gcp.vertex.agent.llm_response"] = llm_response.model_dump_json(exclude_none=True)
        return None

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        described = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool.name,
            "gen_ai.tool.description": tool.description,
            "gen_ai.tool.type": type(tool).__name__,
            "gen_ai.tool.call.id": tool_context.function_call_id or "",
            "gcp.vertex.agent.tool_call_args": _text(tool_args),
            "gcp.vertex.agent.llm_request": "{}",
            "gcp.vertex.agent.llm_response": "{}",
        }
        ctx = tool_context._invocation_context
        self._begin(ctx, ("tool", tool_context.function_call_id), f"execute_tool {tool.name}", described, tool_context.agent_name)
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        self._finish(("tool", tool_context.function_call_id))
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """See `BasePlugin`."""
        span = self._finish(("tool", tool_context.function_call_id))
        if span is not None:
            span.attributes["error.type"] = type(error).__name__
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """See `BasePlugin`: link calls to the events that they led to."""
        if event.partial:
            return None
        answered = {response.id for response in event.get_function_responses()}
        if answered:
            shown = without_credentials(event, shown=None)
            for span in self._kept.values():
                if span.attributes.get("gen_ai.tool.call.id") in answered and _EVENT not in span.attributes:
                    span.attributes[_EVENT] = event.id
                    span.attributes["gcp.vertex.agent.tool_response"] = shown.model_dump_json(exclude_none=True)
        else:
            call = self._waiting.pop((invocation_context.invocation_id, event.author, event.branch), None)
            if call is not None:
                call.attributes[_EVENT] = event.id
        return None

    def _begin(
        self, ctx: InvocationContext, key: tuple[Any, ...], name: str, described: dict[str, Any], below: BaseAgent | str | None = None
    ) -> Span:
        run = self._open.get(("run", ctx.invocation_id))
        around = self._open.get(_agent(ctx, below if isinstance(below, str) else below.name)) if below is not None else None
        parent = around or run
        attributes = {
            "gen_ai.conversation.id": ctx.session.id,
            "gcp.vertex.agent.session_id": ctx.session.id,
            "gcp.vertex.agent.invocation_id": ctx.invocation_id,
            **described,
        }
        trace_id = run.trace_id if run is not None else secrets.randbits(53)
        span = Span(ctx.session.id, trace_id, parent.span_id if parent is not None else None, name, attributes)
        self._open[key] = span
        self._kept[next(self._numbers)] = span
        for spans in (self._kept, self._open):
            while len(spans) > self._most:
                spans.popitem(last=False)
        return span

    def _finish(self, key: tuple[Any, ...]) -> Span | None:
        span = self._open.pop(key, None)
        if span is not None:
            span.end = time.time_ns()
        return span

    def _end_run(self, ctx: InvocationContext, error: Exception | None) -> None:
        """Finish a run and the parts that a failure left open."""
        run = self._open.get(("run", ctx.invocation_id))
        for key, span in list(self._open.items()):
            if run is not None and span.trace_id == run.trace_id:
                self._finish(key)
                if error is not None:
                    span.attributes["error.type"] = type(error).__name__
        for place in [place for place in self._waiting if place[0] == ctx.invocation_id]:
            del self._waiting[place]


def _agent(ctx: InvocationContext, name: str) -> tuple[Any, ...]:
    return ("agent", ctx.invocation_id, ctx.branch, name)


def _request_text(request: LlmRequest) -> str:
    config = request.config.model_dump(mode="json", exclude_none=True, exclude={"response_schema", "http_options"})
    contents = [content.model_dump(mode="json", exclude_none=True) for content in request.contents]
    return _text({"model": request.model, "config": config, "contents": contents})


def _text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return "<not serializable>"
