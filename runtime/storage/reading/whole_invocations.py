"""Invocations whose rows follow each other and show that they are finished. Most are; their rows are not noted one by one."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from runtime.storage.reading.event_glance import decoders

Row = tuple[int, Any, Any]  # number, invocation id and JSON
Stretch = tuple[str, list[Row] | None]  # an invocation and its rows; None if they are all its rows and it is finished
IsFinished = Callable[[str, list[Row]], bool]


def finished_look(*, json_wins: bool) -> IsFinished:
    """Return a function that tells from all rows of an invocation that it is certainly finished.

    It tells so of an invocation with an answer at its end, a result of each call, and no row that `event_type` finds unusual.

    Args:
        json_wins: see `PendingRows`.
    """
    decode, other, errors = decoders(is_usual=True)

    def is_finished(name: str, rows: list[Row]) -> bool:
        nonlocal decode, other
        calls: list[str | None] = []
        results: list[str | None] = []
        answered = False
        try:
            for row in rows:
                event = decode(row[2])
                if json_wins and event.invocation_id is not None and event.invocation_id != name:
                    return False
                content, is_agent = event.content, event.author != "user"
                if content is None:
                    continue
                answers = bool(content.parts) and not event.partial
                for part in content.parts or ():
                    if part.function_call is not None:
                        calls.append(part.function_call.id)
                        answers = False
                    if part.function_response is not None:
                        if not is_agent:  # it may answer a call of another invocation
                            return False
                        results.append(part.function_response.id)
                        answers = False
                answered = is_agent and answers
        except errors:
            decode, other = other, decode  # a file's rows are usually spelled alike
            return False
        return answered and calls == results

    return is_finished


class Stretches(NamedTuple):
    """Successive rows of a session by invocation.

    Attributes:
        stretches: invocations with their rows.
        size: number of all rows.
        last: number of the last row; 0 without rows.
    """

    stretches: list[Stretch]
    size: int
    last: int


def stretches(rows: Iterable[Row], known: Container[str], new: set[Any], is_finished: IsFinished) -> Stretches:
    """Return successive rows of a session by invocation. They are read one by one, while they are in the processor's cache.

    Args:
        rows: the rows. The last invocation may have more rows after them.
        known: names of invocations that may have earlier rows.
        new: names of invocations with rows in the same chunk; those of `rows` are added.
        is_finished: from `finished_look`.
    """
    found: list[Stretch] = []
    size = 0
    kept: list[Row] = []
    for name, group in groupby(rows, itemgetter(1)):
        if found:
            before = found[-1][0]
            if type(before) is str and before not in new and before not in known and is_finished(before, kept):
                found[-1] = before, None
            new.add(before)
        kept = list(group)
        size += len(kept)
        found.append((name, kept))
    if found:
        new.add(found[-1][0])
    return Stretches(found, size, kept[-1][0] if kept else 0)
