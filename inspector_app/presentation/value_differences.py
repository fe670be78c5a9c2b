"""The differences between two values: their places and, in long texts, the differing part. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from inspector_app.presentation.values import visible
from runtime.sessions.state import same_value

MOST_PLACES = 200  # differences listed per value

MAX_DEPTH = 40
CONTEXT = 6  # characters shown before a difference in a text

LONGEST = 200
LONGEST_WORD = 30  # characters; a longer word, such as a key or a hash, is marked only where it differs


class Nothing:
    """The type of `NOTHING`, a missing value."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = Nothing()


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference at one place inside a value.

    Attributes:
        path: the place, such as `[0].quantity`.
        before, after: the values there; `NOTHING` if it was added or removed.
    """

    path: str
    before: Any
    after: Any


def differences(before: Any, after: Any) -> tuple[list[Difference], bool]:
    """Return the differences between two values, and whether there are more than `MOST_PLACES`.

    Unless both values are objects or both are lists, there is one difference with an empty path.

    Args:
        before, after: JSON values.
    """
    found: list[Difference] = []
    for difference in _walk(before, after, "", 0):
        if len(found) == MOST_PLACES:
            return found, True
        found.append(difference)
    return found, False


def _walk(before: Any, after: Any, path: str, depth: int) -> Iterator[Difference]:
    if depth < MAX_DEPTH and isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            inner = f"{path}.{key}" if str(key).isidentifier() else f"{path}[{key!r}]"
            yield from _walk(before.get(key, NOTHING), after.get(key, NOTHING), inner, depth + 1)
    elif depth < MAX_DEPTH and isinstance(before, list) and isinstance(after, list):
        for number in range(max(len(before), len(after))):
            old = before[number] if number < len(before) else NOTHING
            new = after[number] if number < len(after) else NOTHING
            yield from _walk(old, new, f"{path}[{number}]", depth + 1)
    elif before is NOTHING or after is NOTHING or not same_value(before, after):
        yield Difference(path, before, after)


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with one differing part.

    Attributes:
        text: the text, shortened, on one line.
        start, end: the bounds of the differing part in it.
    """

    text: str
    start: int
    end: int


def marked(before: str, after: str) -> tuple[MarkedText, MarkedText]:
    """Return two texts, shortened around their differing parts.

    Args:
        before, after: two texts that differ.
    """
    shortest = min(len(before), len(after))
    head = next((place for place in range(shortest) if before[place] != after[place]), shortest)
    tail = next((place for place in range(shortest - head) if before[-1 - place] != after[-1 - place]), shortest - head)
    head -= _letters(reversed(before[max(head - LONGEST_WORD, 0) : head]))
    tail -= _letters(before[len(before) - tail :][:LONGEST_WORD])
    return _cut(before, head, len(before) - tail), _cut(after, head, len(after) - tail)


def _letters(text: Iterable[str]) -> int:
    """Return the number of word characters at the start of a text: a difference inside a word is extended to the whole word."""
    count = sum(1 for _ in takewhile(lambda letter: letter.isalnum() or letter == "_", text))
    return count if count < LONGEST_WORD else 0


def _cut(text: str, start: int, end: int) -> MarkedText:
    first = max(start - CONTEXT, 0) if start > 2 * CONTEXT else 0
    lead = ('"' if first == 0 else "…") + visible(text[first:start])
    part = visible(text[start : min(end, start + LONGEST)])
    rest = visible(text[end : end + CONTEXT]) + ("…" if len(text) > end + CONTEXT else '"') if end <= start + LONGEST else "…"
    return MarkedText(lead + part + rest, len(lead), len(lead) + len(part))
