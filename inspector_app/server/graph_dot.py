"""An app's agents and tools as graphs in Graphviz' DOT language, which google-adk's page draws."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.agents.loop_agent import LoopAgent
from runtime.agents.parallel_agent import ParallelAgent
from runtime.agents.sequential_agent import SequentialAgent
from runtime.tools.agent_tool import AgentTool

_GREY, _DARK_GREEN, _LIGHT_GREEN = "#cccccc", "#0F5223", "#69CB87"
_GROUPS = ((SequentialAgent, "Sequential Agent"), (LoopAgent, "Loop Agent"), (ParallelAgent, "Parallel Agent"))
_ICONS = {"agent": ("✦", "#42A5F5"), "tool": ("🔧", "#6B7280")}

Pair = tuple[str, str]


async def agents_graph(root: BaseAgent, highlighted: Collection[Pair] = (), *, is_dark: bool = True) -> str:
    """Return the agents, the tools of LlmAgents and the groups of workflow agents, with some edges and their ends highlighted.

    Args:
        root: the root agent.
        highlighted: pairs of names, caller first.
        is_dark: whether the page is dark.
    """
    background = "#333537" if is_dark else "#ffffff"
    lines = [f'\tgraph [bgcolor="{background}" rankdir=LR]', *[line async for line in _agent_lines(root, highlighted)]]
    return "strict digraph {\n" + "\n".join(lines) + "\n}\n"


async def _agent_lines(agent: BaseAgent, highlighted: Collection[Pair]) -> Any:
    group = next((title for kind, title in _GROUPS if isinstance(agent, kind)), None)
    if group is not None:
        name = f"{agent.name} ({group})"
        yield f"\tsubgraph {_quoted('cluster_' + name)} {{"
        yield f'\t\tgraph [label={_quoted(name)} color="#ffffff" fontcolor="{_GREY}" style=rounded]'
        for below in agent.sub_agents:
            async for line in _agent_lines(below, highlighted):
                yield f"\t{line}"
        for pair in _order(agent):
            yield f"\t{_edge(pair, highlighted, is_directed=True)}"
        yield "\t}"
        return
    yield _node(agent.name, "🤖", "ellipse", highlighted)
    for below in agent.sub_agents:
        async for line in _agent_lines(below, highlighted):
            yield line
        yield _edge((agent.name, below.name), highlighted)
    if isinstance(agent, LlmAgent):
        for tool in await agent.canonical_tools():
            yield _node(tool.name, "🤖" if isinstance(tool, AgentTool) else "🔧", "box", highlighted)
            yield _edge((agent.name, tool.name), highlighted)


def _order(agent: BaseAgent) -> Iterator[Pair]:
    """Yield which agent of a group runs after which."""
    names = [below.name for below in agent.sub_agents]
    if isinstance(agent, ParallelAgent) or not names:
        return
    yield from pairwise(names)
    if isinstance(agent, LoopAgent):
        yield names[-1], names[0]


def _node(name: str, icon: str, shape: str, highlighted: Collection[Pair]) -> str:
    label = f"label={_quoted(f'{icon} {name}')}"
    colours, style = f'color="{_GREY}"', "rounded"
    if any(name in pair for pair in highlighted):
        colours, style = f'color="{_DARK_GREEN}" fillcolor="{_DARK_GREEN}"', '"filled,rounded"'
    return f'\t{_quoted(name)} [{label} {colours} fontcolor="{_GREY}" shape={shape} style={style}]'


def _edge(pair: Pair, highlighted: Collection[Pair], *, is_directed: bool = False) -> str:
    ends = f"\t{_quoted(pair[0])} -> {_quoted(pair[1])}"
    if pair in highlighted:
        return f'{ends} [color="{_LIGHT_GREEN}"]'
    if pair[::-1] in highlighted:
        return f'{ends} [color="{_LIGHT_GREEN}" dir=back]'
    return f'{ends} [color="{_GREY}"]' if is_directed else f'{ends} [arrowhead=none color="{_GREY}"]'


def tree_graph(root: dict[str, Any], *, is_dark: bool) -> str:
    """Return a tree of agents and their tools.

    Args:
        root: from `agent_tree`.
        is_dark: whether the page is dark.
    """
    background, fill, line, text, arrow = (
        ("#0F172A", "#1E293B", "#475569", "#F8FAFC", "#94A3B8") if is_dark else ("#F8FAFC", "#FFFFFF", "#94A3B8", "#0F172A", "#64748B")
    )
    lines = [
        f'\tgraph [bgcolor="{background}" fontname=Helvetica nodesep=0.5 pad=0.5 ranksep=0.8 splines=spline]',
        f'\tnode [color="{line}" fillcolor="{fill}" fontcolor="{text}" fontname=Helvetica fontsize=12 margin="0.25,0.15"'
        ' penwidth=1.5 shape=rect style="rounded,filled"]',
        f'\tedge [arrowhead=vee arrowsize=0.7 color="{arrow}" fontcolor="{arrow}" fontname=Helvetica fontsize=10 penwidth=1.2]',
        *dict.fromkeys(_tree_lines(root)),
    ]
    return "digraph {\n" + "\n".join(lines) + "\n}\n"


def _tree_lines(agent: dict[str, Any]) -> Iterator[str]:
    yield f"\t{_quoted(agent['name'])} [label={_icon_label('agent', agent['name'])} tooltip=Agent]"
    for tool in agent.get("tools", []):
        yield f'\t{_quoted(tool["name"])} [label={_icon_label("tool", tool["name"])} style="rounded,filled,dashed" tooltip=Tool]'
        yield f"\t{_quoted(agent['name'])} -> {_quoted(tool['name'])} [style=dashed]"
    for below in agent.get("sub_agents", []):
        yield from _tree_lines(below)
        yield f"\t{_quoted(agent['name'])} -> {_quoted(below['name'])}"


def _icon_label(kind: str, name: str) -> str:
    icon, colour = _ICONS[kind]
    return f'<<FONT COLOR="{colour}" POINT-SIZE="14">{icon}</FONT> {html.escape(name)}>'


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'
