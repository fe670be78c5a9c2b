"""`run --state-from`: a new session starts with the state that a stored one had after an event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main

pytestmark = pytest.mark.usefixtures("prepared_pythons")

CLERK = str(Path(__file__).parents[3] / "data" / "evals" / "clerk")
FIRST = {"plan": "gold", "user:city": "Munich", "app:open": True, "n": 1}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words]) == 0
    return capsys.readouterr().out


@pytest.fixture
def stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A database with a session whose second message changes a key and deletes another."""
    file = tmp_path / "a.db"
    for state in (FIRST, {"n": 2, "plan": None}):
        words = ["run", CLERK, "--message", "hello", "--db", str(file), "--session", "s1", "--state", json.dumps(state)]
        run(capsys, *words)
    return file


@pytest.mark.parametrize(("place", "given", "own"), [(0, {}, {"plan": "gold", "n": 1}), (-1, {"n": 9}, {"n": 9, "plan": None})])
def test_a_session_starts_as_another_was_after_an_event(
    place: int, given: dict[str, Any], own: dict[str, Any], stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [json.loads(line)["id"] for line in run(capsys, "events", str(stored), "--json").splitlines()]
    new = str(tmp_path / "new.db")
    words = ["--state-from", str(stored), "s1", ids[place][:8], *(["--state", json.dumps(given)] if given else [])]
    run(capsys, "run", CLERK, "--message", "hello", "--db", new, "--session", "s2", *words)
    found = json.loads(run(capsys, "state", new, "--json"))
    assert (found["session"], found["user"], found["app"]) == (own, {"user:city": "Munich"}, {"app:open": True})


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [(("DB", "s9", "e"), 1, "There is no session"), (("DB", "s1", "zz"), 1, "no event"), (("none.db", "s1", "e"), 1, "none.db")],
)
def test_what_is_not_there_is_a_sentence(
    words: tuple[str, ...], status: int, sentence: str, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [str(stored) if word == "DB" else word for word in words]
    assert main(["run", CLERK, "--message", "hello", "--state-from", *named]) == status
    told = capsys.readouterr()
    assert sentence in told.err and told.out == ""
