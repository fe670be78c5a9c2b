"""An agent and those below it, as JSON."""

from __future__ import annotations

from typing import Any

from .texts import text_of, type_name


def describe_agent(agent: Any, depth: int = 0) -> dict[str, Any]:
    """Return an agent or node and those below it as JSON."""
    model = getattr(agent, "model", None)
    described: dict[str, Any] = {
        "name": text_of(getattr(agent, "name", "") or type(agent).__name__),
        "type": type(agent).__name__,
        "description": text_of(getattr(agent, "description", "") or ""),
        "model": model if isinstance(model, str) else text_of(getattr(model, "model", "") or type_name(model)) if model else None,
        "tools": [tool_name(tool) for tool in getattr(agent, "tools", None) or ()],
        "sub_agents": [],
        "edges": [],
        "tool_agents": [],
    }
    if depth < 20:
        below = list(getattr(agent, "sub_agents", None) or ()) or graph_nodes(agent)
        described["sub_agents"] = [describe_agent(one, depth + 1) for one in below]
        described["edges"] = _graph_edges(agent, below)
        described["tool_agents"] = [
            describe_agent(tool.agent, depth + 1) for tool in getattr(agent, "tools", None) or () if _is_agent_tool(tool)
        ]
    return described


def _is_agent_tool(tool: Any) -> bool:
    return any(kind.__name__ == "AgentTool" for kind in type(tool).__mro__) and getattr(tool, "agent", None) is not None


def _graph_edges(agent: Any, nodes: list[Any]) -> list[dict[str, Any]]:
    """Return the edges of a workflow between its nodes: their numbers, and the route that an edge is for."""
    numbers = {id(node): number for number, node in enumerate(nodes)}
    found = []
    for edge in getattr(getattr(agent, "graph", None), "edges", None) or ():
        begin, end = (numbers.get(id(getattr(edge, name, None))) for name in ("from_node", "to_node"))
        if begin is not None and end is not None:
            route = getattr(edge, "route", None)
            routes = route if isinstance(route, (list, tuple)) else [] if route is None else [route]
            found.append({"from": begin, "to": end, "route": ", ".join(map(text_of, routes))})
    return found


def graph_nodes(agent: Any) -> list[Any]:
    """Return the nodes of a workflow, without its start; of other agents, none."""
    graph = getattr(agent, "graph", None)
    nodes = getattr(graph, "nodes", None) or ()
    nodes = nodes.values() if isinstance(nodes, dict) else nodes
    return [node for node in nodes if getattr(node, "name", None) not in (None, "", "__START__")]


def tool_name(tool: Any) -> str:
    """Return the name by which the model knows a tool, or the nearest to it."""
    return text_of(getattr(tool, "name", None) or getattr(tool, "__name__", None) or type_name(tool))
