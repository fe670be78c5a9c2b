"""Agent graphs: from an agent's description or from events, their layout, and what each agent did."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector_app.engines.adk_worker.plugin_file import plugin
from inspector_app.presentation.agent_graph import MOST_NODES, GraphNode, graph_of, graph_of_events
from inspector_app.presentation.agent_sums import agent_sums
from inspector_app.presentation.costs import model_calls
from inspector_app.presentation.graph_layout import lay_out
from inspector_app.presentation.prices import Prices
from inspector_app.presentation.spans import activity
from runtime.agents.llm_agent import LlmAgent
from runtime.agents.loop_agent import LoopAgent
from runtime.agents.parallel_agent import ParallelAgent
from runtime.agents.sequential_agent import SequentialAgent
from runtime.events.event import Event
from runtime.tools.agent_tool import AgentTool
from tests.recorded_desk import KEY, desk


def find_order(number: int) -> str:
    """Find an order."""
    return str(number)


def places(root: GraphNode) -> dict[str, tuple[int, float]]:
    lay_out(root)
    return {node.name: (node.column, node.row) for node in root.nodes()}


def test_an_agents_tree_has_its_tools_and_the_agents_that_it_calls_as_tools() -> None:
    judge = LlmAgent(name="judge", model="m")
    root = LlmAgent(name="desk", model="m", tools=[find_order, AgentTool(judge)], sub_agents=[LlmAgent(name="shipping", model="m")])
    graph = graph_of(plugin.describe_agent(root))
    assert (graph.name, graph.kind, graph.tools) == ("desk", "LlmAgent", ("find_order", "judge"))
    assert [(node.name, node.as_tool) for node in graph.below] == [("shipping", False), ("judge", True)]
    assert places(graph) == {"desk": (0, 0.5), "shipping": (1, 0.0), "judge": (1, 1.0)}


def test_agents_in_a_row_have_columns_one_after_another() -> None:
    def agent(name: str) -> LlmAgent:
        return LlmAgent(name=name, model="m")

    fan = ParallelAgent(name="fan", sub_agents=[agent("north"), agent("south")])
    loop = LoopAgent(name="loop", sub_agents=[agent("writer"), agent("critic")])
    graph = graph_of(plugin.describe_agent(SequentialAgent(name="all", sub_agents=[fan, loop, agent("last")])))
    found = places(graph)
    assert [found[name][0] for name in ("all", "fan", "north", "south", "loop", "writer", "critic", "last")] == [0, 1, 2, 2, 3, 4, 5, 6]
    assert graph.below[1].flow == [(0, 1, ""), (1, 0, "again")]


def described(name: str, *below: dict[str, Any], edges: list[tuple[int, int, str]] | None = None) -> dict[str, Any]:
    made = [{"from": begin, "to": end, "route": route} for begin, end, route in edges or []]
    return {"name": name, "type": "Workflow", "tools": [], "sub_agents": list(below), "edges": made}


def test_a_workflows_nodes_follow_its_edges() -> None:
    nodes = [described(name) for name in ("classify", "refund", "ship", "join")]
    graph = graph_of(described("flow", *nodes, edges=[(0, 1, "refund"), (0, 2, "ship"), (1, 3, ""), (2, 3, ""), (3, 0, "again")]))
    assert places(graph) == {"flow": (0, 0.5), "classify": (1, 0.0), "refund": (2, 0.0), "ship": (2, 1.0), "join": (3, 0.0)}


def test_a_node_that_is_named_first_may_run_last() -> None:
    nodes = [described(name) for name in ("join", "left", "right")]
    graph = graph_of(described("flow", *nodes, edges=[(1, 0, ""), (2, 0, "")]))
    assert places(graph) == {"flow": (0, 0.5), "left": (1, 0.0), "right": (1, 1.0), "join": (2, 0.0)}


@given(st.recursive(st.just([]), lambda below: st.lists(below, max_size=4), max_leaves=40), st.data())
def test_no_two_nodes_have_the_same_place(shape: list[Any], data: st.DataObject) -> None:
    def node(shape: list[Any]) -> GraphNode:
        made = GraphNode("n", below=[node(one) for one in shape])
        if made.below:
            numbers = st.integers(0, len(made.below) - 1)
            made.flow = [(begin, end, "") for begin, end in data.draw(st.lists(st.tuples(numbers, numbers), max_size=6))]
        return made

    root = node(shape)
    columns, rows = lay_out(root)
    found = root.nodes()
    boxes = sorted((one.column, one.row) for one in found)
    assert all(later[0] > one[0] or later[1] - one[1] >= 1 for one, later in pairwise(boxes))
    assert all(0 <= one.column < columns and 0 <= one.row <= rows - 1 for one in found)


def test_a_wrong_description_is_drawn_as_far_as_it_goes() -> None:
    graph = graph_of({"name": None, "tools": "x", "sub_agents": [3, {"name": 7}], "edges": [{"from": "a", "to": 9}, None]})
    assert [node.name for node in graph.nodes()] == ["agent", "7"]
    many = graph_of(described("all", *[described(str(number)) for number in range(3 * MOST_NODES)]))
    assert len(many.nodes()) == MOST_NODES


def test_without_the_agent_the_graph_has_the_authors_of_the_events() -> None:
    events = [
        Event(author="user", invocation_id="i"),
        Event(author="fan", invocation_id="i"),
        Event(author="north", invocation_id="i", branch="fan.north"),
        Event(author="helper", invocation_id="i", branch="fan.north.helper"),
    ]
    root = graph_of_events(events)
    assert root is not None
    assert [(node.name, [below.name for below in node.below]) for node in root.nodes()] == [
        ("fan", ["north"]),
        ("north", ["helper"]),
        ("helper", []),
    ]
    assert graph_of_events(events[:1]) is None


def test_each_agents_events_failures_tokens_and_tools_are_counted() -> None:
    events = desk().events
    sums = agent_sums(events, 0, model_calls(KEY, events, Prices()), activity(events).calls, {"desk", "shipping"})
    assert (sums["desk"].events, sums["desk"].failures, sums["desk"].newest) == (10, 1, 16)
    assert (sums["shipping"].used.tokens.input, sums["shipping"].used.calls) == (3030, 2)
    assert (sums["shipping"].tools["track"].calls, sums["desk"].tools["check_stock"].failures) == (2, 1)
    assert "tokens · $0.00" in sums["desk"].usage


def test_an_event_of_an_unknown_author_counts_for_the_last_known_node_of_its_path() -> None:
    event = Event.model_validate({"author": "inner", "invocation_id": "i", "node_info": {"path": "flow@1/classify@2/inner@1"}})
    assert list(agent_sums([event], 0, (), (), {"flow", "classify"})) == ["classify"]
