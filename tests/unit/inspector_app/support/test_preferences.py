"""Preferences across restarts, between processes, and in damaged files."""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector_app.support import preferences as module
from inspector_app.support.file_lock import locked
from inspector_app.support.preferences import MAX_RECENT, Preferences


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new" / "preferences.json"


@pytest.fixture
def preferences(file: Path) -> Preferences:
    return Preferences(file)


def test_recent_items_are_newest_first_unique_and_limited(preferences: Preferences, file: Path) -> None:
    for number in range(MAX_RECENT + 3):
        preferences.add_recent(f"{number}.db")
    preferences.add_recent("7.db")
    recent = Preferences(file).recent
    assert len(recent) == MAX_RECENT
    assert recent[0] == "7.db"
    assert len(set(recent)) == MAX_RECENT
    preferences.remove_recent("7.db")
    assert "7.db" not in Preferences(file).recent


def test_only_the_trusted_folder_itself_is_trusted(preferences: Preferences, file: Path, tmp_path: Path) -> None:
    (tmp_path / "agent" / "inner").mkdir(parents=True)
    preferences.keep_trusted_code(tmp_path / "agent", {"digest": "x"})
    later = Preferences(file)
    assert later.trusted_code(tmp_path / "agent") == {"digest": "x"}
    assert later.trusted_code(tmp_path / "agent" / "inner" / "..") == {"digest": "x"}
    assert not later.trusted_code(tmp_path)
    assert not later.trusted_code(tmp_path / "agent" / "inner")


def test_every_value_is_remembered(preferences: Preferences, file: Path, tmp_path: Path) -> None:
    preferences.theme = "dark"
    preferences.filters = ['author == "ü"']
    preferences.keep_pinned("a/b", ["key"])
    preferences.keep_saved_filters("app", {"second": "2", "first": "1"})
    preferences.keep_breakpoints(tmp_path, '{"breakpoints": []}')
    later = Preferences(file)
    assert later.theme == "dark"
    assert later.filters == ['author == "ü"']
    assert later.pinned("a/b") == ["key"]
    assert list(later.saved_filters("app").items()) == [("second", "2"), ("first", "1")]
    assert later.breakpoints(tmp_path) == '{"breakpoints": []}'
    assert (later.pinned("other"), later.saved_filters("other"), later.breakpoints(file)) == ([], {}, "")


def test_a_running_process_sees_what_another_one_writes(preferences: Preferences, file: Path) -> None:
    assert preferences.recent == []
    other = Preferences(file)
    other.add_recent("a.db")
    assert preferences.recent == ["a.db"]
    preferences.theme = "light"
    other.add_recent("b.db")
    assert (preferences.recent, other.theme) == (["b.db", "a.db"], "light")
    file.unlink()
    assert preferences.recent == []


def _pin(file: Path, number: int) -> None:
    preferences = Preferences(file)
    for key in range(20):
        preferences.keep_pinned(f"app {number} {key}", [str(key)])


