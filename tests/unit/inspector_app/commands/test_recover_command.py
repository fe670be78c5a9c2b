"""`agent-inspector recover`."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector_app.cli import main

DATA = Path(__file__).parents[3] / "data"


def test_the_command_reports_and_replaces_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = tmp_path / "new.db"
    assert main(["recover", str(DATA / "v1.db"), str(new)]) == 0
    assert "events 10" in (out := capsys.readouterr().out)
    assert "Nothing seems to be lost." in out
    assert main(["recover", str(DATA / "v1.db"), str(new)]) == 1
    assert "already exists" in capsys.readouterr().err
    assert main(["recover", str(tmp_path / "none.db"), str(tmp_path / "other.db")]) == 1
    assert "There is no file" in capsys.readouterr().err
    assert main(["recover", str(tmp_path), str(tmp_path / "other.db")]) == 1
    assert "is not a regular file" in capsys.readouterr().err
