"""What the command line does for people: short ids, defaults, widths, empty results, commands to paste, completion."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from inspector_app.cli import app_command, main
from inspector_app.commands.problems import UsageError
from inspector_app.commands.selection import session_key, whole_id
from runtime.errors import NotFoundError, SessionNotFoundError
from runtime.sessions.session_key import SessionKey
from tests.end2end.processes import ORDERS, ROOT, environment
from tests.unit.inspector_app.main_calls import answer

pytestmark = pytest.mark.usefixtures("scripted")

OURS = str(ROOT / "tests" / "data" / "ours.db")


def output(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(arguments) == status
    return capsys.readouterr().out


# which session, event and invocation


KEYS = [
    SessionKey("shop", "ana", "s-100"),
    SessionKey("shop", "ana", "s-200"),
    SessionKey("shop", "user", "s-100"),
    SessionKey("bank", "eve", "b"),
]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (("bank", None, None), KEYS[3]),
        ((None, None, "b"), KEYS[3]),
        ((None, "eve", None), KEYS[3]),
        (("shop", None, "s-2"), KEYS[1]),
        ((None, None, "s-100"), KEYS[2]),
        ((None, "ana", "s-1"), KEYS[0]),
        (("shop", None, None), KEYS[2]),
    ],
)
def test_only_what_is_ambiguous_has_to_be_named(wanted: tuple[str | None, str | None, str | None], found: SessionKey) -> None:
    assert session_key(KEYS, *wanted, "a.db") == found


def test_several_sessions_that_fit_are_listed_as_options() -> None:
    with pytest.raises(UsageError, match="--app shop --user ana --session s-100\n  --app shop --user ana --session s-200"):
        session_key(KEYS, "shop", "ana", None, "a.db")
    with pytest.raises(SessionNotFoundError, match=r"no session 'x' of app 'shop'\. `agent-inspector sessions 'my a\.db'` lists all"):
        session_key(KEYS, "shop", None, "x", "my a.db")
    with pytest.raises(SessionNotFoundError, match="has no sessions"):
        session_key([], None, None, None, "a.db")


def test_the_beginning_of_an_id_is_enough() -> None:
    ids = ["3f2a", "3f2b", "3f2", "77"]
    where = (KEYS[3], "a.db")
    assert [whole_id("event", written, ids, *where) for written in ("7", "3f2", "3f2a")] == ["77", "3f2", "3f2a"]
    with pytest.raises(UsageError, match="2 events begin with '3f2': 3f2a, 3f2b"):
        whole_id("event", "3f2", ["3f2a", "3f2b"], *where)
    with pytest.raises(NotFoundError, match=r"no event '9'\. `agent-inspector events a\.db --app bank --user eve --session b` lists"):
        whole_id("event", "9", ids, *where)


def test_a_database_with_one_session_needs_no_names(capsys: pytest.CaptureFixture[str]) -> None:
    events = [json.loads(line) for line in output(capsys, "events", OURS, "--json").splitlines()]
    assert len(events) == 11
    short = events[3]["id"][:10]
    after = [json.loads(line) for line in output(capsys, "events", OURS, "--after", short, "--json").splitlines()]
    assert after == events[4:]
    last = [json.loads(line) for line in output(capsys, "events", OURS, "--last", "2", "--json").splitlines()]
    assert last == events[-2:]
    out = output(capsys, "events", OURS, "--last", "1", "--where", 'kind == "tool call"', "--json")
    matching = [json.loads(line) for line in out.splitlines()]
    assert [event["id"] for event in matching] == [event["id"] for event in events if "function_call" in json.dumps(event)][-1:]
    assert answer(capsys, "state", OURS, "--at", short) == answer(capsys, "state", OURS, "--at", events[3]["id"])


def test_options_may_be_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "events", OURS, "--sess", "s1", "--li=1", "--js") == output(capsys, "events", OURS, "--limit", "1", "--json")
    assert main(["fork", OURS, "--a", "x"]) == 2  # --app, --at, --artifacts, --agent, --answer
    assert "No such option: --a" in capsys.readouterr().err


# what is printed


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_tables_fit_the_width(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in ("sessions", "events", "invocations"):
        lines = output(capsys, command, OURS).splitlines()
        assert max(map(len, lines)) <= columns
    assert any("…" in line for line in lines) == (columns < 200)


@pytest.mark.parametrize(("variable", "coloured"), [(None, True), ("NO_COLOR", False)])
def test_colours_are_for_terminals(
    variable: str | None, coloured: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    assert ("\x1b[1m" in output(capsys, "sessions", OURS)) == coloured


def test_empty_results_are_reported_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, sentence in (
        (("events", OURS, "--where", 'text contains "in_stock"'), "`json` is the whole event"),
        (("events", OURS, "--where", "tokens.total > 999999999"), "No event matches."),
        (("events", OURS, "--limit", "0"), "The session has no events here."),
        (("state", OURS, "--writers", "nothing"), "The key 'nothing' was never written."),
        (("forks", OURS), "The database has no forks."),
        (("prune", OURS, "--days", "99999", "--dry-run"), "No session matches, so nothing is deleted."),
    ):
        assert main(arguments) == 0
        out, err = capsys.readouterr()
        assert sentence in err
        assert out == "" or arguments[0] == "forks"


def test_proposed_commands_can_be_pasted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = str(tmp_path / "my orders.db")
    out = output(capsys, "run", ORDERS, "--message", "40 boxes of A4 paper", "--db", database, "--session", "it's one", status=3)
    program, *words = shlex.split(out.split("Answer with: ")[1])
    assert program == "agent-inspector"
    assert main(words) == 0
    out = capsys.readouterr().out
    invocation = output(capsys, "invocations", database).splitlines()[1].split()[0]
    program, *words = shlex.split(output(capsys, "rewind", database, "--before", invocation[:6], "--dry-run").split("fork it instead: ")[1])
    assert main(words) == 0
    capsys.readouterr()
    out = output(capsys, "delete", database, "--session", "it's one", "--yes")
    program, *words = shlex.split(next(line for line in out.splitlines() if "To restore them: " in line).split("To restore them: ")[1])
    assert main(words) == 0
    assert "1 session restored." in capsys.readouterr().out


def test_the_version_and_the_language_of_conditions_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "--version") == output(capsys, "version")
    assert "expression = all" in output(capsys, "help", "where")


def test_examples_of_the_help_are_not_wrapped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = output(capsys, "fork", "--help").splitlines()
    assert "  agent-inspector fork orders.db --session s1 --at 3f2a --new-session s2" in lines
    assert max(len(line) for line in lines if not line.startswith("  agent-inspector")) <= 60
    text = "\n".join(lines)
    assert "Usage: agent-inspector fork [OPTIONS] DB" in text and "<str>" not in text and "<bool>" not in text


def test_a_wrong_option_refers_to_the_commands_help(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["compare", "a.db", "--session", "s1"], ["fork", "a.db", "--answer", "x"], ["events", "a.db", "--where"]):
        assert main(arguments) == 2
        assert capsys.readouterr().err.startswith(f"usage: agent-inspector {arguments[0]} --help\n")


# completion


def completed(words: str) -> list[str]:
    """Return bash's and fish's proposals for a command line, without their descriptions."""
    environ = {
        **environment(),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_AGENT_INSPECTOR_COMPLETE": "complete_fish",
    }
    command = [sys.executable, "-m", "inspector_app"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def test_commands_options_and_names_of_a_database_are_completed() -> None:
    assert completed("agent-inspector inv") == ["invocations"]
    assert completed("agent-inspector events x.db --whe") == ["--where"]
    assert completed(f"agent-inspector events {OURS} --app ") == ["orders"]
    assert completed(f"agent-inspector events {OURS} --user u") == ["user"]
    assert completed(f"agent-inspector state {OURS} --session ") == ["s1"]
    assert len(completed(f"agent-inspector state {OURS} --session s1 --at ")) == 11
    assert completed(f"agent-inspector rewind {OURS} --before e-")[0].startswith("e-")
    assert completed("agent-inspector events no.db --session ") == [""]
    assert completed("agent-inspector --theme ") == ["light", "dark", "contrast", "system"]
    assert completed("agent-inspector completion p") == ["powershell"]
    assert completed("agent-inspector help wh") == ["where"]
    assert completed(f"agent-inspector run {ORDERS} --db {OURS} --session ") == ["s1"]


def powershell_proposals(words: str) -> list[str]:
    environ = {
        **environment(),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": words.rpartition(" ")[2],
        "_AGENT_INSPECTOR_COMPLETE": "complete_powershell",
    }
    command = [sys.executable, "-m", "inspector_app"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)
    return [line.split(":::")[0] for line in done.stdout.splitlines()]


def test_powershell_gets_the_same_proposals() -> None:
    assert powershell_proposals("agent-inspector inv") == ["invocations"]
    assert powershell_proposals(f"agent-inspector state {OURS} --session ") == ["s1"]


def test_a_powershell_script_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Register-ArgumentCompleter" in output(capsys, "completion", "powershell")


def test_help_explains_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    for command in app_command().commands.values():
        assert command.help and all(param.help for param in command.params)
