"""The session service of google-adk that continues a database, by the version of google-adk; or why that version cannot."""

from __future__ import annotations

import re
import shlex
from typing import Any

from runtime.errors import EmptyDatabaseError, KnownError
from runtime.storage.connections.database_url import database_url, named_file, without_password
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.copy_database import record_missing_version
from runtime.support.file_names import free_name

_NEEDED_BY_V0 = "input_transcription"  # google-adk from 1.19 on reads this column, which older files do not have

_ONLY_SINCE_2 = "node_info"  # each event of google-adk 2 has this field, which up to 1.27 is refused in a run

_OPENS_COPIES = (1, 22)  # opens what `convert` writes

_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "mysql": "mysql+aiomysql"}


class StorageRefusedError(KnownError):
    """The agent's google-adk cannot continue a database, or would change its layout; the message says what to do."""


def session_storage(target: str | None, adk_version: str, *, new_as_sqlite: bool = False) -> dict[str, Any]:
    """Return where a child is to store sessions, as `sessions` of `open` in docs/engine-protocol.md. Nothing is written, except
    the version that a file lacks because google-adk was killed while it created it: no google-adk would open it.

    Args:
        target: a file path or an SQLAlchemy URL; None or `:memory:` keeps sessions in the child's memory.
        adk_version: the version of google-adk that will open it.
        new_as_sqlite: create a new file in adk web's layout, for which google-adk from 1.19 on needs no other packages.

    Raises:
        StorageRefusedError: that version cannot continue the database.
        NotASessionDatabaseError: it is not a session database.
        StorageError: it cannot be read.
    """
    if target in (None, "", ":memory:"):
        return {"kind": "memory"}
    assert target is not None
    file = named_file(target)
    version = _numbers(adk_version)
    if file is None:
        return {"kind": "database", "url": _with_driver(database_url(target).render_as_string(hide_password=False))}
    url = f"{_DRIVERS['sqlite'] if version >= (1, 22) else 'sqlite'}:///{file.absolute()}"
    try:
        if not file.exists():
            raise EmptyDatabaseError(target)
        with StoredDatabase.open(target) as stored:
            layout = stored.layout
            is_too_new = version < (1, 28) and stored.has_event_field(_ONLY_SINCE_2)
    except EmptyDatabaseError as empty:
        if version >= (1, 19) and (empty.layout == "sqlite" or (empty.layout is None and new_as_sqlite)):
            return {"kind": "sqlite", "path": str(file.absolute())}
        if empty.layout == "v1":
            record_missing_version(file)
        return {"kind": "database", "url": url}
    if layout.kind == "sqlite":
        if version < (1, 19):
            raise _refusal(target, adk_version, "adk web's layout, which 1.19 and later open")
        if is_too_new:
            raise _too_new(target, adk_version)
        return {"kind": "sqlite", "path": str(file.absolute())}
    if layout.kind == "v1":
        if version < (1, 22):
            raise _refusal(target, adk_version, "layout v1, which 1.22 and later open")
        if is_too_new:
            raise _too_new(target, adk_version)
        return {"kind": "database", "url": url}
    if layout.kind == "v0":
        if version >= (1, 19) and _NEEDED_BY_V0 not in layout.event_columns:
            raise _refusal(target, adk_version, "the layout of google-adk 1.18 and earlier, which later versions do not open")
        return {"kind": "database", "url": url}
    raise _refusal(target, adk_version, f"the layout {layout.title}, which is not google-adk's")


def _refusal(target: str, adk_version: str, why: str) -> StorageRefusedError:
    is_convertible = _numbers(adk_version) >= _OPENS_COPIES
    advice = f"Convert a copy: {_conversion(target)}" if is_convertible else "Use a newer google-adk for this agent, or another database."
    return StorageRefusedError(f"google-adk {adk_version} cannot continue {target}: it has {why}. {advice}")


def _conversion(target: str, *options: str) -> str:
    """Return the command that converts a database, to be pasted: nothing follows it in a sentence."""
    return shlex.join(("agent-inspector", "convert", *options, without_password(target), free_name()))


def _too_new(target: str, adk_version: str) -> StorageRefusedError:
    is_convertible = _numbers(adk_version) >= _OPENS_COPIES
    other = f"convert a copy: {_conversion(target, '--for-old-adk')}" if is_convertible else "another database."
    return StorageRefusedError(
        f"google-adk {adk_version} cannot continue {target}: google-adk 2 has written events into it, with fields that only 1.28 and later"
        f" accept. Use such a version for this agent, or {other}"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _with_driver(url: str) -> str:
    """Return a URL with the asynchronous driver that google-adk uses."""
    scheme, _, rest = url.partition("://")
    backend = scheme.partition("+")[0]
    return f"{_DRIVERS.get(backend, scheme)}://{rest}"
