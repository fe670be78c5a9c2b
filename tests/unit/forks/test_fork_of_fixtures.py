"""Forks of google-adk's sessions in every layout have the same events and the same state after each of them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from runtime.forks.fork import Cut, fork_session
from runtime.history.scoped_state import ScopedState
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, manifest
from tests.sweep import count

DATABASES = [entry for entry in manifest() if "big" not in entry["name"] and "many" not in entry["name"]]


@pytest.mark.sweep
@pytest.mark.parametrize("entry", DATABASES[:: count(quick=40, full=1)], ids=lambda entry: entry["name"])
async def test_a_fork_has_the_same_events_and_states(entry: dict[str, Any], tmp_path: Path) -> None:
    file = fixtures_dir() / "open" / entry["file"]
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    with StoredDatabase.open(str(file)) as database:
        for number, summary in enumerate(database.sessions()):
            history = database.history(summary.key)
            for index in {-1, 0, len(history.events) // 2, len(history.events) - 1}:
                if index >= len(history.events):
                    continue
                cut = (
                    Cut(before=history.events[0].id)
                    if index < 0 and history.events
                    else Cut(at=history.events[index].id)
                    if history.events
                    else Cut()
                )
                fork = await fork_session(str(file), summary.key, cut, into=str(tmp_path / f"{number}_{index}.db"))
                with StoredDatabase.open(fork.database) as forked:
                    past = forked.history(fork.key)
                    assert [event.id for event in past.events] == [event.id for event in history.events[: index + 1]]
                    assert [event.timestamp for event in past.events] == [event.timestamp for event in history.events[: index + 1]]
                    for place in range(-1, index + 1):
                        assert _shown(past.state_at(place)) == _shown(history.state_at(place)), (index, place)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before


def _shown(state: ScopedState) -> Any:
    # A fork has no values of `temp:` keys, which google-adk stored up to 1.16.
    stored = {scope: dict(sorted(getattr(state, scope).items())) for scope in ("session", "user", "app")}
    return {**stored, "temp": sorted(state.temp)}
