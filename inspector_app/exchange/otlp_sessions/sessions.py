"""Spans of agents as sessions with events."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from pydantic import ValidationError

from inspector_app.exchange.otlp_sessions.contents import Message, inputs_of, json_in, outputs_of, response_of
from inspector_app.exchange.otlp_sessions.runs import Node, author_of, branch_of, sessions_of, tool_name, top_of, traces_of, user_of
from inspector_app.support.otlp import OtlpSpan
from runtime.events.event import Event
from runtime.events.marks import NOT_CAPTURED
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey

_NOT_CAPTURED = {NOT_CAPTURED: True}
_TOKENS = {
    "prompt_token_count": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens"),
    "candidates_token_count": (
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
        "llm.token_count.completion",
        "llm.usage.completion_tokens",
    ),
    "cached_content_token_count": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
}
_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_CALL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "tool_arguments", "input.value", "traceloop.entity.input")
_RESULTS = ("gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "tool_response", "output.value", "traceloop.entity.output")
_NO_NAME = "unknown_service"  # begins the name that OpenTelemetry gives to a service without one
_NEAR = 20  # calls after a tool's, one of which was given its result
_MOST_TOKENS = 10**12


class TracedCall(NamedTuple):
    """A model call of a trace.

    Attributes:
        event: the event that its answer became.
        span: its span.
        asked, answered: the messages that it was given, and gave.
        usage: its tokens, by the names of an event's `usage_metadata`.
    """

    event: Event
    span: OtlpSpan
    asked: list[Message]
    answered: list[Message]
    usage: dict[str, int]


@dataclass(slots=True)
class Turn:
    """What one trace adds to one session.

    Attributes:
        key: the session.
        started: epoch seconds.
        events: its events.
        calls: its model calls.
        is_over: whether the trace's outermost span has ended.
        error: why the run failed; None if it did not.
    """

    key: SessionKey
    started: float
    events: list[Event] = field(default_factory=list)
    calls: list[TracedCall] = field(default_factory=list)
    is_over: bool = False
    error: str | None = None

    @property
    def end(self) -> RecordedEnd | None:
        """How the run ended; None if that has not arrived."""
        if not self.is_over or not self.events:
            return None
        last = self.events[-1]
        return RecordedEnd("failed" if self.error else "finished", self.error or "its trace is complete", last.id, last.timestamp)

    def add(self, name: str, at: float, author: str, invocation: str, parts: list[dict[str, Any]], **fields: Any) -> Event | None:
        """Add an event; None if its values are no event's."""
        role = "model" if author != "user" and not any("function_response" in part for part in parts) else "user"
        content = {"role": role, "parts": parts} if parts else None
        given = {"id": name[:100], "timestamp": at, "author": author, "invocation_id": invocation, "content": content, **fields}
        try:
            event = Event.model_validate({key: value for key, value in given.items() if value is not None})
        except ValidationError:
            return None
        self.events.append(event)
        return event


def turns_of(trace: Sequence[Node]) -> list[Turn]:
    """Return what a trace adds to each session that its spans are of.

    Args:
        trace: one of `traces_of`.
    """
    found = []
    for name, nodes in sessions_of(trace).items():
        if any(node.kind in ("model", "tool", "agent") for node in nodes):
            service = nodes[0].span.service
            app = "agent" if service.startswith(_NO_NAME) or not service else service
            turn = Turn(SessionKey(app, user_of(trace), name), nodes[0].span.started)
            _Reading(turn, nodes).add()
            tops = {top_of(node): None for node in nodes}
            turn.is_over = any(not [top, *top.chain()][-1].span.parent_id for top in tops)
            turn.error = next((top.span.error for top in tops if top.span.error), None)
            found.append(turn)
    return found


def joined(turns: Iterable[Turn], taken: Collection[str] = ()) -> list[Event]:
    """Return the events of a session's turns, each with an id of its own.

    Args:
        turns: the turns, in the order of their beginnings.
        taken: ids that the session has already.
    """
    ids = set(taken)
    events = []
    for event in (event for turn in turns for event in turn.events):
        while event.id in ids:
            event.id += "+"
        ids.add(event.id)
        events.append(event)
    return events


def sessions_of_spans(spans: Iterable[OtlpSpan], session: str | None = None) -> dict[SessionKey, list[Turn]]:
    """Return the turns of the sessions that spans are of, in the order of their beginnings.

    Args:
        spans: the spans, in any order; one that is there twice counts once.
        session: only the session with this id.
    """
    found: dict[tuple[str, str], list[Turn]] = {}
    for trace in traces_of(spans):
        for turn in turns_of(trace):
            if session in (None, turn.key.session_id):
                found.setdefault((turn.key.app_name, turn.key.session_id), []).append(turn)
    return {turns[0].key: turns for turns in found.values() if any(turn.events for turn in turns)}


