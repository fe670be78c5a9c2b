"""What spans are: runs of agents, calls of models and tools, and where they stand in their trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector_app.exchange.otlp_sessions.contents import json_in
from inspector_app.support.otlp import OtlpSpan

_KINDS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "response"), "model"),
    **dict.fromkeys(("execute_tool", "tool"), "tool"),
    **dict.fromkeys(("invoke_agent", "agent"), "agent"),
    **dict.fromkeys(("chain", "invoke_workflow", "invoke_swarm", "invoke_graph"), "other"),
    "llm": "model",
}
_OLD_NAMES = {"call_llm": "model", "running tool": "tool", "agent run": "agent", "invocation": "other", "workflow.run": "other"}
_SESSIONS = ("gen_ai.conversation.id", "gcp.vertex.agent.session_id", "session.id", "traceloop.association.properties.session_id")
_USERS = ("user.id", "enduser.id")
_LONGEST_ID = 1_000  # characters of a session's id
_DEEPEST = 200  # spans inside one another; a deeper one is taken for an outermost one
_LATEST = 250_000_000_000.0  # epoch seconds; a span that ended later has no time


@dataclass(eq=False, slots=True)
class Node:
    """A span in its trace.

    Attributes:
        span: the span.
        kind: `model`, `tool`, `agent` or `other`; empty for a span of no agent.
        above: the span it ran in, if that arrived.
        below: the spans that ran in it, in the order of their beginnings.
    """

    span: OtlpSpan
    kind: str
    above: Node | None = None
    below: list[Node] = field(default_factory=list)

    @property
    def is_merged(self) -> bool:
        """Whether it only says what another span says too: the same call again inside a call, or google-adk's sum of parallel calls."""
        if self.kind == "tool" and self.span.name.endswith("(merged)"):
            return True
        for each in self.chain():
            if each.kind == "agent" or (each.kind in ("model", "tool") and each.kind != self.kind):
                return False
            if each.kind == self.kind and self.kind in ("model", "tool"):
                return self.kind == "model" or tool_name(each.span) == tool_name(self.span)
        return False

    def chain(self) -> Iterator[Node]:
        """Yield the spans it ran in, the nearest first."""
        node = self.above
        while node is not None:
            yield node
            node = node.above

    def known(self, names: Sequence[str]) -> Any:
        """Return the first value of some attributes, its own or of the same call inside it."""
        value = first(self.span.attributes, names)
        if value is None and self.kind == "model":
            value = next((found for one in self.below if one.is_merged and (found := one.known(names)) is not None), None)
        return value


