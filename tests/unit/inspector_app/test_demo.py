from __future__ import annotations

from pathlib import Path

import pytest

from inspector_app.cli import main
from inspector_app.demo import interrupted_story
from runtime.history.invocations import invocations
from runtime.storage.reading.reader import StoredDatabase
from tests.end2end.processes import STORY


def statuses(database: Path) -> list[list[str]]:
    stored = StoredDatabase.open(str(database))
    try:
        return sorted([invocation.status for invocation in invocations(stored.events(summary.key))] for summary in stored.sessions())
    finally:
        stored.close()


def test_the_demo_has_exactly_one_story_to_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "not a key: no model may be called")
    database = interrupted_story(tmp_path / "new" / "story.db")
    assert statuses(database) == [["interrupted"]]
    interrupted_story(database)
    assert statuses(database) == [["interrupted"]]

    stored = StoredDatabase.open(str(database))
    (summary,) = stored.sessions()
    stored.close()
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("AGENT_INSPECTOR_SAMPLE_DELAY", "0")
    assert main(["resume", STORY, "--db", str(database), "--session", summary.key.session_id]) == 0
    assert statuses(database) == [["finished"]]
    interrupted_story(database)
    assert statuses(database) == [["finished"], ["interrupted"]]
