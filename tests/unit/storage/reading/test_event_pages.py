from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bench.generated import APP, SESSION, USER, event_data, write_database
from runtime.errors.storage_error import StorageError
from runtime.events.event import Event
from runtime.expressions import parse
from runtime.sessions.session import SessionKey
from runtime.storage.reading.event_pages import _UNPARSED, EventPages, containing
from runtime.storage.reading.prefilter import prefilter
from runtime.storage.reading.reader import StoredDatabase

KEY = SessionKey(APP, USER, SESSION)
COUNT = 500


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pages") / "long.db"
    write_database(file, COUNT)
    return file


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every third row belongs to another session."""
    file = tmp_path_factory.mktemp("pages") / "scattered.db"
    write_database(file, COUNT)
    connection = sqlite3.connect(file)
    connection.execute("UPDATE events SET session_id = 'other' WHERE rowid % 3 = 0")
    connection.commit()
    connection.close()
    return file


def pages_of(file: Path, count: int | None = None) -> EventPages:
    return StoredDatabase.open(str(file)).pages(KEY, count)


def test_any_range_is_read_by_index(written: Path) -> None:
    for count in (None, COUNT, 3):
        pages = pages_of(written, count)
        assert len(pages) == COUNT
        assert [pages.decode(row).id for row in pages.rows(200, 203)] == [event_data(number)["id"] for number in (200, 201, 202)]
        assert len(pages.rows(COUNT - 2, COUNT + 50)) == 2
        assert pages.rows(COUNT, COUNT + 1) == []


def test_ranges_of_a_session_mixed_with_others_are_read(scattered: Path) -> None:
    pages = pages_of(scattered)
    own = [number for number in range(COUNT) if (number + 1) % 3]
    assert len(pages) == len(own)
    assert [pages.decode(row).id for row in pages.rows(100, 103)] == [event_data(number)["id"] for number in own[100:103]]
    assert [step.delta["step"] for step in pages.read(100, 103)] == own[100:103]
    assert pages.index_of(event_data(own[77])["id"]) == 77
    assert pages.index_of("no such id") is None


def test_invocations_returns_the_first_event_of_each_invocation(written: Path) -> None:
    starts = pages_of(written).invocations(5, 25)
    assert [place for place, _ in starts] == [5, 10, 20]
    assert starts[1][1] == event_data(10)["invocation_id"]


def test_a_text_is_found_in_the_stored_json(written: Path) -> None:
    pages = pages_of(written)
    assert pages.find(containing([[event_data(333)["id"].upper()]]), 0, COUNT) == [333]
    assert pages.find(containing([["find_product"], ['"step": 333']]), 300, 400) == [333]
    assert [place for place, _ in pages.rows_with(containing([["nowhere", '"step": 40,']]), 0, COUNT)] == [40]


@pytest.mark.parametrize("text", ["%", "_", "100%", "\\"])
def test_wildcards_are_plain_characters(written: Path, text: str) -> None:
    expected = [number for number in range(COUNT) if text == "_"]
    assert pages_of(written).find(containing([[text]]), 0, COUNT) == expected


def save(connection: sqlite3.Connection, place: int, versions: dict[str, int]) -> None:
    """Make an event save files."""
    sql = "UPDATE events SET event_data = json_set(event_data, '$.actions.artifact_delta', json(?)) WHERE rowid = ?"
    connection.execute(sql, (json.dumps(versions), place + 1))


def test_files_returns_the_events_that_saved_files(scattered: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(scattered, tmp_path))
    connection = sqlite3.connect(file)
    for rowid, versions in ((1, {"a": 0}), (3, {"other's": 0}), (4, {"a": 1, "b": 0}), (COUNT, {"late": 7})):
        save(connection, rowid - 1, versions)
    connection.commit()
    connection.close()
    pages = pages_of(file)
    author = pages.decode(pages.rows(2, 3)[0]).author
    assert pages.files(1, len(pages) - 1) == [(2, author, {"a": 1, "b": 0})]
    assert [entry.place for entry in pages.files(0, len(pages))] == [0, 2, len(pages) - 1]


def test_damaged_json_does_not_prevent_reading_a_range(tmp_path: Path) -> None:
    file = tmp_path / "spoilt.db"
    write_database(file, 20)
    connection = sqlite3.connect(file)
    connection.execute("UPDATE events SET event_data = '{\"no json' WHERE rowid = 5")
    save(connection, 8, {"plan.txt": 3})
    connection.commit()
    connection.close()
    assert [entry.versions for entry in pages_of(file).files(0, 20)] == [{"plan.txt": 3}]
    steps = pages_of(file).read(0, 20)
    assert [step.delta.get("step") for step in steps] == [None if number == 4 else number for number in range(20)]


@pytest.mark.parametrize("bad", ["{", '{"author": "a", "timestamp": NaN}', "[" * 5_000], ids=["cut off", "not a number", "nested"])
def test_numbers_are_found_beside_a_row_that_sqlite_cannot_parse(written: Path, tmp_path: Path, bad: str) -> None:
    file = shutil.copy(written, tmp_path / "one.db")
    large = {110: "usage_metadata", 112: "usageMetadata", 470: "usage_metadata"}
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("UPDATE events SET event_data = ? WHERE rowid = 112", (bad,))
        for place, name in large.items():
            usage = {"total_token_count": 30_000}
            data = json.dumps(event_data(place) | {"usage_metadata": None} | {name: usage})
            connection.execute("UPDATE events SET event_data = ? WHERE rowid = ?", (data, place + 1))
    condition = parse("tokens.total > 20000")
    read: list[str] = []

    def matches(event: Event) -> bool:
        read.append(event.id)
        return condition.matches(event)

    with StoredDatabase.open(str(file)) as database:
        found = database.matching(KEY, matches, prefilter(condition.required))
        assert [event.id for event in found] == [event_data(place)["id"] for place in large]
    assert len(read) <= _UNPARSED + 3


def test_deleted_events_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "cut.db"
    write_database(file, 20)
    pages = pages_of(file)
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM events WHERE rowid = 5")
    connection.commit()
    connection.close()
    with pytest.raises(StorageError, match="Reload"):
        pages.rows(0, 10)


def test_assume_takes_all_rows_for_the_only_session(written: Path, tmp_path: Path) -> None:
    assumed = StoredDatabase.open(str(written)).pages(KEY, assume=True)
    assert assumed.is_assumed
    assert len(assumed) == COUNT
    assert not pages_of(written).is_assumed
    assert pages_of(written).begins_with(assumed)
    file = tmp_path / "gap.db"
    write_database(file, 20)
    connection = sqlite3.connect(file)
    connection.execute("DELETE FROM events WHERE rowid = 5")
    connection.commit()
    connection.close()
    assumed = StoredDatabase.open(str(file)).pages(KEY, assume=True)
    assert len(assumed) == 20
    assert not pages_of(file).begins_with(assumed)


def test_assume_is_ignored_if_there_are_other_sessions(scattered: Path) -> None:
    connection = sqlite3.connect(scattered)
    connection.execute("INSERT INTO sessions SELECT app_name, user_id, 'other', state, create_time, update_time FROM sessions")
    connection.commit()
    connection.close()
    pages = StoredDatabase.open(str(scattered)).pages(KEY, assume=True)
    assert not pages.is_assumed
    assert len(pages) == COUNT - COUNT // 3


def test_a_long_database_is_listed_without_counts(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = StoredDatabase.open(str(written))
    assert [(summary.key, summary.event_count) for summary in database.listing()] == [(KEY, COUNT)]
    monkeypatch.setattr("runtime.storage.reading.reader.MANY_EVENTS", COUNT)
    assert database.listing() == database.sessions()
    monkeypatch.setattr("runtime.storage.reading.reader.MANY_EVENTS", COUNT - 1)
    assert [(summary.key, summary.event_count) for summary in database.listing()] == [(KEY, None)]


@pytest.mark.parametrize("which", ["written", "scattered"])
def test_grow_adds_the_events_of_following(which: str, request: pytest.FixtureRequest) -> None:
    file = request.getfixturevalue(which)
    pages, whole, beside = pages_of(file), pages_of(file), pages_of(file)
    pages.clear()
    assert len(pages) == 0
    places = {rowid: place for place, (rowid, _) in enumerate(pages.following(COUNT))}
    for most in (30, 100, 1_000):
        found = pages.following(most)
        assert [event_id for _, event_id in found] == [row[0] for row in whole.rows(len(pages), len(pages) + most)]
        pages.grow([rowid for rowid, _ in found])
        assert pages.rows(0, COUNT) == whole.rows(0, len(pages))
    assert len(pages) == len(whole)
    assert pages.following(10) == []
    beside.clear()
    beside.take_from(pages)
    assert beside.rows(0, COUNT) == whole.rows(0, COUNT)
    assert all(beside.place_of(rowid) == place for rowid, place in places.items())
