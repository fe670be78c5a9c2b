"""Clauses, and the check of a service against a clause."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from tests.conformance.names import BaseSessionService

Check = Callable[..., Awaitable[None]]
REOPENING, STALE_COPIES, PAGES = "reopening", "stale copies", "pages"
# Users may have sessions of the same id; a listed session has the time of its last event.
IDS_OF_USERS, EVENT_TIMES = "ids of users", "event times"
SECONDS = 120.0


@dataclass(frozen=True)
class Clause:
    """A requirement on every session service.

    Attributes:
        verb: the method it is about.
        name: the requirement, in words.
        check: an async function of the service (or, with `REOPENING`, of a function that opens it) and the arguments; raises on failure.
        arguments: the arguments of this case.
        needs: features that not every service has: `REOPENING` and the others above, or a method missing from google-adk's interface.
    """

    verb: str
    name: str
    check: Check
    arguments: tuple[Any, ...] = ()
    needs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.verb}: {self.name}"


@dataclass(frozen=True)
class Backend:
    """A service to check.

    Attributes:
        name: the service's name in the table.
        open: opens the service on a folder; a second call opens the data that the first one stored there.
        unsupported: feature that it does not support (see `Clause.needs`) → reason.
    """

    name: str
    open: Callable[[Path], Any]
    unsupported: Mapping[str, str] = field(default_factory=dict)


class UnsupportedError(Exception):
    """The service does not support a feature; the message says why."""


CLAUSES: list[Clause] = []


def clause(*needs: str, cases: Mapping[str, Any] | None = None) -> Callable[[Check], Check]:
    """Register an async function as a clause, or as one clause for each case.

    Args:
        *needs: see `Clause.needs`.
        cases: name → argument.
    """

    def declare(check: Check) -> Check:
        verb, words = check.__module__.rsplit(".", 1)[-1], check.__name__.replace("_", " ")
        if cases is None:
            CLAUSES.append(Clause(verb, words, check, needs=needs))
        for case, argument in (cases or {}).items():
            CLAUSES.append(Clause(verb, f"{words} [{case}]", check, (argument,), needs))
        return check

    return declare


async def hold(backend: Backend, clause: Clause, folder: Path) -> None:
    """Check a service against a clause.

    Args:
        backend: the service.
        clause: the clause.
        folder: an empty folder.

    Raises:
        UnsupportedError: the service does not support a feature that the clause needs.
        Exception: the clause fails. Any exception but an AssertionError comes from the service.
    """
    for need in clause.needs:
        if need in backend.unsupported:
            raise UnsupportedError(backend.unsupported[need])
    async with asyncio.timeout(SECONDS):
        async with _opened(backend, folder) as service:
            for need in clause.needs:
                if not _has(service, need):
                    raise UnsupportedError(f"it does not implement {need} itself")
            if REOPENING not in clause.needs:
                await clause.check(service, *clause.arguments)
                return
        await clause.check(partial(_opened, backend, folder), *clause.arguments)


@asynccontextmanager
async def _opened(backend: Backend, folder: Path) -> AsyncIterator[Any]:
    service = backend.open(folder)
    try:
        yield service
    finally:
        # google-adk's SqliteSessionService has no `close`.
        close = getattr(service, "close", None)
        if close is not None:
            await close()


def _has(service: Any, need: str) -> bool:
    if need in (REOPENING, STALE_COPIES, IDS_OF_USERS, EVENT_TIMES):
        return True
    if need == PAGES:
        return "limit" in signature(service.list_sessions).parameters
    own = getattr(type(service), need, None)
    return own is not None and own is not getattr(BaseSessionService, need, None)
