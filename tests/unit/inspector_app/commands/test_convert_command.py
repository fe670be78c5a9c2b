"""The `convert` subcommand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector_app.cli import main
from tests.fixture_paths import fixtures_dir


def test_convert_reports_its_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = fixtures_dir() / "open" / "adk1.16.0-v0-chat_tools.db", tmp_path / "new.db"
    assert main(["convert", str(old), str(new), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["layout"], said["sessions"], said["events"]) == ("v0", 1, 10)


def test_convert_never_replaces_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = fixtures_dir() / "open" / "adk1.16.0-v0-chat_tools.db", tmp_path / "new.db"
    new.write_text("mine")
    assert main(["convert", str(old), str(new)]) == 1
    said = capsys.readouterr()
    assert (said.out, "already exists" in said.err) == ("", True)
    assert new.read_text() == "mine"
