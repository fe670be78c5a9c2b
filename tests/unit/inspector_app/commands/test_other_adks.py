"""The commands read databases of the other ADKs as google-adk's, and refuse to write into them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from inspector_app.cli import main
from tests.fixture_paths import fixtures_dir

FOLDER = fixtures_dir() / "other-adks"
FILES = sorted(path.stem for path in FOLDER.glob("*.db"))


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that succeeds, and return what it printed."""
    assert main([*words]) == 0
    printed = capsys.readouterr()
    assert printed.err == "" or "has no events here" in printed.err or "is empty" in printed.err or "has no invocations" in printed.err
    return printed.out


@pytest.mark.parametrize("name", FILES)
def test_every_file_reads_as_expected(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(FOLDER / f"{name}.db")
    expected = json.loads((FOLDER / f"{name}.expected.json").read_text("utf-8"))
    unit = 1000 if name.startswith("google") else 1
    listed = json.loads(said(capsys, "sessions", file, "--json"))
    assert len(said(capsys, "sessions", file).splitlines()) == 1 + len(expected["sessions"])
    assert {(each["id"], each["user_id"], each["last_update_time"]) for each in listed} == {
        (each["id"], each["userId"], each["lastUpdateTime"] / unit) for each in expected["sessions"]
    }
    for session in expected["sessions"]:
        named = [file, "--app", session["appName"], "--user", session["userId"], "--session", session["id"]]
        ids = [event for app, user, found, event in expected["appendOrder"] if [app, user, found] == named[2::2]]
        events = [json.loads(line) for line in said(capsys, "events", *named, "--json").rstrip("\n").split("\n") if line]
        assert [event["id"] for event in events] == ids or not expected["appendOrder"]
        assert all(1795364000 < event["timestamp"] < 1795366000 for event in events)
        lines = said(capsys, "events", *named, "--last", "3").splitlines()
        assert all(line.startswith("16:") for line in lines)  # the tests run in UTC
        state = json.loads(said(capsys, "state", *named, "--json"))
        assert {**state["session"], **state["user"], **state["app"]} == {
            key: value for key, value in session["state"].items() if not key.startswith("temp:")
        }
        said(capsys, "invocations", *named)
        if ids:
            said(capsys, "state", *named, "--at", ids[-1])


@pytest.mark.parametrize("name", ["google2.0.0-chat_tools", "google2.0.0-appended-to-v1", "iqai0.5.9-chat_tools"])
@pytest.mark.parametrize(
    "words",
    [
        ["rewind", "DB", "--before", "e-", "--in-place"],
        ["rewind", "DB", "--before", "e-"],
        ["delete", "DB", "--session", "chat-1", "--yes", "--in-place"],
        ["prune", "DB", "--days", "0", "--yes", "--in-place"],
        ["undelete", "DB", "copy.db"],
        ["fork", "DB"],
        ["fork", "DB", "--into", "DB"],
        ["run", "AGENT", "--message", "hello", "--db", "DB"],
        ["resume", "AGENT", "--db", "DB", "--session", "chat-1"],
    ],
)
def test_what_writes_is_refused_with_one_sentence(
    name: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(FOLDER / f"{name}.db", "story.db")
    Path("copy.db").write_bytes(Path("story.db").read_bytes())
    agent = str(Path(__file__).parents[4] / "resources" / "samples" / "orders")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    status = main([{"DB": "story.db", "AGENT": agent}.get(word, word) for word in words])
    printed = capsys.readouterr()
    assert (status, printed.out) == (1, "")
    assert printed.err.count("\n") == 1
    assert "is read-only here. Convert it into a new file: agent-inspector convert story.db new.db" in printed.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
