"""Sessions in adk web's own files (`.adk/session.db`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from runtime.storage.connections.database_url import database_url, sqlite_uri
from runtime.storage.layouts.table_names import WrittenLayout
from runtime.storage.writing.database_session_service import DatabaseSessionService


class SqliteSessionService(DatabaseSessionService):
    """A session service that uses the layout of google-adk's SqliteSessionService, so that `adk web` can continue its sessions.

    Args:
        db_path: a file, or an `sqlite:` or `sqlite+aiosqlite:` URL. Its query parameters are SQLite's own, such as `?mode=ro`.
        **kwargs: see `DatabaseSessionService`.
    """

    _layout: ClassVar[WrittenLayout] = "sqlite"

    def __init__(self, db_path: str | Path, **kwargs: Any) -> None:
        super().__init__(sqlite_uri(database_url(str(db_path))), **kwargs)
