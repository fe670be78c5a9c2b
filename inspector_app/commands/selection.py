"""The session, event or invocation that a command line means: what is the only one need not be named, and beginnings of ids are enough."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable

from inspector_app.commands.options.base import OfSession
from inspector_app.commands.options.changing import Name
from inspector_app.commands.options.running import Resume
from inspector_app.commands.problems import UsageError
from inspector_app.presentation.values import visible
from runtime.errors import NotFoundError, SessionNotFoundError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import without_written_password
from runtime.storage.reading.reader import StoredDatabase

_SHOWN = 5  # candidates in a message
DEFAULT_USER = "user"


def command_line(*words: str) -> str:
    """Return a command that can be pasted into a shell."""
    return shlex.join(("agent-inspector", *words))


def session_words(key: SessionKey) -> tuple[str, ...]:
    """Return the options that name a session."""
    return "--app", key.app_name, "--user", key.user_id, "--session", key.session_id


def listing(command: str, target: str, key: SessionKey | None = None) -> str:
    """Return the command that lists what a database or one of its sessions has, to be pasted.

    Args:
        command: such as `sessions`.
        target: the database as the user wrote it.
        key: the session; None: the whole database.
    """
    return command_line(command, without_written_password(target), *(session_words(key) if key is not None else ()))


def existing_key(database: StoredDatabase, options: OfSession | Resume | Name) -> SessionKey:
    """Return the key of the session that the options mean.

    Raises:
        SessionNotFoundError: the database has no such session.
        UsageError: several sessions fit.
    """
    return session_key([summary.key for summary in database.listing()], options.app, options.user, options.session, options.db)


def session_key(known: Collection[SessionKey], app: str | None, user: str | None, session: str | None, target: str) -> SessionKey:
    """Return the session that is meant.

    Args:
        known: all sessions.
        app, user: names; None: the only one, or the user "user".
        session: an id or its beginning; None: the only one.
        target: the database as the user wrote it.

    Raises:
        SessionNotFoundError: there is no such session.
        UsageError: several sessions fit.
    """
    owned = [key for key in known if app in (None, key.app_name) and user in (None, key.user_id)]
    found = [key for key in owned if session in (None, key.session_id)]
    if not found and session is not None:
        found = [key for key in owned if key.session_id.startswith(session)]
    if len(found) > 1 and user is None:
        found = [key for key in found if key.user_id == DEFAULT_USER] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"Several sessions fit. Name one of them:\n{_listed(found)}")
    raise SessionNotFoundError(_missing(known, app, user, session, target))


def _listed(keys: list[SessionKey]) -> str:
    lines = [f"  {shlex.join(session_words(key))}" for key in keys[:_SHOWN]]
    return "\n".join([*lines, *([f"  … and {len(keys) - _SHOWN:,} more"] if len(keys) > _SHOWN else [])])


def _missing(known: Collection[SessionKey], app: str | None, user: str | None, session: str | None, target: str) -> str:
    if not known:
        return "The database has no sessions."
    names = ((f"session {session!r}" if session is not None else "session"), app and f"of app {app!r}", user and f"of user {user!r}")
    near = [f"{key.app_name}/{key.user_id}" for key in known if key.session_id == session]
    hint = f"A session with this id belongs to {near[0]} (app/user)." if near else f"`{listing('sessions', target)}` lists all sessions."
    return f"There is no {' '.join(name for name in names if name)}. {hint}"


def whole_id(kind: str, written: str, known: Iterable[str], key: SessionKey, target: str) -> str:
    """Return the id that is meant by it or its beginning.

    Args:
        kind: `event` or `invocation`.
        written: what the user wrote.
        known: all ids.
        key: the session.
        target: its database as the user wrote it.

    Raises:
        NotFoundError: no id begins like this.
        UsageError: several do.
    """
    found = [name for name in dict.fromkeys(known) if name.startswith(written)]
    if written in found or len(found) == 1:
        return written if written in found else found[0]
    if not found:
        raise NotFoundError(f"The session has no {kind} {written!r}. `{listing(f'{kind}s', target, key)}` lists its {kind}s.")
    shown = ", ".join(visible(name) for name in found[:_SHOWN]) + (" …" if len(found) > _SHOWN else "")
    raise UsageError(f"{len(found)} {kind}s begin with {written!r}: {shown}. Write more of the id.")
