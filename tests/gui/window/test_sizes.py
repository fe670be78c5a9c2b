"""Session sizes in the session list; only sessions in view are measured."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from bench.generated import write_many_sessions
from inspector_app.app import Inspector
from inspector_app.presentation.values import size
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sizes_controller import AT_ONCE, _size_of
from inspector_app.sessions.wanted_sizes import MOST_WANTED, WantedSizes
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase

COUNT = 300


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("many") / "many.db"
    write_many_sessions(file, COUNT, 3, 2_000)
    return file


@pytest.fixture
def model(inspector: Inspector, many: Path, opened: Callable[..., None], qtbot: QtBot) -> SessionTreeModel:
    opened(many)
    qtbot.waitUntil(lambda: bool(known(inspector.features.sessions.model)) and not inspector.tasks.running)
    return inspector.features.sessions.model


def known(model: SessionTreeModel) -> dict[SessionKey, tuple[int, str]]:
    return model.sizes(model.node(model.index(0, 0)).database)


def in_file(file: Path, key: SessionKey) -> int:
    connection = sqlite3.connect(file)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(events)")]
    rows = connection.execute(f"SELECT {', '.join(columns)} FROM events WHERE session_id = ?", (key.session_id,)).fetchall()
    connection.close()
    return sum(len(str(value).encode()) for row in rows for value in row)


def test_sessions_in_view_are_measured(model: SessionTreeModel, inspector: Inspector, many: Path, qtbot: QtBot) -> None:
    assert len(known(model)) < 60
    for key, (count, words) in known(model).items():
        assert (count, words) == (3, size(in_file(many, key)))
    assert model.node(model.index(0, 0)).detail.startswith(f"{COUNT} sessions · {size(many.stat().st_size)} · v1")
    key = next(iter(known(model)))
    assert f"3 events, {known(model)[key][1]}, last update" in model.index_of(str(many), key).data(Qt.ItemDataRole.ToolTipRole)
    before = len(known(model))
    bar = inspector.window.parts.sessions.tree.verticalScrollBar()
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: len(known(model)) > before and not inspector.tasks.running)
    assert len(known(model)) < 120


def test_a_growing_session_is_measured_again(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    file = tmp_path / "few.db"
    write_many_sessions(file, 2, 3, 2_000)
    opened(file)
    model = inspector.features.sessions.model
    qtbot.waitUntil(lambda: len(known(model)) == 2)
    key = inspector.cursor.session.key
    connection = sqlite3.connect(file)
    row = connection.execute("SELECT * FROM events WHERE session_id = ? LIMIT 1", (key.session_id,)).fetchone()
    connection.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(row))})", ("another", *row[1:]))
    connection.commit()
    connection.close()
    qtbot.waitUntil(lambda: known(model)[key] == (4, size(in_file(file, key))))
    qtbot.waitUntil(lambda: not inspector.tasks.running)


def test_sizes_of_long_sessions_are_estimated(tmp_path: Path) -> None:
    file = tmp_path / "long.db"
    write_many_sessions(file, 1, 400, 1_000)
    with StoredDatabase.open(str(file)) as database:
        (summary,) = database.sessions()
        (found,) = database.sizes([(summary.key, summary.event_count)]).values()
        assert database.sizes([(SessionKey("a", "b", "c"), 5)])[SessionKey("a", "b", "c")].bytes == 0
    assert not found.is_exact
    assert found.bytes == pytest.approx(in_file(file, summary.key), rel=0.2)


def test_sizes_as_text() -> None:
    assert [size(count) for count in (0, 999, 1_000, 24_444, 999_499, 999_500, 10_240_000_000)] == [
        "0 B", "999 B", "1.0 kB", "24 kB", "999 kB", "1.0 MB", "10 GB",
    ]  # fmt: skip


def test_the_latest_requested_sizes_come_first_and_the_oldest_are_dropped() -> None:
    wanted = WantedSizes()
    assert wanted.take(5) == ("", [])
    keys = [SessionKey("a", "u", str(number)) for number in range(MOST_WANTED + 10)]
    for key in keys:
        wanted.add("one.db", key)
    wanted.add("one.db", keys[50])
    wanted.add("other.db", keys[0])
    assert wanted.take(3) == ("other.db", [keys[0]])
    assert wanted.take(3) == ("one.db", [keys[50], keys[-1], keys[-2]])
    assert wanted.take(999) == ("one.db", [*reversed(keys[51:-2]), *reversed(keys[11:50])])


def test_an_estimated_size_is_marked(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    file = tmp_path / "long.db"
    write_many_sessions(file, 1, 400, 1_000)
    opened(file)
    model = inspector.features.sessions.model
    qtbot.waitUntil(lambda: len(known(model)) == 1 and not inspector.tasks.running)
    ((_, words),) = known(model).values()
    assert words.startswith("≈ ")


def test_the_write_ahead_log_is_part_of_a_databases_size(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    assert _size_of(file) == 0
    file.write_bytes(b"1" * 10)
    (tmp_path / "a.db-wal").write_bytes(b"1" * 5)
    assert _size_of(file) == 15


def test_sizes_are_measured_in_small_batches(
    inspector: Inspector, many: Path, opened: Callable[..., None], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []
    measure = StoredDatabase.sizes
    monkeypatch.setattr(StoredDatabase, "sizes", lambda database, counts: measured.append(len(counts)) or measure(database, counts))
    opened(many)
    qtbot.waitUntil(lambda: sum(measured) > AT_ONCE and not inspector.tasks.running)
    assert max(measured) <= 10
