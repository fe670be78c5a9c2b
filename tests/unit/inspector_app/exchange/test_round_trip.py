"""A session that is exported and imported is the same session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from runtime.events.credentials import without_credentials
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, varied
from tests.sweep import count

DATABASES = varied()[:: count(quick=3, full=1)]
FORMATS = ("json", "jsonl", "md", "html")


def run(*words: str | Path) -> int:
    return main([str(word) for word in words])


def cases() -> Iterator[Any]:
    """Yield each database with one of the formats in turn; in `make soak`, with each."""
    for number, entry in enumerate(DATABASES):
        first = number % len(FORMATS)
        for kind in (*FORMATS[first:], *FORMATS[:first])[: count(quick=1, full=len(FORMATS))]:
            yield pytest.param(entry, kind, id=f"{entry['name']}-{kind}")


@pytest.mark.sweep
@pytest.mark.parametrize(("entry", "kind"), [*cases()])
def test_a_fixture_database_is_equal_after_export_and_import(entry: dict[str, Any], kind: str, tmp_path: Path) -> None:
    original, out, new = fixtures_dir() / "open" / entry["file"], tmp_path / f"out.{kind}", tmp_path / "new.db"
    assert run("export", original, out, "--secrets") == 0
    assert run("import", out, new) == 0
    assert contents(new) == contents(original)


@pytest.mark.sweep
@pytest.mark.parametrize("entry", DATABASES, ids=lambda entry: entry["name"])
def test_a_fixture_database_is_equal_in_another_database(entry: dict[str, Any], tmp_path: Path) -> None:
    original, new = fixtures_dir() / "open" / entry["file"], tmp_path / "new.db"
    assert run("import", original, new) == 0
    assert contents(new) == contents(original)
    with StoredDatabase.open(str(original)) as one, StoredDatabase.open(str(new)) as other:
        for summary in one.sessions():
            history, copy = one.history(summary.key), other.history(summary.key)
            for index in range(-1, len(history.events)):
                assert copy.state_at(index).session == history.state_at(index).session


def contents(file: Path) -> dict[Any, Any]:
    """Return all sessions: state without `temp:`, and the events' JSON in order, without the credentials that no export has."""
    found = {}
    with StoredDatabase.open(str(file)) as database:
        for summary in database.sessions():
            events = []
            for event in database.events(summary.key):
                data = json.loads(without_credentials(event).model_dump_json(exclude_none=True))
                delta = data["actions"]["state_delta"]
                data["actions"]["state_delta"] = {key: value for key, value in delta.items() if not key.startswith("temp:")}
                events.append(data)
            state = {key: value for key, value in database.state(summary.key).items() if not key.startswith("temp:")}
            found[summary.key] = (state, events)
    return found
