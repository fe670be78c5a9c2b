"""Resuming invocations that google-adk left interrupted or paused, in a copy or after a backup."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.running.view_data import Preflight
from runtime.events import Event
from runtime.history.invocations import invocations
from runtime.running.resume_plan import ResumePlan, plan_resume
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.agent_specs import build_agent
from tests.fixture_paths import copy_of
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder
from tests.resumable_fixtures import expected_state, resumable_before
from tests.sweep import count

NAMED = ("lro_resumable", "confirm_resumable", "seq_crash_tool", "loop_crash", "parallel_crash", "steps_crash")

AGENT = """
import json
from runtime.apps import App, ResumabilityConfig
from tests.agent_specs import build_agent

app = App(name={name!r}, root_agent=build_agent(json.loads({spec!r})), resumability_config=ResumabilityConfig(is_resumable=True))
"""

Entry = dict[str, Any]


def _chosen() -> list[tuple[Entry, Entry]]:
    """Return the newest of each named scenario and layout, then all others, so that a partial sweep covers the named ones."""
    newest: dict[tuple[str, str], tuple[Entry, Entry]] = {}
    pairs = resumable_before()
    for before, after in pairs:
        if before["scenario"] in NAMED:
            newest[before["scenario"], before["layout"]] = (before, after)
    first = list(newest.values())
    return (first + [pair for pair in pairs if pair not in first])[: count(len(first), len(pairs))]


def _stored(database: str, key: SessionKey) -> list[Event]:
    with StoredDatabase.open(database) as stored:
        return stored.events(key)


def _press(inspector: Inspector, parent: Any, name: str, qtbot: QtBot) -> None:
    button = parent.findChild(QPushButton, name)
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled(), timeout=10_000)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def _answer(inspector: Inspector, response: dict[str, Any], qtbot: QtBot) -> None:
    """Answer in the Pending pane."""
    pane = inspector.window.parts.pending
    if "confirmed" in response:
        _press(inspector, pane, "pending_approve" if response["confirmed"] else "pending_reject", qtbot)
    else:
        pane.findChild(QPlainTextEdit, "pending_answer").setPlainText(json.dumps(response))
        _press(inspector, pane, "pending_respond", qtbot)


def check_text(shown: Preflight, plan: ResumePlan) -> None:
    """Check that the card and the plan agree, line by line."""
    lines = {line.icon: line.text for line in shown.lines}
    finished = lines.get("check", "").partition(": ")[2]
    assert [name for name in finished.split(", ") if name] == plan.finished
    again = lines.get("rotate-right", "")
    assert all(f"{run.agent} → {run.name}(" in again for run in plan.runs_again) and bool(again) == bool(plan.runs_again)
    over = [line.text.split(" ", 1)[0] for line in shown.lines if line.icon == "backward-fast"]
    assert over == plan.starts_over
    assert [line.text for line in shown.lines if line.icon == "ban"] == plan.blocks
    assert len([line for line in shown.lines if line.icon == "code-compare"]) == len(plan.changed)
    assert len([line for line in shown.lines if line.icon == "hourglass-half"]) == len(plan.waits_for)
    for step in plan.next_steps:
        assert step in lines.get("play", "")


def check_what_ran(plan: ResumePlan, before: list[Event], after: list[Event]) -> None:
    """Check the plan against the events that resuming committed."""
    new = after[len(before) :]
    assert new and not {event.author for event in new} & set(plan.finished), "finished agents do not run again"
    called_before = {call.id for event in before for call in event.get_function_calls()}
    ran = [
        response.id
        for event in new
        if event.author != "user"
        for response in event.get_function_responses()
        if response.id in called_before
    ]
    assert sorted(filter(None, ran)) == sorted(run.call_id or "" for run in plan.runs_again), "exactly these tools ran again"
    for name in plan.starts_over:
        assert any(event.author == name and event.content for event in new)
    authors = [event.author for event in new if event.author != "user"]
    assert any(authors[0] in step for step in (*plan.next_steps, *plan.starts_over)), "the plan named the next step"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("number", "before", "after"), [(n, *pair) for n, pair in enumerate(_chosen())], ids=[pair[0]["name"] for pair in _chosen()]
)
def test_an_invocation_of_google_adk_is_resumed_to_its_end(
    number: int,
    before: Entry,
    after: Entry,
    inspector: Inspector,
    opened: Callable[..., None],
    tmp_path: Path,
    driver: WindowDriver,
    qtbot: QtBot,
) -> None:
    ((app_name, app),) = before["apps"].items()
    folder = tmp_path / app_name
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT.format(name=app_name, spec=json.dumps(app["agent"])))
    original = copy_of(f"open/{before['file']}", tmp_path)
    digest = hashlib.sha256(original.read_bytes()).hexdigest()
    trust_folder(inspector, folder)
    opened(original, folder)
    bench = inspector.window.workbench
    assert inspector.current.session is not None and not inspector.current.session.source.writing_allowed
    key = inspector.current.session.address.key
    stored = _stored(str(original), key)
    (step,) = [step for step in after["steps"] if step["op"] == "run"]
    into_copy = number % 2 == 0
    with qtbot.waitSignal(inspector.run.run_ended, timeout=20_000) as ended:
        if step["message"] is None:
            inspector.window.commands.resume.trigger()
            shown = driver.preflight.read()
            plan = plan_resume(stored, step["invocation_id"], build_agent(app["agent"]), is_resumable=True)
            assert plan is not None
            check_text(shown, plan)
            assert shown.places == ("copy", "backup")
            assert hashlib.sha256(original.read_bytes()).hexdigest() == digest, "nothing is written before the user confirms"
            _press(inspector, bench.parts.preflight, "preflight_resume" if into_copy else "preflight_elsewhere", qtbot)
        else:
            _press(inspector, bench, "writing_hint_other_button" if into_copy else "writing_hint_button", qtbot)
            qtbot.waitUntil(lambda: inspector.current.session is not None and inspector.current.session.source.writing_allowed)
            _answer(inspector, step["message"]["parts"][0]["function_response"]["response"], qtbot)
    assert ended.args[0].error is None
    assert inspector.cursor.session is not None
    written = inspector.cursor.session.database
    backups = list(tmp_path.glob("*.backup-*"))
    if into_copy:
        assert Path(written).name == f"{original.stem}-copy.db" and backups == []
        assert hashlib.sha256(original.read_bytes()).hexdigest() == digest, "the original is not changed"
    else:
        assert written == str(original)
        assert [hashlib.sha256(backup.read_bytes()).hexdigest() for backup in backups] and len(backups) == 1
        log = bench.parts.log.findChild(QListWidget, "log_list")
        assert any(str(backups[0]) in log.item(row).text() for row in range(log.count())), "the log names the backup"
    events = _stored(written, key)
    assert invocations(events)[-1].status == "finished"
    assert [event.id for event in events[: len(stored)]] == [event.id for event in stored], "stored events are kept"
    if step["message"] is None:
        check_what_ran(plan, stored, events)
    with StoredDatabase.open(written) as database:
        state = database.history(key).state_at(len(events) - 1).merged()
    assert state == expected_state(before, after)
    shown_ids = [inspector.features.stream.events.committed(index).id for index in range(inspector.features.stream.events.event_count)]
    assert shown_ids == [event.id for event in events], "the stream shows all events"
    assert bench.parts.pending.rows == [] or {row.address.database for row in bench.parts.pending.rows} == {str(original)}
