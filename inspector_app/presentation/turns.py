"""What each invocation of a session used: tokens, money, time. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector_app.presentation.costs import CostSum, ModelCall, cost_text
from inspector_app.presentation.spans import Span
from inspector_app.presentation.values import clock, duration, preview, visible

if TYPE_CHECKING:
    from runtime.events.event import Event


@dataclass(slots=True)
class Turn:
    """An invocation.

    Attributes:
        invocation_id: its id.
        first, last: positions of its first and last event.
        started: epoch seconds.
        text: the beginning of the person's message.
        used: its model calls' tokens and cost.
        model_seconds, tool_seconds: the summed times of its calls; calls beside each other count each.
        wait_seconds: how long it waited for a person.
        failures: number of calls that failed.
    """

    invocation_id: str
    first: int
    last: int
    started: float
    text: str = ""
    used: CostSum = field(default_factory=CostSum)
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    wait_seconds: float = 0.0
    failures: int = 0

    @property
    def cache_share(self) -> float | None:
        """The share of the input tokens that were read from a cache; None without input."""
        return self.used.tokens.cached / self.used.tokens.input if self.used.tokens.input else None


def turns_of(events: Sequence[Event], first: int, calls: Iterable[ModelCall], spans: Iterable[Span]) -> list[Turn]:
    """Return the invocations of events, in the order of their first events.

    Args:
        events: neighbouring events of a session.
        first: position of the first one.
        calls: the model calls whose tokens these report.
        spans: the calls and waits of these.
    """
    found: dict[str, Turn] = {}
    for index, event in enumerate(events, first):
        turn = found.get(event.invocation_id)
        if turn is None:
            turn = found[event.invocation_id] = Turn(event.invocation_id, index, index, event.timestamp)
        turn.last = index
        if not turn.text and event.author == "user":
            turn.text = _text(event)
    for call in calls:
        if call.invocation_id in found:
            found[call.invocation_id].used.add(call)
    for span in spans:
        if span.invocation_id in found:
            _add(found[span.invocation_id], span)
    return list(found.values())


def turn_text(number: int, turn: Turn) -> str:
    """Return the description of a turn, for its tooltip.

    Args:
        number: from 1.
        turn: the turn.
    """
    tokens = turn.used.tokens
    counts = f"{tokens.input:,} tokens in, {tokens.cached:,} of them cached · {tokens.output:,} out"
    lines = [
        f"Turn {number:,} · {clock(turn.started)}" + (f" · {visible(turn.text)}" if turn.text else ""),
        counts if turn.used.calls else "no tokens reported",
        f"cost {cost_text(turn.used)}" if turn.used.calls else "",
        f"model {duration(turn.model_seconds)} · tools {duration(turn.tool_seconds)}",
        f"waited {duration(turn.wait_seconds)} for a person" if turn.wait_seconds else "",
        f"{turn.failures} failed" if turn.failures else "",
    ]
    return "\n".join(filter(None, lines))


def _add(turn: Turn, span: Span) -> None:
    turn.failures += span.failed
    if span.end is None:
        return
    seconds = span.end - span.start
    if span.kind == "model":
        turn.model_seconds += seconds
    elif span.kind == "tool":
        turn.tool_seconds += seconds
    else:
        turn.wait_seconds += seconds


def _text(event: Event) -> str:
    parts = event.content.parts if event.content is not None and event.content.parts else ()
    return next((preview(part.text, 60) for part in parts if part.text), "")
