"""Calls of the command line in this process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector_app.cli import main


def answer(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    """Run a command and return its parsed JSON."""
    assert main([*arguments, "--json"]) == status
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that fails and return its error message."""
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("agent-inspector: ")
    return err
