"""An agent tree, or a workflow's nodes and edges, as a graph that can be drawn. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_NODES = 500  # of a graph; a larger one is cut off, and says so
_DEEPEST = 20  # levels below the root


@dataclass(slots=True)
class GraphNode:
    """An agent, or a node of a workflow.

    Attributes:
        name: its name.
        kind: its class, such as `LlmAgent`; empty if only events tell of it.
        tools: names of its tools.
        below: what belongs to it: sub-agents, nodes of a workflow, agents that it calls as tools.
        flow: (from, to, label): the order in which those below run, by their numbers in `below`; empty if the model decides.
        as_tool: whether the node above calls it as a tool.
        column, row: its place; see `graph_layout`.
    """

    name: str
    kind: str = ""
    tools: tuple[str, ...] = ()
    below: list[GraphNode] = field(default_factory=list)
    flow: list[tuple[int, int, str]] = field(default_factory=list)
    as_tool: bool = False
    column: int = 0
    row: float = 0.0

    def nodes(self) -> list[GraphNode]:
        """Return this node and all below it, each before those below it."""
        found = [self]
        for node in found:
            found += node.below
        return found


def graph_of(described: Mapping[str, Any]) -> GraphNode:
    """Return the graph of an agent.

    Args:
        described: the agent as data; see `AgentDescription.root`.
    """
    return _node(described, [MOST_NODES], 0)


def graph_of_events(events: Iterable[Event]) -> GraphNode | None:
    """Return a graph of the agents that are the authors of events, with the tools that they called; None without any.

    The first agent is the root. An agent is below the closest one in its branch, or else below the root.
    """
    nodes: dict[str, GraphNode] = {}
    tools: dict[str, dict[str, None]] = {}
    root: GraphNode | None = None
    for event in events:
        if event.author in ("user", "system") or (event.author not in nodes and len(nodes) >= MOST_NODES):
            continue
        if event.author not in nodes:
            node = nodes[event.author] = GraphNode(event.author)
            if root is None:
                root = node
            else:
                above = [name for name in (event.branch or "").split(".")[-_DEEPEST:] if name in nodes and name != event.author]
                nodes[above[-1] if above else root.name].below.append(node)
        for call in event.get_function_calls():
            tools.setdefault(event.author, {})[call.name or "?"] = None
    for name, called in tools.items():
        nodes[name].tools = tuple(called)
    return root


def _node(described: Mapping[str, Any], left: list[int], depth: int) -> GraphNode:
    left[0] -= 1
    node = GraphNode(_text(described.get("name")) or "agent", _text(described.get("type")), _texts(described.get("tools")))
    if depth >= _DEEPEST:
        return node
    numbers: dict[int, int] = {}  # number among the described → number in `below`
    for number, one in enumerate(_mappings(described.get("sub_agents"))):
        if left[0] > 0:
            numbers[number] = len(node.below)
            node.below.append(_node(one, left, depth + 1))
    node.flow = _flow(node, described, numbers)
    for one in _mappings(described.get("tool_agents")):
        if left[0] > 0:
            inner = _node(one, left, depth + 1)
            inner.as_tool = True
            node.below.append(inner)
    return node


def _flow(node: GraphNode, described: Mapping[str, Any], numbers: Mapping[int, int]) -> list[tuple[int, int, str]]:
    count = len(node.below)
    if node.kind == "SequentialAgent":
        return [(number, number + 1, "") for number in range(count - 1)]
    if node.kind == "LoopAgent":
        return [*((number, number + 1, "") for number in range(count - 1)), *([(count - 1, 0, "again")] if count else [])]
    found: list[tuple[int, int, str]] = []
    for edge in _mappings(described.get("edges")):
        begin, end = numbers.get(_number(edge.get("from"))), numbers.get(_number(edge.get("to")))
        if begin is not None and end is not None:
            found.append((begin, end, _text(edge.get("route"))[:40]))
    return found


def _mappings(value: object) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, Sequence) and not isinstance(value, str) else []


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(one) for one in value) if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _number(value: object) -> int:
    return value if isinstance(value, int) else -1
