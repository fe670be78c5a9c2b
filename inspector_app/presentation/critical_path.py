"""The critical path of an invocation: the calls that its length depends on. No Qt."""

from __future__ import annotations

from collections.abc import Iterable

from inspector_app.presentation.spans import Span

_CLOSE = 1e-6  # seconds by which times may differ that mean the same moment


def mark_critical_path(calls: Iterable[Span]) -> None:
    """Mark the calls on the critical path of one invocation.

    The path is followed from the end back: before the last call that ended, the call that ended last before it began, and so on. A call
    that ran beside one of these is not on it: making it faster would not make the invocation faster.

    Args:
        calls: model calls, tool calls and waits. Those that have not ended are not marked.
    """
    limit = float("inf")
    ended = ((span.end, span.end - span.start, span) for span in calls if span.end is not None)
    for end, _, span in sorted(ended, key=lambda entry: entry[:2], reverse=True):
        if end <= limit + _CLOSE:
            span.critical = True
            limit = min(limit, span.start)
