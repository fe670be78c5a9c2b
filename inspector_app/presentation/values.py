"""Values, texts and times in readable form: shortened, on one line, without invisible characters. Pure, no Qt.

All content from an agent or another program's database passes through here before it is displayed. Control characters that move the cursor
and bidirectional marks that reorder a line (the Trojan-source trick) are written out, and no value is read further than it is displayed.
"""

from __future__ import annotations

import html
import json
import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from runtime.sessions.temp_trace import NotStored
from runtime.support.visible_text import visible as visible
from runtime.support.visible_text import visible_lines as visible_lines

_PLAIN_KEY = re.compile(r"[^\W\d][\w.:-]*\Z")
_MAX_DEPTH = 6


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 event`, `2,000 events`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def ordinal(number: int) -> str:
    """Return a number as an ordinal: 1st, 2nd, 11th, 1,003rd."""
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def preview(value: Any, limit: int = 120) -> str:
    """Return a value on one line, like a JavaScript literal: `{sku: "PA4-80", price: 4.2}`, shortened with `…`.

    Args:
        value: JSON data; of any other object, only the type is shown, so that none of its code runs.
        limit: approximate maximum length in characters. Containers that would be cut in the middle show their number of keys.
    """
    pieces: list[str] = []
    left = _write(value, pieces, limit, 0)
    text = "".join(pieces)
    return text if left >= 0 and len(text) <= limit else text[: max(limit - 1, 1)].rstrip(", ") + "…"


def shown_key(key: str) -> str:
    """Return a key, shortened, with invisible characters written out; the empty key as `""`, so that it is visible."""
    return visible(key[:200]) or '""'


def _write(value: Any, pieces: list[str], left: int, depth: int) -> int:
    """Append the value's text to `pieces`; return how many characters are left, negative if it was cut."""
    if isinstance(value, dict):
        return _write_items(value.items(), "{", "}", len(value), "keys", pieces, left, depth)
    if isinstance(value, (list, tuple)):
        return _write_items(((None, item) for item in value), "[", "]", len(value), "items", pieces, left, depth)
    text = _scalar(value, left)
    pieces.append(text)
    return left - len(text)


def _write_items(items: Any, opening: str, closing: str, count: int, noun: str, pieces: list[str], left: int, depth: int) -> int:
    if depth >= _MAX_DEPTH or (depth > 0 and count > 20):
        pieces.append(f"{opening}…{count:,} {noun if count != 1 else noun[:-1]}{closing}")
        return left - len(pieces[-1])
    pieces.append(opening)
    left -= 2
    for number, (key, item) in enumerate(items):
        head = ("" if number == 0 else ", ") + ("" if key is None else f"{_key(str(key))}: ")
        pieces.append(head)
        left = _write(item, pieces, left - len(head), depth + 1)
        if left < 0:
            return left
    pieces.append(closing)
    return left


def _key(key: str) -> str:
    return visible(key) if len(key) < 60 and _PLAIN_KEY.match(key) else json.dumps(visible(key[:60]), ensure_ascii=False)


def _scalar(value: Any, left: int) -> str:
    if isinstance(value, str):
        if isinstance(value, NotStored):  # says what is missing; it is no text of the agent's
            return visible(str(value))
        cut = value[: max(left, 0) + 1]
        if cut.isascii() and cut.isprintable() and '"' not in cut and "\\" not in cut:
            return f'"{cut}"'
        return json.dumps(visible(cut), ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int):
        return f"{value:d}" if value.bit_length() < 4000 else "(a number of more than 1,000 digits)"
    if isinstance(value, (bytes, bytearray)):
        return f"({len(value):,} bytes)"
    return f"({type(value).__qualname__} object)"


def plain_tooltip(text: str, limit: int = 2000) -> str:
    """Return a tooltip that shows `text` literally: Qt would interpret HTML in it and load files that it names."""
    if not text:
        return ""  # no tooltip, not an empty one
    cut = text if len(text) <= limit else text[:limit] + "…"
    return f'<div style="white-space: pre-wrap">{html.escape(visible_lines(cut))}</div>'


def clock(timestamp: float) -> str:
    """Return the local time of day, `10:02:44`; `–` for an invalid time."""
    return _clock(timestamp // 1)


@lru_cache(maxsize=1024)
def _clock(second: float) -> str:
    """Return the time of day of a second; cached, as many events of a live stream share it."""
    moment = _local(second)
    return moment.strftime("%H:%M:%S") if moment else "–"


def clock_ms(timestamp: float) -> str:
    """Return the local time of day to the millisecond, `10:02:44.123`."""
    moment = _local(timestamp)
    return moment.time().isoformat("milliseconds") if moment else "–"


def full_time(timestamp: float) -> str:
    """Return the local date, time to the millisecond, and UTC offset."""
    moment = _local(timestamp)
    return moment.isoformat(" ", "milliseconds") if moment else f"no valid time ({timestamp!r})"


def local_time(timestamp: float) -> str:
    """Return the local date and time, `2026-11-03 10:02:44`; `–` for an invalid time."""
    local = _local(timestamp)
    return local.strftime("%Y-%m-%d %H:%M:%S") if local else "–"


def day(timestamp: float) -> str:
    """Return the local date, `2026-11-03`; `–` for an invalid time."""
    moment = _local(timestamp)
    return moment.strftime("%Y-%m-%d") if moment else "–"


def short_day(timestamp: float) -> str:
    """Return the local date, `3 Nov`; for another year, as `day` does."""
    moment, now = _local(timestamp), datetime.now()
    return f"{moment.day} {moment:%b}" if moment and moment.year == now.year else day(timestamp)


def ago(timestamp: float, now: float) -> str:
    """Return the age of a time: `now`, `2 min`, `1 h`, `yesterday`, `5 days`, then the date.

    Args:
        timestamp, now: epoch seconds.
    """
    moment = _local(timestamp)
    if moment is None:
        return "–"
    seconds = now - timestamp
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min"
    if seconds < 86400:
        return f"{seconds // 3600:.0f} h"
    if seconds < 2 * 86400:
        return "yesterday"
    if seconds < 14 * 86400:
        return f"{seconds // 86400:.0f} days"
    return day(timestamp)


def since(timestamp: float, now: float) -> str:
    """Return the age of a time as `ago` does, for use inside a sentence: `2 h ago`, `yesterday`."""
    text = ago(timestamp, now)
    return f"{text} ago" if text.endswith(("min", "h", "days")) else text


def size(count: int) -> str:
    """Return a number of bytes: `812 B`, `24 kB`, `3.4 MB`, `10 GB`."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.5 or unit == "TB":
            break
    return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"


def duration(seconds: float) -> str:
    """Return a span of time: `320 ms`, `1.9 s`, `2 min 5 s`, `3 h 4 min`."""
    if not 0 <= seconds < 1e12:
        return "–"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _local(timestamp: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(timestamp).astimezone()
    except (ValueError, OverflowError, OSError, TypeError):
        return None


def example_response(kind: str) -> str:
    """Return a response for a pending item of a kind, in a command to be pasted and changed."""
    return '{"confirmed": true}' if kind == "confirmation" else '{"result": "..."}'
