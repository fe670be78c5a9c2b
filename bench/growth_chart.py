"""A growth curve as a small SVG: how a figure grows with the number of events, both on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 480, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 100, 34, 34
COLOURS = ("#0b6bcb", "#8a5a00")


class Curve(NamedTuple):
    """A named curve: pairs of events and figure, all above 0."""

    name: str
    points: Sequence[tuple[float, float]]


def growth_chart(title: str, curves: Sequence[Curve]) -> str:
    """Return the chart as SVG.

    Args:
        title: what is measured, with its unit.
        curves: with at least one point in all.
    """
    across = _Axis([x for curve in curves for x, _ in curve.points], LEFT, WIDTH - RIGHT)
    up = _Axis([max(y, 1e-3) for curve in curves for _, y in curve.points], HEIGHT - BOTTOM, TOP)
    parts = [_text(LEFT, 18, title, weight="bold")]
    for value in across.marks:
        parts.append(_line(across.at(value), TOP, across.at(value), HEIGHT - BOTTOM))
        parts.append(_text(across.at(value), HEIGHT - 12, f"{value:,.0f}", anchor="middle"))
    for value in up.marks:
        parts.append(_line(LEFT, up.at(value), WIDTH - RIGHT, up.at(value)))
        parts.append(_text(LEFT - 6, up.at(value) + 4, f"{value:,.10g}", anchor="end"))
    for curve, colour in zip(curves, COLOURS, strict=False):
        places = [(across.at(x), up.at(max(y, 1e-3))) for x, y in curve.points]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    parts += _names(curves, [up.at(max(curve.points[-1][1], 1e-3)) for curve in curves])
    body = "\n".join(parts)
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n'
    )


class _Axis:
    """A logarithmic axis over whole powers of ten."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        self._low = math.floor(math.log10(min(values)))
        self._high = max(math.ceil(math.log10(max(values))), self._low + 1)
        self._first, self._last = first, last
        self.marks = [10.0**power for power in range(self._low, self._high + 1)]

    def at(self, value: float) -> float:
        return self._first + (math.log10(value) - self._low) / (self._high - self._low) * (self._last - self._first)


def _names(curves: Sequence[Curve], heights: list[float]) -> list[str]:
    """Return each curve's name beside its end, apart from the other."""
    if len(heights) == 2 and abs(heights[0] - heights[1]) < 13:
        middle, sign = sum(heights) / 2, 1 if heights[0] >= heights[1] else -1
        heights = [middle + sign * 6.5, middle - sign * 6.5]
    ends = [f"{curve.name[:9]} {curve.points[-1][1]:,.3g}" for curve in curves]
    pairs = zip(ends, heights, COLOURS, strict=False)
    return [_text(WIDTH - RIGHT + 8, height + 4, name, colour=colour) for name, height, colour in pairs]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#d0d0d0"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#202020", weight: str = "normal") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">{escape(text)}</text>'
