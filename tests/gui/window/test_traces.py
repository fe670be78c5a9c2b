"""Traces of google-adk in the window: the timeline and the Request tab, also after a restart."""

from __future__ import annotations

import shutil
import tarfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.server.otlp_endpoint import OtlpEndpoint
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus
from tests.gui.window.driver import WindowDriver

DATA = Path(__file__).parents[2] / "data" / "otlp"


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "traced.db", tmp_path / "traced.db"))


def show_last(inspector: Inspector, qtbot: QtBot) -> str:
    """Select the last event of the first session; return where the timeline's times are from."""
    bench = inspector.window.workbench
    bench.raise_pane("timeline")
    bench.parts.stream.select_event(inspector.features.stream.events.event_count - 1)
    qtbot.waitUntil(lambda: bench.parts.timeline.chart.selected_index == 3 and not inspector.tasks.running, timeout=20_000)
    return bench.parts.timeline.note


def test_traces_sent_to_the_endpoint_are_shown_and_are_there_after_a_restart(
    inspector: Inspector, traced: Path, opened: Callable[..., None], qapp: QApplication, settings: Settings, qtbot: QtBot
) -> None:
    opened(traced)
    assert show_last(inspector, qtbot).startswith("Times of calls computed from events")
    endpoint = OtlpEndpoint("127.0.0.1", 0)
    endpoint.start(inspector.work.traces.add)
    try:
        for line in (DATA / "traces.jsonl").read_bytes().splitlines():
            request = urllib.request.Request(endpoint.url, line, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=20) as answer:
                assert answer.status == 200
    finally:
        endpoint.close()
    view = inspector.window.parts.timeline
    qtbot.waitUntil(lambda: view.note.startswith("Times of calls as recorded"), timeout=20_000)
    detail = inspector.window.parts.detail
    detail.tabs.setCurrentIndex(2)
    rows = detail.request.model
    qtbot.waitUntil(lambda: "system instruction" in [node.key for node in rows.node(QModelIndex()).children], timeout=20_000)
    assert not traced.with_name("traced.rec.db").exists(), "nothing is written beside another program's database"
    again = Inspector(qapp, settings, MessageBus())
    try:
        again.show((1280, 800))
        again.tasks.spawn(again.open([str(traced)]), "Opening")
        qtbot.waitUntil(lambda: not again.tasks.running, timeout=20_000)
        show_last(again, qtbot)
        qtbot.waitUntil(lambda: again.window.parts.timeline.note.startswith("Times of calls as recorded"), timeout=20_000)
    finally:
        with qtbot.waitSignal(again.closed, timeout=10_000):
            again.window.close()


def test_a_file_of_traces_is_read_once(
    inspector: Inspector, traced: Path, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, qtbot: QtBot
) -> None:
    opened(traced)
    show_last(inspector, qtbot)
    file = tmp_path / "traces.jsonl"
    file.write_bytes((DATA / "traces.jsonl").read_bytes() + b"no trace\n\n")
    for count in (10, 0):
        inspector.tasks.spawn(inspector.work.traces.read_file(file), "Reading")
        told = f"{file} has {count} model and tool calls that were not recorded yet. Lines that are no traces: 1."
        qtbot.waitUntil(lambda told=told: told in driver.log_text())
        assert "can be shown" not in driver.log_text()
    qtbot.waitUntil(lambda: inspector.window.parts.timeline.note.startswith("Times of calls as recorded"), timeout=20_000)
    inspector.tasks.spawn(inspector.work.traces.read_file(tmp_path / "missing.jsonl"), "Reading")
    qtbot.waitUntil(lambda: "missing.jsonl cannot be read: No such file or directory." in driver.log_text())


SPAN = '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "name": "call_llm", "startTimeUnixNano": "1", '


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "no open database has its sessions (s-v1, s-v2). Its calls are kept. Open the database with these sessions to see them."),
        ("", "it has no traces of google-adk's model calls that name a session."),
        ("no trace\n", "it has no traces of google-adk's model calls that name a session."),
        ('{"resourceSpans": []}\n', "it has no traces of google-adk's model calls that name a session."),
        (SPAN + '"endTimeUnixNano": "2"}]}]}]}\n', "it has no traces of google-adk's model calls that name a session."),
    ],
    ids=["others", "empty", "no traces", "no spans", "no session"],
)
def test_a_file_of_traces_that_fits_no_session_is_named_with_the_reason(
    inspector: Inspector, text: str | None, reason: str, tmp_path: Path, driver: WindowDriver
) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text((DATA / "traces.jsonl").read_text("utf-8") if text is None else text, "utf-8")
    inspector.tasks.spawn(inspector.work.traces.read_file(file), "Reading")
    driver.run_until_idle()
    assert f"Nothing of {file} can be shown: {reason}" in driver.log_text()


def test_a_file_of_traces_of_any_framework_opens_as_sessions(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    with tarfile.open(DATA / "frameworks.tar.xz") as packed:
        packed.extract("otlp/strands_tools.jsonl", tmp_path, filter="data")
    file = tmp_path / "otlp" / "strands_tools.jsonl"
    before = file.read_bytes()
    opened(file)
    assert inspector.current.session is not None
    assert inspector.current.session.address.key.session_id == "conv-2026-001"
    qtbot.waitUntil(lambda: inspector.features.stream.events.event_count == 7, timeout=20_000)
    assert file.read_bytes() == before
    assert sorted(each.name for each in file.parent.iterdir()) == [file.name]
