"""Invocations whose rows follow each other and show that they are finished. Most are; their rows are not looked at one by one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Container, Iterable
from itertools import groupby
from operator import itemgetter
from typing import Any

from runtime.storage.reading.typed_glance import event_type

Row = tuple[int, Any, Any, Any]  # number, invocation id, JSON, and whether it is of the expected session
Stretch = tuple[str, list[Row] | None]  # an invocation and its rows; None if they are all its rows and it is finished
IsFinished = Callable[[str, list[Row]], bool]


def finished_look(*, json_wins: bool) -> IsFinished | None:
    """Return a function that tells from all rows of an invocation that it is certainly finished; None if msgspec is not installed.

    It tells so of an invocation with an answer at its end, a result of each call, and no row that `event_type` finds unusual.

    Args:
        json_wins: see `PendingRows`.
    """
    try:
        msgspec = importlib.import_module("msgspec")  # 15 ms
    except ImportError:
        return None
    errors = (msgspec.MsgspecError, ValueError, TypeError, RecursionError)
    decode, other = (msgspec.json.Decoder(event_type(is_camel=is_camel, is_usual=True)).decode for is_camel in (False, True))

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
                if is_agent:
                    answered = answers
        except errors:
            decode, other = other, decode  # a file's rows are usually spelled alike
            return False
        return answered and calls == results

    return is_finished


def stretches(rows: Iterable[Row], known: Container[str], is_finished: IsFinished | None) -> list[Stretch]:
    """Return successive rows of a session by invocation.

    Args:
        rows: the rows. The last invocation may go on after them.
        known: names of invocations that may have earlier rows.
        is_finished: from `finished_look`; None: the rows of all are returned.
    """
    found: list[Stretch] = []
    new: set[str] = set()
    for name, group in groupby(rows, itemgetter(1)):
        if found:
            _drop_rows(found, known, new, is_finished)
        found.append((name, list(group)))
    return found


def _drop_rows(found: list[Stretch], known: Container[str], new: set[str], is_finished: IsFinished | None) -> None:
    name, rows = found[-1]
    assert rows is not None
    if is_finished is not None and type(name) is str and name not in new and name not in known and is_finished(name, rows):
        found[-1] = name, None
        rows.clear()
    new.add(name)
