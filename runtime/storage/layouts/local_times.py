"""Estimation of the UTC offset of a v0 file's local times, which the file does not record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runtime.storage.layouts.column_values import read_time

_QUARTER = 15 * 60 * 1_000_000  # microseconds; time zones differ from UTC by whole quarters of an hour
_LEAST, _MOST = -12 * 4 * _QUARTER, 14 * 4 * _QUARTER


def utc_offset(sessions: Iterable[tuple[Any, Any]]) -> int:
    """Return the microseconds by which the writer's local time was ahead of UTC.

    A session's creation time is stored in UTC; its first event, some time later, is stored in local time. The smallest difference over
    all sessions is closest to the offset.

    Args:
        sessions: `create_time` (UTC) and the first event's `timestamp` (local) of every session that has events.
    """
    ahead = []
    for created, first in sessions:
        try:
            ahead.append(read_time(first) - read_time(created))
        except ValueError:
            continue
    likely = [lead for lead in ahead if _LEAST <= lead <= _MOST + _QUARTER]
    return (min(likely) + _QUARTER // 2) // _QUARTER * _QUARTER if likely else 0


def offset_text(offset: int) -> str:
    """Return an offset such as `UTC+05:30`."""
    minutes = abs(offset) // 60_000_000
    return f"UTC{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" if offset else "UTC"
