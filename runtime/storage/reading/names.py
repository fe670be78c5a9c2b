"""The names and ids in a database file, for completion in a shell: nothing else is read."""

from __future__ import annotations

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_url import named_file
from runtime.storage.connections.file_kind import not_sqlite
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.layouts.column_values import MIXED_TIMES


class StoredNames:
    """A reader of the names in a database file in any layout.

    Args:
        target: a file path or an `sqlite:` URL.

    Raises:
        StorageError: it is not a database file.
    """

    def __init__(self, target: str) -> None:
        file = named_file(target)
        try:
            if file is None or not file.is_file() or not_sqlite(file):
                raise StorageError(f"{target} is not a database file.")
        except OSError as error:
            raise StorageError(f"{target} cannot be read: {error}.") from error
        self._file = SqliteFile(file)

    def __enter__(self) -> StoredNames:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()

    def sessions(self, app: str | None = None, user: str | None = None) -> list[tuple[str, str, str]]:
        """Return app, user and id of the sessions, the newest first.

        Args:
            app, user: only the sessions of this app and user; None for any.
        """
        query = (
            "SELECT app_name, user_id, id FROM sessions WHERE coalesce(?, app_name) = app_name AND coalesce(?, user_id) = user_id"
            f" ORDER BY {MIXED_TIMES.format('update_time')} DESC"
        )
        return self._file.read(lambda connection: connection.execute(query, (app, user)).fetchall())

    def events(self, column: str, session: str | None, beginning: str, limit: int) -> list[str]:
        """Return ids of events or of their invocations, the newest first.

        Args:
            column: `id` or `invocation_id`.
            session: the session's id or its beginning; None for any.
            beginning: the beginning of the wanted ids.
            limit: maximum number of ids.
        """
        assert column in ("id", "invocation_id")
        query = (
            f"SELECT {column} FROM events WHERE substr(session_id, 1, length(:session)) = :session"
            f" AND substr({column}, 1, length(:beginning)) = :beginning ORDER BY rowid DESC LIMIT :limit"
        )
        values = {"session": session or "", "beginning": beginning, "limit": limit}
        rows = self._file.read(lambda connection: connection.execute(query, values).fetchall())
        return [str(name) for (name,) in rows]