def first(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first value that is there."""
    return next((given[name] for name in names if given.get(name) not in (None, "")), None)


def tool_name(span: OtlpSpan) -> str:
    """Return the name of a tool's span."""
    named = first(span.attributes, ("gen_ai.tool.name", "tool.name", "traceloop.entity.name"))
    return str(named or span.name.removeprefix("execute_tool ").removeprefix("running tool: "))


def traces_of(spans: Iterable[OtlpSpan]) -> list[list[Node]]:
    """Return the traces that have calls of agents, each with its spans from the first to the last, in the order of their beginnings."""
    traces: dict[str, dict[str, Node]] = {}
    for span in spans:
        if span.ended > _LATEST:
            continue
        nodes = traces.setdefault(span.trace_id, {})
        nodes.setdefault(span.span_id, Node(span, _kind(span)))
    found = []
    for nodes in traces.values():
        for node in nodes.values():
            above = nodes.get(node.span.parent_id)
            if above is not None and above is not node:
                node.above = above
        _cut_rings(nodes.values())
        depth: dict[Node, int] = {}
        for node in nodes.values():
            steps = [node]
            while steps[-1] not in depth and steps[-1].above is not None:
                steps.append(steps[-1].above)
            for one in reversed(steps):
                if one not in depth:
                    depth[one] = depth[one.above] + 1 if one.above is not None else 0
                if depth[one] > _DEEPEST:
                    one.above, depth[one] = None, 0
        ordered = sorted(nodes.values(), key=lambda node: (node.span.started, depth[node], -node.span.ended))
        for node in ordered:
            if node.above is not None:
                node.above.below.append(node)
        if any(node.kind in ("model", "tool", "agent") for node in ordered):
            found.append(ordered)
    return sorted(found, key=lambda nodes: nodes[0].span.started)


def sessions_of(trace: Sequence[Node]) -> dict[str, list[Node]]:
    """Return the spans of a trace by the id of the session they belong to: the trace's own id if it names none.

    A run inside a call belongs to the outer session, also if it names one of its own.
    """
    first_named = next((found for one in trace if (found := _session(one)) is not None), None) or trace[0].span.trace_id.strip() or "trace"
    named: dict[str, list[Node]] = {}
    for node in trace:
        if node.kind:
            named.setdefault(_outer_session(node) or first_named[:_LONGEST_ID], []).append(node)
    return named


def _outer_session(node: Node) -> str | None:
    chain = [node, *node.chain()]
    if not chain[-1].span.parent_id:
        for one in reversed(chain):
            if (found := _session(one)) is not None:
                return found
    return None


def user_of(trace: Sequence[Node]) -> str:
    """Return who used the agent."""
    return next((str(found)[:_LONGEST_ID] for one in trace if (found := first(one.span.attributes, _USERS)) is not None), "user")


def author_of(node: Node) -> str:
    """Return the agent that a span is of, as far as the trace says."""
    for one in (node, *node.chain()):
        named = first(one.span.attributes, ("gen_ai.agent.name", "agent.name", "agent_name"))
        if named is None and one.kind == "agent" and one.span.name.startswith("invoke_agent "):
            named = one.span.name.removeprefix("invoke_agent ")
        if isinstance(named, str) and named and named != "user":
            return named
    return _graph(node) or "agent"


def branch_of(node: Node) -> str | None:
    """Return where a run inside a call ran; None for the outer run."""
    agents: list[str] = []
    tool = next((one for one in node.chain() if one.kind == "tool"), None)
    if tool is None:
        return None
    while tool is not None:
        agents.append(author_of(tool))
        tool = next((one for one in tool.chain() if one.kind == "tool"), None)
    return ".".join([*reversed(agents), author_of(node)])


def top_of(node: Node) -> Node:
    """Return the outermost span of agents that a span ran in."""
    found = node
    for one in node.chain():
        if one.kind:
            found = one
    return found


def _kind(span: OtlpSpan) -> str:
    given = span.attributes
    said = first(given, ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind", "llm.request.type"))
    name = span.name.partition(":")[0]
    if said is None:
        return _OLD_NAMES.get(name, "")
    said = str(said).lower()
    if said == "agent" and "langgraph_node" in str(given.get("metadata")):
        return "other"  # a node of a graph
    return _KINDS.get(said, _OLD_NAMES.get(name, "other"))


def _session(node: Node) -> str | None:
    given = first(node.span.attributes, _SESSIONS) if node.kind else None
    return str(given) if isinstance(given, (str, int)) and str(given).strip() and len(str(given)) <= _LONGEST_ID else None


def _graph(node: Node) -> str | None:
    """Return the name of LangGraph's graph that a span ran in: the nearest span that is at another place than the span's own node."""
    place = _place(node)
    if place is None:
        return None
    return next((one.span.name for one in node.chain() if one.kind == "other" and _place(one) != place), place[0])


def _place(node: Node) -> tuple[str, str] | None:
    about = json_in(node.span.attributes.get("metadata"))
    if not isinstance(about, Mapping) or not isinstance(about.get("langgraph_node"), str):
        return None
    return about["langgraph_node"], str(about.get("langgraph_checkpoint_ns"))


def _cut_rings(nodes: Any) -> None:
    """Make an outermost span of one in each ring of spans that name each other as the outer one."""
    done: set[Node] = set()
    for node in nodes:
        path: set[Node] = set()
        one = node
        while one is not None and one not in done:
            path.add(one)
            if one.above in path:
                one.above = None
            one = one.above
        done |= path
