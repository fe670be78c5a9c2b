"""Commands that read sessions of a server of google-adk's, or of an Agent Engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector_app.commands.progress import Progress
from inspector_app.remote import mirror

if TYPE_CHECKING:
    from inspector_app.commands.options.base import Options
    from runtime.sessions.session_key import SessionKey


@contextmanager
def copied(target: str, named: Options | None) -> Iterator[str]:
    """Let a server's sessions be read as a database until the context ends; yield the name to open it by.

    Args:
        target: the server as the user wrote it.
        named: the app, user and session that are needed; None: all.

    Raises:
        KnownError: the address is wrong, or the server cannot be used.
    """
    app, user, session = (getattr(named, name, None) for name in ("app", "user", "session"))

    def is_wanted(key: SessionKey) -> bool:
        return app in (None, key.app_name) and user in (None, key.user_id) and (session is None or key.session_id.startswith(session))

    total = [0]

    def on_copied(done: int, of: int) -> None:
        total[0] = of
        progress.show(done)

    with (
        Progress("Reading the server's sessions", lambda: total[0]) as progress,
        mirror.copied(target, (user,) if user else (), is_wanted, on_copied) as name,
    ):
        progress.hide()
        yield name
