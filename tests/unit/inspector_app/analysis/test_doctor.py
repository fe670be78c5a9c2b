"""Each finding of the doctor with a file that has it, and none where nothing is wrong."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector_app.analysis.doctor import examine
from inspector_app.analysis.finding import Finding
from inspector_app.cli import main
from runtime.agents import LlmAgent, SequentialAgent
from runtime.storage.connections.database_url import mirrored
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, varied
from tests.unit.inspector_app.analysis.v1_file import START, called, returned, said, text_of, write_v1, wrote

HELLO, BYE, EMPTY = said("hello", "user"), said("bye"), {"content": {"role": "model"}}


def findings_in(file: Path, **options: Any) -> list[Finding]:
    with StoredDatabase.open(str(file)) as database:
        return list(examine(database, file.name, **options))


def brief(findings: list[Finding]) -> list[tuple[str, str, str | None]]:
    return [(finding.kind, finding.level, finding.event_id) for finding in findings]


CASES: dict[str, tuple[list[dict[str, Any]], dict[str, Any] | None, list[tuple[str, str, str | None]]]] = {
    "nothing": ([HELLO, called("pay", "c"), returned("pay", "c"), wrote({"paid": True}), BYE], None, []),
    "cut off": ([HELLO, called("pay", "c")], None, [("unanswered call", "warning", "e1")]),
    "waits": ([HELLO, called("ask", "c", long_running_tool_ids=["c"])], None, [("unanswered call", "note", "e1")]),
    "continued": (
        [HELLO, called("ask", "c", long_running_tool_ids=["c"]), said("so?", "user", invocation_id="j"), {**BYE, "invocation_id": "j"}],
        None,
        [("unanswered call", "warning", "e1")],
    ),
    "no call": ([HELLO, returned("pay", "c"), BYE], None, [("orphan response", "error", "e1")]),
    "call comes later": ([HELLO, returned("pay", "c"), called("pay", "c"), BYE], None, [("orphan response", "error", "e1")]),
    "one call id": (
        [HELLO, called("pay", "c"), returned("pay", "c"), called("ship", "c"), returned("ship", "c"), BYE],
        None,
        [("duplicate id", "warning", "e3")],
    ),
    "one event id": ([HELLO, {**BYE, "id": "e0"}], None, [("duplicate id", "error", "e0")]),
    "parallel": (
        [HELLO, wrote({"total": 1}, branch="both.a", author="a"), wrote({"total": 2}, branch="both.b", author="b"), BYE],
        None,
        [("parallel overwrite", "warning", "e2")],
    ),
    "parallel, one value": ([HELLO, wrote({"n": 1}, branch="both.a"), wrote({"n": 1}, branch="both.b"), BYE], None, []),
    "one after the other": ([HELLO, wrote({"n": 1}, branch="first.a"), wrote({"n": 2}, branch="second.a"), BYE], None, []),
    "waits inside an agent": (
        [
            HELLO,
            called("clerk", "c"),
            called("adk_request_confirmation", "q", long_running_tool_ids=["q"], custom_metadata={"inspector_inner_run": {"call": "c"}}),
            returned("clerk", "c"),
        ],
        None,
        [("unanswered call", "note", "e2")],
    ),
    "waits inside an agent without its call": (
        [
            HELLO,
            called("adk_request_confirmation", "q", long_running_tool_ids=["q"], custom_metadata={"inspector_inner_run": {"call": "c"}}),
        ],
        None,
        [("unanswered call", "note", "e1"), ("unreachable resume", "error", "e1")],
    ),
    "no message": ([wrote({}, actions={"agent_state": {"step": 1}})], None, [("unreachable resume", "error", "e0")]),
    "answered in reverse": (
        [HELLO, called("pay", "c", column=START + 9), returned("pay", "c", column=START + 8), {**BYE, "column": START + 10}],
        None,
        [("event out of order", "error", "e2")],
    ),
    "one time": ([HELLO, {**BYE, "column": START}], None, [("event out of order", "warning", "e1")]),
    "folded": (
        [HELLO, {**BYE, "column": START - 3540}],
        None,
        [("event out of order", "error", "e1"), ("time steps back", "warning", "e1")],
    ),
    "clock set back": (
        [HELLO, BYE, said("more", "user", invocation_id="j", timestamp=START - 60, column=START + 5)],
        None,
        [("time steps back", "warning", "e2")],
    ),
    "other state": ([HELLO, wrote({"total": 1}), BYE], {"total": 2}, [("state differs", "error", "e1")]),
    "missing state": ([HELLO, wrote({"total": 1}), BYE], {}, [("state differs", "error", "e1")]),
    "other app state": ([HELLO, wrote({"app:total": 1}), BYE], {"app:total": 2}, [("state differs", "error", "e1")]),
    "state from the creation": ([HELLO, BYE], {"total": 2, "user:plan": "gold"}, []),
    "secret": ([HELLO, wrote({"api_key": "sk-abcdefghijklmnopqrstuvwx"}), BYE], None, [("secret in state", "warning", "e1")]),
    "secret of a user": ([HELLO, wrote({"user:password": "hunter2"}), BYE], None, [("secret in state", "warning", "e1")]),
    "words of people": ([HELLO, wrote({"host_signature": "A. Ode, 2026-11-02, Verified", "game_token": "top hat"}), BYE], None, []),
    "empty": ([HELLO, called("pay", "c"), returned("pay", "c"), EMPTY], None, [("empty answer", "warning", "e3")]),
    "thoughts only": (
        [HELLO, {"content": {"role": "model", "parts": [{"text": "hm", "thought": True}]}}],
        None,
        [("empty answer", "warning", "e1")],
    ),
    "empty before an answer": ([HELLO, EMPTY, BYE], None, []),
    "cut off at its limit": ([HELLO, {**BYE, "finish_reason": "MAX_TOKENS"}], None, [("answer cut off", "warning", "e1")]),
    "ended early": ([HELLO, {**BYE, "finish_reason": "SAFETY"}], None, [("answer cut off", "warning", "e1")]),
    "ended": ([HELLO, {**BYE, "finish_reason": "STOP"}], None, []),
    "ended for a reason of its own": ([HELLO, {**BYE, "finish_reason": "OTHER"}], None, []),
    "streamed to its limit": ([HELLO, {**BYE, "finish_reason": "MAX_TOKENS", "partial": True}, BYE], None, []),
    "an error of the network": ([HELLO, {"error_code": "UNAVAILABLE", "error_message": "503"}], None, []),
    **{
        f"refused: {code}": ([HELLO, {"error_code": code, "error_message": "no"}], None, [("answer cut off", "warning", "e1")])
        for code in ("SAFETY", "PROHIBITED_CONTENT", "RECITATION", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "JAILBREAK", "OTHER")
    },
    "thoughts up to the limit": (
        [HELLO, {"content": {"role": "model", "parts": [{"text": "hm", "thought": True}]}, "finish_reason": "MAX_TOKENS"}],
        None,
        [("answer cut off", "warning", "e1")],
    ),
    "one call in two events": (
        [
            HELLO,
            {**BYE, "finish_reason": "MAX_TOKENS"},
            {"error_code": "MAX_TOKENS", "finish_reason": "MAX_TOKENS", "custom_metadata": {"inspector_same_model_call": True}},
        ],
        None,
        [("answer cut off", "warning", "e1")],
    ),
    "no content": ([HELLO, {"error_code": "MODEL_RETURNED_NO_CONTENT"}], None, [("empty answer", "warning", "e1")]),
    "ended without content": ([HELLO, {"finish_reason": "STOP"}, {**BYE, "author": "b"}], None, [("empty answer", "warning", "e1")]),
    "empty before another agent": (
        [HELLO, {**EMPTY, "finish_reason": "STOP"}, {**BYE, "author": "b"}],
        None,
        [("empty answer", "warning", "e1")],
    ),
    "empty, then an answer": ([HELLO, {**EMPTY, "finish_reason": "STOP"}, {**BYE, "author": "b"}, BYE], None, []),
    "a plugin's empty content": ([HELLO, EMPTY, {**BYE, "author": "b"}], None, []),
    "left its loop": ([HELLO, called("exit_loop", "c"), returned("exit_loop", "c", actions={"escalate": True})], None, []),
    "an old message without an answer": ([HELLO, said("again", "user", invocation_id="j"), {**BYE, "invocation_id": "j"}], None, []),
    "unknown action": ([HELLO, wrote({}, actions={"made_up": 1}), BYE], None, [("unreadable row", "error", "e1")]),
}


@pytest.mark.parametrize("name", CASES)
def test_finds_what_is_wrong_and_nothing_else(name: str, tmp_path: Path) -> None:
    events, state, expected = CASES[name]
    assert brief(findings_in(write_v1(tmp_path / "s.db", events, state=state))) == expected


ROWS = {
    "DELETE FROM adk_internal_metadata": "no schema_version",
    "DELETE FROM app_states": "no row in app_states",
    "DELETE FROM user_states": "no row in user_states",
    "UPDATE sessions SET state = '[1]'": "no JSON object",
    "UPDATE sessions SET update_time = 'soon'": "is no time",
    "UPDATE events SET timestamp = 'soon' WHERE id = 'e1'": "holds no time",
    "UPDATE events SET event_data = '{' WHERE id = 'e1'": "not JSON",
    "UPDATE events SET event_data = json_set(event_data, '$.author', 7) WHERE id = 'e1'": "author",
    "DELETE FROM sessions": "does not exist",
}


@pytest.mark.parametrize("statement", ROWS)
def test_finds_rows_that_google_adk_cannot_read(statement: str, tmp_path: Path) -> None:
    file = write_v1(tmp_path / "s.db", [HELLO, BYE])
    edit(file, statement)
    found = findings_in(file)
    assert {finding.kind for finding in found} == {"unreadable row"}
    assert any(ROWS[statement] in finding.what for finding in found), found


def edit(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


def test_text_in_a_time_column_of_adk_web_is_found(tmp_path: Path) -> None:
    file = tmp_path / "web.db"
    file.write_bytes((Path(__file__).parents[3] / "data" / "sqlite.db").read_bytes())
    assert findings_in(file) == []
    edit(file, f"UPDATE sessions SET update_time = '{text_of(START)}'")
    edit(file, "PRAGMA user_version = 1")
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT typeof(update_time) FROM sessions").fetchone() == ("text",)
    assert "is text" in findings_in(file)[0].what


def test_equal_times_in_a_file_of_adk_web_matter_to_old_versions_only(tmp_path: Path) -> None:
    file = tmp_path / "web.db"
    file.write_bytes((Path(__file__).parents[3] / "data" / "sqlite.db").read_bytes())
    edit(file, "UPDATE events SET timestamp = 1000.0")
    found = findings_in(file)
    assert {(kind, severity) for kind, severity, _ in brief(found)} == {("event out of order", "note")}
    assert "in the order of the commits" in found[0].why
    edit(file, "UPDATE events SET timestamp = 1000.0 - rowid")  # unlike a tie, swapped times are read in another order
    assert "event out of order" in {kind for kind, *_ in brief(findings_in(file))}


def test_a_checkpoint_of_an_agent_that_no_longer_exists_is_found(tmp_path: Path) -> None:
    checkpoint = {"agent_state": {"current_sub_agent": "writer"}}
    file = write_v1(tmp_path / "s.db", [HELLO, {"author": "flow", "actions": checkpoint}])
    known = SequentialAgent(name="flow", sub_agents=[LlmAgent(name="writer")])
    assert findings_in(file, root=known) == []
    renamed = SequentialAgent(name="flow", sub_agents=[LlmAgent(name="author")])
    assert brief(findings_in(file, root=renamed)) == [("missing agent", "error", "e1")]
    other = SequentialAgent(name="chain", sub_agents=[LlmAgent(name="writer")])
    assert brief(findings_in(file, root=other)) == [("missing agent", "error", "e1")]


def test_the_command_loads_the_named_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "flow"
    folder.mkdir()
    code = "from runtime.agents import LlmAgent, SequentialAgent\n"
    code += "root_agent = SequentialAgent(name='flow', sub_agents=[LlmAgent(name='author')])\n"
    (folder / "agent.py").write_text(code)
    checkpoint = {"agent_state": {"current_sub_agent": "writer"}}
    file = write_v1(tmp_path / "s.db", [HELLO, {"author": "flow", "actions": checkpoint}])
    assert main(["doctor", str(file), "--agent", str(folder), "--engine", "embedded"]) == 1
    assert "This checkpoint is at writer" in capsys.readouterr().out


def test_a_repeated_problem_is_counted(tmp_path: Path) -> None:
    found = findings_in(write_v1(tmp_path / "s.db", [HELLO, *(returned("pay", f"c{number}") for number in range(50)), BYE]))
    assert len(found) == 20
    assert "30 more" in found[-1].what


def test_a_secret_is_not_displayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_v1(tmp_path / "s.db", [HELLO, wrote({"api_key": "sk-abcdefghijklmnopqrstuvwx"}), BYE])
    assert main(["doctor", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "api_key" in printed
    assert "sk-" not in printed


@pytest.mark.parametrize("name", ["answered in reverse", "one time", "folded"])
def test_the_proposed_copy_has_nothing_wrong(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_v1(tmp_path / "s.db", CASES[name][0])
    fix = findings_in(Path("s.db"))[0].fix
    assert fix is not None
    assert main(list(fix[1:])) == 0
    assert findings_in(tmp_path / "new.db") == []


def test_the_command_prints_findings_and_fails_for_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_v1(tmp_path / "s.db", CASES["no call"][0])
    before = file.read_bytes()
    assert main(["doctor", str(file)]) == 1
    assert "error  orphan response  s  event e1" in capsys.readouterr().out
    assert main(["doctor", str(file), "--json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert (printed["errors"], printed["warnings"], printed["notes"], printed["sessions"]) == (1, 0, 0, 1)
    assert printed["findings"][0]["event_id"] == "e1"
    assert file.read_bytes() == before
    assert [*tmp_path.iterdir()] == [file]


def test_one_session_can_be_examined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_v1(tmp_path / "s.db", [HELLO, BYE])
    assert main(["doctor", str(file), "--session", "s"]) == 0
    assert "No findings in 1 session" in capsys.readouterr().out
    assert main(["doctor", str(file), "--session", "t"]) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nothing.db"], "There is no file"),
        (["nothing"], "There is no file or folder nothing"),
        ([".", "--session", "s"], "are for a database"),
        (["x.db", "--engine", "adk"], "give --agent, too"),
    ],
)
def test_wrong_use_gets_a_sentence(words: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", *words]) != 0
    assert expected in capsys.readouterr().err


TRUE_FINDINGS = {  # in databases that were not interrupted: what google-adk did there is wrong, or will be read wrongly
    ("equal_ts", "event out of order"),
    ("equal_ts", "time steps back"),
    ("tz_fallback", "time steps back"),
    ("cross", "event out of order"),  # continued by a version that stores another time zone
    ("cross", "time steps back"),
    ("errors", "unanswered call"),
    *((scenario, "answer cut off") for scenario in ("cross", "rich_parts")),  # SAFETY
    ("rewind", "cleared by a rewind"),  # of a key that the session was created with
    ("llm_root_crash", "unanswered call"),
    *((scenario, "loop at its limit") for scenario in ("cross", "loop_crash", "nested_crash", "steps_crash")),  # no agent of them ends it
}


@pytest.mark.sweep
@pytest.mark.parametrize("entry", varied(), ids=lambda entry: entry["name"])
def test_databases_of_google_adk_have_only_findings_that_are_true(entry: dict[str, Any]) -> None:
    found = {finding.kind for finding in findings_in(fixtures_dir() / "open" / entry["file"])}
    if entry["phase"] == "before" or "-before-" in entry["name"]:
        assert found <= {"unanswered call"}
    else:
        assert {(entry["scenario"], kind) for kind in found} <= TRUE_FINDINGS


def test_no_command_is_proposed_for_a_servers_sessions(tmp_path: Path) -> None:
    file = write_v1(tmp_path / "copy.db", [called("pay", "c", long_running_tool_ids=["c"]), returned("other", "lost")])
    with StoredDatabase.open(str(file)) as database:
        found = list(examine(database, str(file)))
    assert any(finding.fix for finding in found)
    url = "http://127.0.0.1:1"
    with mirrored(url, file), StoredDatabase.open(url) as database:
        found = list(examine(database, url))
    assert {finding.kind for finding in found} >= {"orphan response", "unanswered call"}
    assert [finding for finding in found if finding.fix or "command" in finding.advice] == []


@pytest.mark.parametrize("ends", ["waits", "continues", "another message"])
def test_an_interim_result_is_what_the_model_sees(ends: str, tmp_path: Path) -> None:
    events = [HELLO, called("ask", "c", long_running_tool_ids=["c"]), returned("ask", "c")]
    events += [] if ends == "waits" else [BYE] if ends == "continues" else [{**BYE, "invocation_id": "j", "author": "user"}]
    (finding,) = findings_in(write_v1(tmp_path / "a.db", events))
    assert finding.kind == "unanswered call"
    assert (
        finding.why
        == {
            "waits": "The invocation is paused until it is answered.",
            "continues": "The agent has continued with the interim result.",
            "another message": "The model sees the interim result only.",
        }[ends]
    )


ASKED = called(
    "adk_request_confirmation", "ask", long_running_tool_ids=["ask"], content={"role": "model", "parts": [{"function_call": {
        "id": "ask", "name": "adk_request_confirmation", "args": {"originalFunctionCall": {"id": "c", "name": "erase"}},
    }}]},
)  # fmt: skip
WAITS, RAN, ENDED = returned("erase", "c"), returned("erase", "c"), wrote({}, actions={"end_of_agent": True})
LATER = [said("and now?", "user", invocation_id="j"), {**BYE, "invocation_id": "j"}]


def answered(yes: bool, **more: Any) -> dict[str, Any]:
    response = {"id": "ask", "name": "adk_request_confirmation", "response": {"confirmed": yes}}
    return {"author": "user", "content": {"role": "user", "parts": [{"function_response": response}]}, **more}


EFFECTS: dict[str, tuple[list[dict[str, Any]], tuple[str, str] | None]] = {
    "confirmed, then the end": ([answered(True), ENDED], ("error", "erase was confirmed and never ran.")),
    "confirmed, then nothing": ([answered(True)], ("warning", "erase was confirmed and never ran.")),
    "confirmed, then another answer": ([answered(True), BYE], ("warning", "erase was confirmed and never ran.")),
    "confirmed, then the next turn": ([answered(True), *LATER], ("error", "erase was confirmed and never ran.")),
    "rejected, then the end": ([answered(False), ENDED], ("error", "erase was rejected, and the model has not learnt of it.")),
    "never answered, then the end": ([ENDED], ("error", "erase was never answered, and its invocation has ended.")),
    "confirmed in another invocation": (
        [answered(True, invocation_id="j"), {**RAN, "invocation_id": "j"}, {**BYE, "invocation_id": "j"}],
        None,
    ),
    "confirmed and ran": ([answered(True), RAN, BYE, ENDED], None),
    "rejected and told": ([answered(False), RAN, BYE, ENDED], None),
    "still waiting": ([], None),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_an_answer_without_effect_is_found(name: str, tmp_path: Path) -> None:
    events, expected = EFFECTS[name]
    found = findings_in(write_v1(tmp_path / "a.db", [HELLO, called("erase", "c"), ASKED, WAITS, *events]))
    lost = [(finding.level, finding.what) for finding in found if finding.kind == "answer without effect"]
    assert lost == ([expected] if expected is not None else [])


@pytest.mark.parametrize("follows", [True, False])
def test_an_answer_to_a_long_running_call_reaches_an_agent(follows: bool, tmp_path: Path) -> None:
    events = [HELLO, called("order", "c", long_running_tool_ids=["c"]), returned("order", "c", author="user"), *([BYE] if follows else [])]
    found = findings_in(write_v1(tmp_path / "a.db", events))
    assert [finding.what for finding in found] == ([] if follows else ["The answer to order has reached no agent."])


@pytest.mark.parametrize("went_on", [True, False])
def test_only_the_newest_message_that_broke_off_is_to_be_resumed(went_on: bool, tmp_path: Path) -> None:
    later = [said("again", "user", invocation_id="j"), {**BYE, "invocation_id": "j"}] if went_on else []
    lost = called("pay", "c", actions={"agent_state": {"step": 1}}, author="gone")
    found = findings_in(write_v1(tmp_path / "a.db", [HELLO, lost, *later]), root=LlmAgent(name="desk", model="m"))
    assert [finding.kind for finding in found] == ["unanswered call", *([] if went_on else ["missing agent"])]
    assert ("before you resume" in found[0].advice) is not went_on
