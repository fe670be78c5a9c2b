"""Completion in the shell: names and ids that the database on the command line has.

A completion that takes long, or fails, is worse than none: only files are read, and every problem means no proposal. Shells evaluate
proposals, and names come from files of others: a name is proposed only if it means nothing else in any shell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from runtime.errors import KnownError
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.storage.reading import names as stored_names
else:
    stored_names = lazy_module("runtime.storage.reading.names")

_MOST = 200  # proposals
_HARMLESS = re.compile(r"[\w.@:+,/=-]+")  # no quotes, spaces, patterns or expansions


def choices(*names: str) -> Callable[[str], list[str]]:
    """Return a completion that proposes names."""

    def proposed(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return proposed


def apps(ctx: Any, incomplete: str) -> list[str]:
    """Return the names of the apps."""
    return _proposed(ctx, incomplete, lambda names: (key[0] for key in names.sessions()))


def users(ctx: Any, incomplete: str) -> list[str]:
    """Return the users of the given app."""
    return _proposed(ctx, incomplete, lambda names: (key[1] for key in names.sessions(ctx.params.get("app"))))


def sessions(ctx: Any, incomplete: str) -> list[str]:
    """Return the ids of the sessions of the given app and user, the newest first."""
    return _proposed(ctx, incomplete, lambda names: (key[2] for key in names.sessions(ctx.params.get("app"), ctx.params.get("user"))))


def events(ctx: Any, incomplete: str) -> list[str]:
    """Return the ids of the newest events of the given session."""
    return _proposed(ctx, incomplete, lambda names: names.events("id", ctx.params.get("session"), incomplete, _MOST))


def invocations(ctx: Any, incomplete: str) -> list[str]:
    """Return the ids of the newest invocations of the given session."""
    return _proposed(ctx, incomplete, lambda names: names.events("invocation_id", ctx.params.get("session"), incomplete, _MOST))


def _proposed(ctx: Any, incomplete: str, read: Callable[[stored_names.StoredNames], Iterable[str]]) -> list[str]:
    try:
        with stored_names.StoredNames(ctx.params["db"]) as names:
            found = [name for name in dict.fromkeys(read(names)) if name.startswith(incomplete) and _HARMLESS.fullmatch(name)]
    except (KnownError, KeyError, TypeError, ValueError):
        return []
    return found[:_MOST]
