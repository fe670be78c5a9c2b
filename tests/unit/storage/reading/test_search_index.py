"""Full-text search over all sessions of a database, with an index outside the database."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.generated import write_many_sessions
from runtime.errors.storage_error import StorageError
from runtime.storage.reading import search_index
from runtime.storage.reading.search_index import SearchIndex, remove_stale
from tests.fixture_paths import copy_of, manifest

COUNT = 40


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "many.db"
    write_many_sessions(file, COUNT, 10, 200)
    return file


@pytest.fixture
def index(file: Path, tmp_path: Path) -> Iterator[SearchIndex]:
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        index.update(everything)
        yield index


def everything(_done: int, _of: int) -> bool:
    return True


def add(file: Path, event_id: str, text: str) -> None:
    connection = sqlite3.connect(file)
    data = json.dumps({"id": event_id, "author": "me", "content": {"parts": [{"text": text}]}})
    connection.execute("INSERT INTO events VALUES (?, 'order_desk', 'user1', 's-0000001', 'i', '2026-11-21 10:00:00', ?)", (event_id, data))
    connection.commit()
    connection.close()


def test_words_are_found_in_every_part_of_an_event(index: SearchIndex) -> None:
    (hit,) = index.search("ORDER 123", 50)
    assert (hit.event_id, hit.key.session_id, hit.author) == ("0000012-003", "s-0000012", "order_desk")
    assert "order 123 " in hit.excerpt
    assert len(index.search("pap", 5)) == 5
    assert index.search("paper nowhere", 5) == []
    assert index.search('" - "" *', 5) == []


def test_the_excerpt_begins_near_the_word_in_one_text_of_the_event(file: Path, tmp_path: Path) -> None:
    add(file, "long", "Nobody on the island gave much thought to the keeper of the north light until the winter the ferry stopped.")
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        index.update(everything)
        (hit,) = index.search("keeper light", 5)
        assert hit.excerpt == "…much thought to the keeper of the north light until the winter the ferry stopped."
        assert hit.excerpt[hit.start : hit.end] == "keeper"
        connection = sqlite3.connect(file)
        connection.execute("UPDATE events SET event_data = ? WHERE id = 'long'", (LIGHT,))
        connection.commit()
        connection.close()
        (hit,) = index.search("keeper light", 5)
        assert (hit.excerpt, hit.timestamp) == ("topic: the keeper of the north light", 1000.5)


LIGHT = json.dumps(
    {"author": "flow", "timestamp": 1000.5, "actions": {"state_delta": {"words": 0, "topic": "the keeper of the north light"}}}
)


def test_indexing_does_not_change_the_database(index: SearchIndex, file: Path, tmp_path: Path) -> None:
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "many.db"]
    assert index.path.stat().st_mode & 0o077 == 0


def test_an_update_continues_where_the_last_one_stopped(file: Path, tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []

    def one_step(done: int, of: int) -> bool:
        steps.append((done, of))
        return len(steps) % 3 != 2

    for _ in range(3):
        with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
            index.update(one_step)
    assert steps[0] == (0, COUNT * 10)
    assert steps[-1] == (COUNT * 10, COUNT * 10)
    add(file, "later", "Grüße aus Çeşme")
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        begun: list[int] = []
        index.update(lambda done, _of: begun.append(done) is None)
        assert begun[0] == COUNT * 10, "only new rows are read"
        assert [hit.event_id for hit in index.search("gruße cesme", 5)] == ["later"]


def test_the_index_is_rebuilt_if_the_file_changed(index: SearchIndex, file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM events WHERE rowid > 100")
    connection.commit()
    connection.close()
    assert index.search("order 123", 5) == [], "deleted events are not found"
    for number in range(COUNT * 10 - 100):
        add(file, f"n{number}", f"zebra {number}")
    index.update(everything)
    assert [hit.event_id for hit in index.search("zebra 7", 50) if hit.excerpt == "zebra 7"] == ["n7"]
    assert [hit.event_id for hit in index.search("order 99", 50)] == ["0000009-009"]


def test_a_damaged_index_is_replaced(file: Path, tmp_path: Path) -> None:
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        path = index.path
    path.write_bytes(b"no index any more" * 100)
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        index.update(everything)
        assert len(index.search("order 123", 5)) == 1


def test_the_index_has_a_maximum_size(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "MOST_BYTES", 1)
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        index.update(everything)
        assert index.is_full


def test_indexes_of_deleted_databases_are_removed(index: SearchIndex, file: Path) -> None:
    remove_stale(index.path.parent)
    assert index.path.exists()
    file.unlink()
    remove_stale(index.path.parent)
    assert not index.path.exists()


def test_an_old_index_is_removed_with_the_journal_of_a_killed_process(index: SearchIndex) -> None:
    journal = index.path.with_name(f"{index.path.name}-journal")
    journal.write_bytes(b"SQLite would apply it to the next index of this name")
    os.utime(index.path, (0, 0))
    remove_stale(index.path.parent)
    assert not index.path.exists()
    assert not journal.exists()


@pytest.mark.parametrize("layout", ["v0", "v1", "sqlite"])
def test_every_layout_can_be_searched(tmp_path: Path, layout: str) -> None:
    name = next(entry["file"] for entry in manifest() if entry["layout"] == layout and "chat_tools" in entry["file"])
    file = copy_of(f"open/{name}", tmp_path)
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        index.update(everything)
        assert index.search("u", 100)


def test_a_database_on_a_server_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="in files"):
        SearchIndex("postgresql://host/x", tmp_path)


ODD_ROWS = [
    {
        "author": "a",
        "content": {"parts": [{"text": "é\\u0041"}]},
        "actions": {"state_delta": {"n": 1e30, "t": True, "big": 10**30, "l": [1, [2.5]]}},
    },
    {"author": 5, "error_message": "late", "errorMessage": "later", "content": "text", "actions": [{"x": "y"}]},
    {"author": "a", "content": {"deep": [[[["x"]]]]}, "timestamp": float("nan")},
]


def test_odd_rows_have_texts_too(file: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for number, event in enumerate(ODD_ROWS):
            connection.execute(
                "INSERT INTO events VALUES (?, 'order_desk', 'user1', 's-1', 'i', '', ?)", (f"odd-{number}", json.dumps(event))
            )
        connection.execute("INSERT INTO events VALUES ('none', 'order_desk', 'user1', 's-1', 'i', '', '{\"author\": \"a\", }')")
        connection.commit()
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        texts = [text for _, _, text in index._rows(0)]
    assert len(texts) == COUNT * 10 + 4 <= search_index._PIECE
    assert texts[-4].split() == ["a", "é\\u0041", "n", "1e+30", "t", "big", str(10**30), "l", "1", "2.5"]


def test_a_cancelled_update_keeps_what_it_read(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "_PIECE", 30)
    monkeypatch.setattr(search_index, "_COMMITTED", 100)
    for most in (90, 250):
        with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
            index.update(lambda done, _of, most=most: done < most)  # type: ignore[misc]
            assert len(index.search("order", 1_000)) == (most + 29) // 30 * 30
    with closing(SearchIndex(str(file), tmp_path / "cache")) as index:
        index.update(everything)
        assert len(index.search("order", 1_000)) == COUNT * 10
