"""Alignment of two lists, in bounded time for any content.

Forks share their beginning, so the common beginning is aligned first. The rest is split at the items that occur exactly once in both
lists, along a longest increasing run of them (as in patience sorting), and recursively between them. Pieces without such items are usually
small and are aligned by the cheapest edit. Larger ones (thousands of similar items) are aligned greedily with a limited look-ahead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

Pair = tuple[int | None, int | None]  # two indices; None for a missing counterpart

_CELLS = 40_000  # in the largest table for one piece: all tables of two lists of n items have at most 200 n cells

_LOOK_AHEAD = 50
_DEEPEST = 30


class Item(NamedTuple):
    """An item of a list to align.

    Attributes:
        content: items with equal content are paired first.
        outline: items with equal outlines may be paired although their contents differ; others never are.
    """

    content: Hashable
    outline: Hashable


class _Piece(NamedTuple):
    left: int
    left_end: int
    right: int
    right_end: int


def align(left: Sequence[Item], right: Sequence[Item]) -> list[Pair]:
    """Return the indices of both lists, each once and in order, with corresponding items paired."""
    return list(_Alignment(left, right).piece(_Piece(0, len(left), 0, len(right)), 0))


class _Alignment:
    def __init__(self, left: Sequence[Item], right: Sequence[Item]) -> None:
        self._left = left
        self._right = right

    def piece(self, piece: _Piece, depth: int) -> Iterator[Pair]:
        i, i_end, j, j_end = piece
        while i < i_end and j < j_end and self._same(i, j):
            yield i, j
            i, j = i + 1, j + 1
        tail = 0
        while i < i_end - tail and j < j_end - tail and self._same(i_end - tail - 1, j_end - tail - 1):
            tail += 1
        middle = _Piece(i, i_end - tail, j, j_end - tail)
        anchors = self._anchors(middle) if depth < _DEEPEST else []
        if anchors:
            yield from self._round_anchors(middle, anchors, depth)
        elif (middle.left_end - i) * (middle.right_end - j) <= _CELLS:
            yield from self._cheapest(middle)
        else:
            yield from self._walk(middle)
        for number in range(tail, 0, -1):
            yield i_end - number, j_end - number

    def _same(self, i: int, j: int) -> bool:
        return self._left[i].content == self._right[j].content

    def _alike(self, i: int, j: int) -> bool:
        return self._left[i].outline == self._right[j].outline

    def _round_anchors(self, piece: _Piece, anchors: Sequence[tuple[int, int]], depth: int) -> Iterator[Pair]:
        i, j = piece.left, piece.right
        for i_anchor, j_anchor in anchors:
            yield from self.piece(_Piece(i, i_anchor, j, j_anchor), depth + 1)
            yield i_anchor, j_anchor
            i, j = i_anchor + 1, j_anchor + 1
        yield from self.piece(_Piece(i, piece.left_end, j, piece.right_end), depth + 1)

    def _anchors(self, piece: _Piece) -> list[tuple[int, int]]:
        """Return a longest run, in order in both parts, of items that occur once in each part."""
        left = Counter(item.content for item in self._left[piece.left : piece.left_end])
        right = Counter(item.content for item in self._right[piece.right : piece.right_end])
        places = {self._right[j].content: j for j in range(piece.right, piece.right_end) if right[self._right[j].content] == 1}
        common = [
            (i, places[self._left[i].content])
            for i in range(piece.left, piece.left_end)
            if left[self._left[i].content] == 1 and self._left[i].content in places
        ]
        return _longest_rising(common)

    def _cheapest(self, piece: _Piece) -> Iterator[Pair]:
        """Align a small piece: equal contents count most, equal outlines less."""
        i0, i_end, j0, j_end = piece
        rows, columns = i_end - i0, j_end - j0
        best = [[0] * (columns + 1) for _ in range(rows + 1)]
        for row in range(rows - 1, -1, -1):
            for column in range(columns - 1, -1, -1):
                pair = best[row + 1][column + 1] + self._worth(i0 + row, j0 + column)
                best[row][column] = max(pair, best[row + 1][column], best[row][column + 1])
        row = column = 0
        while row < rows and column < columns:
            worth = self._worth(i0 + row, j0 + column)
            if worth and best[row][column] == best[row + 1][column + 1] + worth:
                yield i0 + row, j0 + column
                row, column = row + 1, column + 1
            elif best[row][column] == best[row + 1][column]:
                yield i0 + row, None
                row += 1
            else:
                yield None, j0 + column
                column += 1
        yield from _alone(_Piece(i0 + row, i_end, j0 + column, j_end))

    def _worth(self, i: int, j: int) -> int:
        return 3 if self._same(i, j) else 1 if self._alike(i, j) else 0

    def _walk(self, piece: _Piece) -> Iterator[Pair]:
        i, i_end, j, j_end = piece
        while i < i_end and j < j_end:
            skip = self._next_match(_Piece(i, i_end, j, j_end))
            if skip is None:
                yield i, None
                yield None, j
                i, j = i + 1, j + 1
                continue
            yield from _alone(_Piece(i, i + skip[0], j, j + skip[1]))
            i, j = i + skip[0], j + skip[1]
            yield i, j
            i, j = i + 1, j + 1
        yield from _alone(_Piece(i, i_end, j, j_end))

    def _next_match(self, piece: _Piece) -> tuple[int, int] | None:
        """Return how many items to skip on either side so that the next two correspond."""
        i, i_end, j, j_end = piece
        for matches in (self._same, self._alike):
            for ahead in range(_LOOK_AHEAD):
                if i + ahead < i_end and matches(i + ahead, j):
                    return ahead, 0
                if j + ahead < j_end and matches(i, j + ahead):
                    return 0, ahead
        return None


def _alone(piece: _Piece) -> Iterator[Pair]:
    yield from ((i, None) for i in range(piece.left, piece.left_end))
    yield from ((None, j) for j in range(piece.right, piece.right_end))


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest subsequence of the pairs in which the second numbers increase; the first ones already do."""
    ends: list[int] = []  # the smallest last number of a run of each length
    at: list[int] = []  # the pair with that number
    before: list[int | None] = []
    for number, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        before.append(at[length - 1] if length else None)
        ends[length : length + 1] = [second]
        at[length : length + 1] = [number]
    run: list[tuple[int, int]] = []
    last = at[-1] if at else None
    while last is not None:
        run.append(pairs[last])
        last = before[last]
    return run[::-1]
