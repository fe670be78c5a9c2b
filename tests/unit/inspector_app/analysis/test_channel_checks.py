"""What the doctor says of a file of checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector_app.analysis import channel_checks
from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase
from tests.langgraph_threads import copy_of
from tests.unit.storage.langgraph.test_channel_sizes import filled


def test_doctor_says_what_fills_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(filled(tmp_path))
    assert main(["doctor", file]) == 0
    assert "checkpoints hold" not in capsys.readouterr().out
    monkeypatch.setattr(channel_checks, "LARGE", 1_000)
    main(["doctor", file, "--json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    (size,) = [each for each in found if each["kind"] == "size of checkpoints"]
    assert "document" in size["what"] and "equal copies" in size["what"]


def test_an_interrupt_that_was_never_answered_is_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(copy_of("create_agent_hitl", tmp_path))
    with StoredDatabase.open(file) as database:
        last = max(summary.last_update_time for summary in database.sessions())
    for days, kind in ((2, "unanswered call"), (9, "stale interrupt")):
        monkeypatch.setattr("inspector_app.analysis.call_checks.time.time", lambda days=days: last + days * 86_400)
        main(["doctor", file, "--json"])
        found = [each for each in json.loads(capsys.readouterr().out)["findings"] if "interrupt" in each["what"]]
        assert [each["kind"] for each in found] == [kind]