def ends_of(turns: Iterable[Turn]) -> dict[str, RecordedEnd]:
    """Return invocation → how it ended, as far as that is known; the events have their ids, see `joined`."""
    return {turn.events[-1].invocation_id: end for turn in turns if (end := turn.end) is not None}


def copy_of(events: list[Event]) -> SessionCopy:
    """Return a session of these events as it is stored."""
    return SessionCopy(events, {}, None, {}, {}, [], {}, events[0].timestamp if events else 0.0, None, {})


class _Reading:
    """The spans of one trace that belong to one session, while they become its turn."""

    def __init__(self, turn: Turn, nodes: Sequence[Node]) -> None:
        self._turn = turn
        self._nodes = nodes
        self._invocation = nodes[0].span.trace_id[:100]
        self._tools = {call_id: node for node in nodes if node.kind == "tool" and (call_id := _call_id(node)) is not None}
        self._open: dict[str, tuple[str, Any]] = {}  # calls without a result: their names and arguments
        self._answered: set[str] = set()
        self._asked: set[str] = set()  # all texts so far, so that none is taken for the user's
        self._tops: set[Node] = set()
        self._calls = sorted((node for node in nodes if node.kind in ("model", "tool") and not node.is_merged), key=_known)

    def add(self) -> None:
        """Add the turn's events."""
        for place, node in enumerate(self._calls):
            if node.kind == "model":
                self._add_model(node, place)
            else:
                self._add_tool(node, place)
        if not self._calls:
            self._add_user(self._nodes[0], [])
        self._add_failures()

    def _add_user(self, node: Node, given: list[Message]) -> None:
        """Add what the user said, if a run begins with this call."""
        top = top_of(node)
        if branch_of(node) is not None or top in self._tops:
            return
        is_first = not self._tops
        self._tops.add(top)
        outer = [messages for one in reversed([node, *node.chain()]) if one is not node and one.kind and (messages := inputs_of(one.span))]
        for messages in [*outer, given]:
            said = [message for message in messages if message.role == "user" and message.text]
            if said and (is_first or (messages[-1] is said[-1] and said[-1].text not in self._asked)):
                text = said[-1].text
                self._asked.add(text)
                parts = [part for part in said[-1].parts if "text" in part]
                self._turn.add(f"{top.span.span_id}-user", top.span.started, "user", self._invocation, parts)
                return

    def _add_model(self, node: Node, place: int) -> None:
        within = [node, *(one for one in node.below if one.kind == "model" and one.is_merged)]
        given = next((found for one in within if (found := inputs_of(one.span))), [])
        self._add_user(node, given)
        self._add_unseen_results(node, given)
        messages = next((found for one in within if (found := outputs_of(one.span))), [])
        parts = [part for message in messages for part in message.parts if "function_response" not in part]
        author = author_of(node)
        has_content = any("text" in part or part["function_call"]["args"] is not None for part in parts)
        failed = node.span.error or next((one.span.error for one in within if one.span.error), None)
        if not parts and failed is None:
            parts = self._calls_after(place, author)
        for number, part in enumerate(parts):
            if (call := part.get("function_call")) is not None:
                call["id"] = call["id"] or f"{node.span.span_id[:60]}-{number}"
                self._open[call["id"]] = (call["name"], call["args"])
            elif "text" in part:
                self._asked.add(part["text"])
        usage = {name: count for name, names in _TOKENS.items() if (count := _count(node.known(names))) is not None}
        usage["total_token_count"] = usage.get("prompt_token_count", 0) + usage.get("candidates_token_count", 0)
        model = node.known(_MODELS)
        event = self._turn.add(
            node.span.span_id,
            _known(node)[0],
            author,
            self._invocation,
            parts,
            branch=branch_of(node),
            usage_metadata=usage if len(usage) > 1 else None,
            model_version=str(model) if model is not None else None,
            error_code="ERROR" if failed else None,
            error_message=failed,
            custom_metadata=None if has_content or failed is not None else _NOT_CAPTURED,
        )
        if event is not None:
            self._turn.calls.append(TracedCall(event, node.span, given, messages, usage))

    def _calls_after(self, place: int, author: str) -> list[dict[str, Any]]:
        """Return the calls of tools that ran after a model call whose own content is not there."""
        found = []
        branch = branch_of(self._calls[place])
        for one in islice(self._calls, place + 1, None):
            if one.kind == "model" and branch_of(one) == branch:
                break
            if one.kind == "tool" and branch_of(one) == branch and author_of(one) == author and _call_id(one) not in self._open:
                found.append({"function_call": {"id": _call_id(one), "name": tool_name(one.span), "args": _arguments(one)}})
        return found

    def _add_unseen_results(self, node: Node, given: list[Message]) -> None:
        """Add the results that only the next call's input has, because no span is of the tool."""
        parts = []
        for message in given:
            for result in message.results:
                call_id = result["id"]
                if (
                    call_id in self._open
                    and call_id not in self._answered
                    and call_id not in self._tools
                    and result["response"] is not None
                ):
                    self._answered.add(call_id)
                    name = self._open.pop(call_id)[0]
                    parts.append({"function_response": {**result, "name": name}})
        if parts:
            at = node.span.started
            self._turn.add(f"{node.span.span_id}-results", at, author_of(node), self._invocation, parts, branch=branch_of(node))

    def _add_tool(self, node: Node, place: int) -> None:
        name, call_id = tool_name(node.span), _call_id(node)
        if call_id is None or (call_id not in self._open and not node.span.attributes.get("gen_ai.tool.call.id")):
            call_id = self._called(name, _arguments(node)) or call_id
        if call_id in self._answered:
            return
        self._open.pop(call_id or "", None)
        if call_id is not None:
            self._answered.add(call_id)
        value = next((node.span.attributes[key] for key in _RESULTS if key in node.span.attributes), None)
        response = response_of(value) if value is not None else self._result_in_messages(node, call_id, place)
        if node.span.error is not None and "error" not in (response or {}):
            response = {"error": node.span.error, **(response or {})}
        part = {"function_response": {"id": call_id, "name": name, "response": response}}
        about = {"branch": branch_of(node), "custom_metadata": _NOT_CAPTURED if response is None else None}
        self._turn.add(node.span.span_id, node.span.ended, author_of(node), self._invocation, [part], **about)

    def _result_in_messages(self, node: Node, call_id: str | None, place: int) -> dict[str, Any] | None:
        """Return a tool's result from the span's own messages, or from what the next model call was given."""
        for message in outputs_of(node.span):
            if message.results:
                given: dict[str, Any] | None = message.results[0]["response"]
                return given
            if message.text:
                return response_of(message.text)
        for one in islice(self._calls, place + 1, place + 1 + _NEAR):
            if one.kind != "model" or call_id is None:
                continue
            for message in inputs_of(one.span):
                for result in message.results:
                    if result["id"] == call_id and result["response"] is not None:
                        found: dict[str, Any] = result["response"]
                        return found
        return None

    def _called(self, name: str, arguments: Any) -> str | None:
        """Return the open call of a tool whose span has no call's id: the one with its arguments, else the first one."""
        named = [call_id for call_id, (called, _) in self._open.items() if called == name]
        same = [call_id for call_id in named if arguments is not None and self._open[call_id][1] == arguments]
        return next(iter([*same, *named]), None)

    def _add_failures(self) -> None:
        """Add why the outermost run failed, if no model call says it."""
        said = {event.error_message for event in self._turn.events}
        author = author_of(next((one for one in self._nodes if one.kind == "agent"), self._nodes[0]))
        for node in self._nodes:
            error = node.span.error
            if error is not None and error not in said and node.kind not in ("model", "tool") and node is top_of(node):
                said.add(error)
                fields = {"error_code": "ERROR", "error_message": error}
                self._turn.add(f"{node.span.span_id}-failed", node.span.ended, author, self._invocation, [], **fields)


def _known(node: Node) -> tuple[float, float]:
    """Return when what a call gave was known, and when it began: a model's answer is known before the tools that it called begin."""
    inner: list[float] = []
    left = list(node.below) if node.kind == "model" else []
    while left:
        one = left.pop()
        if one.kind in ("tool", "agent"):
            inner.append(one.span.started)
        else:
            if one.kind == "model":
                inner.append(one.span.ended)
            left += one.below
    return min([node.span.ended, *inner]), node.span.started


def _call_id(node: Node) -> str | None:
    given = next((node.span.attributes[name] for name in _CALL_IDS if node.span.attributes.get(name)), None)
    if given is None:
        found = json_in(node.span.attributes.get("output.value"))
        data = found.get("data") if isinstance(found, Mapping) else None
        given = data.get("tool_call_id") if isinstance(data, Mapping) else None
    return str(given)[:200] if given is not None else None


def _arguments(node: Node) -> dict[str, Any] | None:
    found = json_in(next((node.span.attributes[name] for name in _ARGUMENTS if name in node.span.attributes), None))
    return dict(found) if isinstance(found, Mapping) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None
