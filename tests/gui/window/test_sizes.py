"""The size of a database in the session list."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pytestqt.qtbot import QtBot

from bench.generated import write_many_sessions
from inspector_app.app import Inspector
from inspector_app.presentation.values import size


def test_a_database_shows_its_size_with_its_write_ahead_log(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    file = tmp_path / "some.db"
    write_many_sessions(file, 30, 3, 2_000)
    with closing(sqlite3.connect(file)) as open_elsewhere:
        open_elsewhere.execute("PRAGMA journal_mode = wal").fetchone()
        open_elsewhere.execute("UPDATE events SET timestamp = timestamp + 1")
        open_elsewhere.commit()
        takes_up = file.stat().st_size + file.with_name("some.db-wal").stat().st_size
        opened(file)
        qtbot.waitUntil(lambda: not inspector.tasks.running)
    model = inspector.features.sessions.model
    assert model.node(model.index(0, 0)).detail.startswith(f"30 sessions · {size(takes_up)} · v1")