def test_processes_that_write_at_the_same_time_lose_nothing(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_pin, args=(file, number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    later = Preferences(file)
    assert [later.pinned(f"app {number} {key}") for number in range(3) for key in range(20)] == [[str(key)] for key in range(20)] * 3


def test_an_unchanged_value_is_not_written_again(preferences: Preferences, file: Path) -> None:
    preferences.add_recent("a.db")
    before = file.stat()
    preferences.add_recent("a.db")
    Preferences(file).keep_trusted_code(file.parent, {"digest": "x"})
    Preferences(file).keep_trusted_code(file.parent, {"digest": "x"})
    assert file.stat().st_ino != before.st_ino
    before = file.stat()
    Preferences(file).add_recent("a.db")
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_entries_of_a_later_version_are_kept(preferences: Preferences, file: Path) -> None:
    preferences.theme = "dark"
    file.write_text(json.dumps({"theme": "dark", "prices": {"model": 1}}))
    preferences.add_recent("a.db")
    assert json.loads(file.read_text()) == {"theme": "dark", "prices": {"model": 1}, "recent": ["a.db"]}


@pytest.mark.parametrize("content", [b"", b'{"theme": "da', b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_file_is_set_aside(file: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    preferences = Preferences(file)
    assert preferences.recent == []
    preferences.add_recent("a.db")
    assert Preferences(file).recent == ["a.db"]
    (copy,) = file.parent.glob("preferences.damaged-*.json")
    assert copy.read_bytes() == content
    assert [record.getMessage() for record in caplog.records] == [
        f"{file} is damaged: the preferences start empty. {copy} is a copy of the damaged file."
    ]


@pytest.mark.parametrize("values", [{"recent": 5, "pinned": [], "saved_filters": {"app": 1}, "trusted_code": 5}])
def test_values_of_another_type_count_as_missing(file: Path, values: object) -> None:
    file.parent.mkdir()
    file.write_text(json.dumps(values))
    preferences = Preferences(file)
    assert (preferences.recent, preferences.pinned("app"), preferences.saved_filters("app"), preferences.trusted_code(file)) == (
        [],
        [],
        {},
        {},
    )
    preferences.keep_pinned("app", ["key"])
    assert preferences.pinned("app") == ["key"]


def in_the_way(file: Path) -> None:
    file.parent.write_text("a file where the folder should be")


def unreadable(file: Path) -> None:
    file.mkdir(parents=True)


@pytest.mark.parametrize("spoil", [in_the_way, unreadable])
def test_values_that_cannot_be_saved_stay_in_memory(spoil: Callable[[Path], None], file: Path, caplog: pytest.LogCaptureFixture) -> None:
    spoil(file)
    preferences = Preferences(file)
    preferences.add_recent("a.db")
    preferences.add_recent("b.db")
    assert preferences.recent == ["b.db", "a.db"]
    assert any("cannot be saved" in record.getMessage() for record in caplog.records)


def test_a_lock_of_another_process_delays_a_write_up_to_the_timeout(
    preferences: Preferences, file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_LOCK_SECONDS", 0.05)
    preferences.add_recent("a.db")
    with locked(file.with_name("preferences.json.lock"), 1), caplog.at_level(logging.WARNING):
        preferences.add_recent("b.db")
    assert preferences.recent == ["b.db", "a.db"]
    assert Preferences(file).recent == ["a.db"]
    preferences.theme = "dark"
    assert Preferences(file).recent == ["b.db", "a.db"], "the next write saves both"


async def test_a_background_write_does_not_wait_for_another_process_and_loses_nothing(
    preferences: Preferences, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    preferences.add_recent("a.db")
    preferences.write_in_background()
    with locked(file.with_name("preferences.json.lock"), 1):
        for number in range(50):  # returns at once, although the file cannot be written
            preferences.keep_pinned("app", [f"key_{number}"])
        preferences.add_recent("b.db")
        assert (preferences.pinned("app"), preferences.recent) == (["key_49"], ["b.db", "a.db"])
        assert Preferences(file).recent == ["a.db"]
    await preferences.close()
    later = Preferences(file)
    assert (later.pinned("app"), later.recent) == (["key_49"], ["b.db", "a.db"])


async def test_changes_that_wait_are_written_at_once(preferences: Preferences, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preferences.add_recent("a.db")
    written: list[bytes] = []
    write = module.write_file
    monkeypatch.setattr(module, "write_file", lambda path, data: (written.append(data), write(path, data)))
    preferences.write_in_background()
    with locked(file.with_name("preferences.json.lock"), 1):
        for number in range(100):
            preferences.keep_pinned("app", [f"key_{number}"])
    await preferences.close()
    assert len(written) <= 2


def _write_as_another_process(file: Path, values: dict[str, object]) -> None:
    new = file.with_name("other.json")
    new.write_text(json.dumps(values))
    new.replace(file)


async def test_a_background_write_keeps_what_another_process_wrote_meanwhile(preferences: Preferences, file: Path) -> None:
    Preferences(file).theme = "light"
    preferences.write_in_background()
    with locked(file.with_name("preferences.json.lock"), 1):
        preferences.add_recent("ours.db")
        _write_as_another_process(file, {"recent": ["theirs.db"], "theme": "dark"})
        assert preferences.recent == ["ours.db", "theirs.db"]
    await preferences.close()
    assert (Preferences(file).recent, Preferences(file).theme) == (["ours.db", "theirs.db"], "dark")


async def test_a_background_write_that_timed_out_is_written_with_the_next(
    preferences: Preferences, file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_LOCK_SECONDS", 0.05)
    preferences.add_recent("a.db")
    preferences.write_in_background()
    with locked(file.with_name("preferences.json.lock"), 1), caplog.at_level(logging.WARNING):
        preferences.add_recent("b.db")
        await preferences.close()
    assert "cannot be saved" in caplog.text
    preferences.write_in_background()
    preferences.theme = "dark"
    await preferences.close()
    assert (Preferences(file).recent, Preferences(file).theme) == (["b.db", "a.db"], "dark")


@pytest.mark.parametrize("stored", [None, -1, True, "30", 1.5, [], {}])
def test_bounds_of_unsaved_sessions_that_make_no_sense_are_the_defaults(tmp_path: Path, stored: object) -> None:
    file = tmp_path / "preferences.json"
    file.write_text(json.dumps({"unsaved_days": stored, "unsaved_megabytes": stored}))
    preferences = Preferences(file)
    assert (preferences.unsaved_days, preferences.unsaved_megabytes) == (30, 500)
    preferences.unsaved_days, preferences.unsaved_megabytes = 0, 100
    assert (Preferences(file).unsaved_days, Preferences(file).unsaved_megabytes) == (0, 100)


async def test_half_a_surrogate_pair_is_saved_and_holds_no_window_open(preferences: Preferences, file: Path) -> None:
    preferences.write_in_background()
    preferences.keep_pinned("bot", ["\ud800"])
    preferences.add_recent("/data/caf\udce9.db")
    await asyncio.wait_for(preferences.close(), 5)
    assert Preferences(file).pinned("bot") == ["\ud800"]
    assert Preferences(file).recent == ["/data/caf\udce9.db"]


def test_a_link_to_the_file_stays_a_link(preferences: Preferences, file: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "mine.json"
    kept.parent.mkdir()
    kept.write_text('{"theme": "light"}')
    file.parent.mkdir(parents=True, exist_ok=True)
    file.symlink_to(kept)
    assert preferences.theme == "light"
    preferences.theme = "dark"
    assert file.is_symlink()
    assert json.loads(kept.read_bytes())["theme"] == "dark"
    assert [each.name for each in kept.parent.iterdir()] == ["mine.json"]


@pytest.mark.parametrize("name", ["preferences.json", "preferences.json.lock"])
def test_a_fifo_is_not_waited_for(name: str, preferences: Preferences, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file.with_name(name))
    preferences.theme = "dark"
    assert preferences.theme == "dark"
    assert "cannot be saved" in caplog.text


def test_a_file_that_is_too_large_is_left_alone(preferences: Preferences, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"[" + b" " * module.MOST_BYTES)
    preferences.theme = "dark"
    assert preferences.theme == "dark"
    assert file.stat().st_size == module.MOST_BYTES + 1
    assert "it is larger than 4,000,000 bytes" in caplog.text
