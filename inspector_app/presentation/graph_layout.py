"""The places of a graph's nodes: what belongs to a node is to its right, in the order in which it runs. No Qt."""

from __future__ import annotations

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
    count = len(node.below)
    following: list[list[int]] = [[] for _ in range(count)]
    for begin, end, _ in node.flow:
        if end not in following[begin]:
            following[begin].append(end)
    order, back = _order(following)
    depth = [0] * count
    for number in order:
        for after in following[number]:
            if (number, after) not in back:
                depth[after] = max(depth[after], depth[number] + 1)
    return [[number for number in range(count) if depth[number] == level] for level in range(max(depth, default=-1) + 1)]


def _order(following: list[list[int]]) -> tuple[list[int], set[tuple[int, int]]]:
    """Return the nodes, each before those that follow it, and the edges back that this leaves out."""
    state = [0] * len(following)  # 1 while its followers are visited, then 2
    order: list[int] = []
    back: set[tuple[int, int]] = set()
    for first in range(len(following)):
        if state[first]:
            continue
        state[first] = 1
        stack = [(first, iter(following[first]))]
        while stack:
            number, rest = stack[-1]
            after = next(rest, None)
            if after is None:
                state[number] = 2
                order.append(number)
                stack.pop()
            elif state[after] == 1:
                back.add((number, after))
            elif state[after] == 0:
                state[after] = 1
                stack.append((after, iter(following[after])))
    return order[::-1], back
