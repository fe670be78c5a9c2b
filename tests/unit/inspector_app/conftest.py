"""Fixtures for tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector_app.cli import main
from tests.end2end.processes import ORDERS


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the samples answer from their scripts, without delays."""
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("AGENT_INSPECTOR_SAMPLE_DELAY", "0")
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def ordered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return a database with one order that waits for approval."""
    database = str(tmp_path / "orders.db")
    assert main(["run", ORDERS, "--message", "40 boxes of A4 paper", "--db", database, "--session", "s1"]) == 3
    capsys.readouterr()
    return database
