"""The places of a graph's nodes: what belongs to a node is to its right, in the order in which it runs. No Qt."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from inspector_app.presentation.agent_graph import GraphNode


def lay_out(root: GraphNode) -> tuple[int, float]:
    """Give each node a column and a row.

    Nodes that run one after another have columns one after another; nodes beside each other, or between which a model chooses, have the
    same column. A node is in the middle of the rows of those below it. No two nodes have the same place.

    Returns:
        The number of columns and of rows.
    """
    return _place(root, 0, 0.0)


def _place(node: GraphNode, column: int, top: float) -> tuple[int, float]:
    """Place a node and those below it; return the column after the last, and the number of rows."""
    node.column, node.row = column, top
    end, high = column + 1, 1.0
    for layer in _layers(node):
        row, widest = top, end
        for number in layer:
            after, rows = _place(node.below[number], end, row)
            row += rows
            widest = max(widest, after)
        end, high = widest, max(high, row - top)
    node.row = top + (high - 1) / 2
    return end, high


def _layers(node: GraphNode) -> list[list[int]]:
    """Return the numbers of the nodes below, by the longest way to each from a first one; edges back to an earlier one do not count."""
    before: dict[int, list[int]] = {number: [] for number in range(len(node.below))}
    for begin, end, _ in node.flow:
        before[end].append(begin)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:  # an edge leads back: nodes are numbered in the order in which the edges name them
        order = list(before)
    depth: dict[int, int] = {}
    for number in order:
        depth[number] = max((depth[one] + 1 for one in before[number] if one in depth), default=0)
    return [[number for number in before if depth[number] == level] for level in range(max(depth.values(), default=-1) + 1)]
