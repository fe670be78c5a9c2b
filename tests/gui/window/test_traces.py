"""Traces of google-adk in the window: the timeline and the Request tab, also after a restart."""

from __future__ import annotations

import shutil
import tarfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.exchange.otlp_sessions.trace_reading import read_trace_file
from inspector_app.server.otlp_endpoint import OtlpEndpoint
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus
from runtime.storage.reading.reader import StoredDatabase
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it has no traces"),
        ("no trace\n", "it has no traces"),
        ('{"resourceSpans": []}\n', "it has no traces"),
        (
            '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "startTimeUnixNano": 1,'
            ' "endTimeUnixNano": 2}]}]}]}',
            "its 1 spans are of no agent",
        ),
    ],
    ids=["empty", "no traces", "no spans", "no agent"],
)
def test_a_file_of_which_nothing_can_be_shown_is_named_with_the_reason(
    inspector: Inspector, text: str, reason: str, tmp_path: Path, driver: WindowDriver
) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text(text, "utf-8")
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


@pytest.fixture
def frameworks(tmp_path: Path) -> Path:
    with tarfile.open(DATA / "frameworks.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "otlp"


@pytest.fixture
def send(inspector: Inspector) -> Iterator[Callable[[bytes], int]]:
    """Yield a function that posts a request to the window's endpoint and returns the answer's status."""
    endpoint = OtlpEndpoint("127.0.0.1", 0)
    endpoint.start(inspector.work.traces.add)

    def post(body: bytes) -> int:
        request = urllib.request.Request(endpoint.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)

    yield post
    endpoint.close()


def shown_events(inspector: Inspector) -> int:
    return inspector.features.stream.events.event_count


def test_traces_of_any_framework_open_as_sessions_while_they_arrive(
    inspector: Inspector, frameworks: Path, send: Callable[[bytes], int], tmp_path: Path, qtbot: QtBot
) -> None:
    lines = (frameworks / "strands_turns.jsonl").read_bytes().splitlines()
    assert [send(line) for line in lines] == [200] * len(lines)
    wanted = {key: list(copy.events) for key, copy in read_trace_file(str(frameworks / "strands_turns.jsonl")).sessions.items()}
    (key, events), *_ = wanted.items()
    qtbot.waitUntil(lambda: inspector.current.session is not None and shown_events(inspector) == len(events), timeout=20_000)
    assert inspector.current.session is not None
    assert inspector.current.session.address.key == key
    source = inspector.databases.source(inspector.current.session.address.database)
    assert source is not None and source.is_unsaved and source.is_kept
    saving = inspector.tasks.spawn(inspector.work.unsaved.save_as(tmp_path / "kept.db"), "Saving")
    qtbot.waitUntil(saving.done, timeout=20_000)
    with StoredDatabase.open(str(tmp_path / "kept.db")) as stored:
        assert {each.key: list(map(str, stored.events(each.key))) for each in stored.sessions()} == {
            each: list(map(str, found)) for each, found in wanted.items()
        }
    assert [send(line) for line in (frameworks / "pydantic_ai_tools.jsonl").read_bytes().splitlines()]
    qtbot.waitUntil(lambda: len(inspector.databases.unsaved) == 1, timeout=20_000)


def test_half_a_trace_is_shown_as_far_as_it_came_and_corrected_by_its_rest(
    inspector: Inspector, frameworks: Path, send: Callable[[bytes], int], qtbot: QtBot
) -> None:
    file = frameworks / "strands_nested.jsonl"
    (wanted,) = read_trace_file(str(file)).sessions.values()
    counts = []
    for line in file.read_bytes().splitlines():
        with qtbot.waitSignal(inspector.work.traces.taken_in, timeout=20_000):
            assert send(line) == 200
        qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
        counts.append(shown_events(inspector))
    qtbot.waitUntil(lambda: shown_events(inspector) == len(wanted.events), timeout=20_000)
    assert inspector.current.session is not None
    authors = [event.author for event in inspector.current.session.events]
    assert authors == [event.author for event in wanted.events]
    database = inspector.current.session.address.database
    qtbot.waitUntil(lambda: {*inspector.catalog.marks(database).values()} == {"finished"}, timeout=20_000)


def test_what_arrives_and_is_of_no_agent_is_counted(
    inspector: Inspector, frameworks: Path, send: Callable[[bytes], int], driver: WindowDriver, qtbot: QtBot
) -> None:
    for line in (frameworks / "no_agents.jsonl").read_bytes().splitlines():
        assert send(line) == 200
    qtbot.waitUntil(lambda: "spans of no agent, which are not shown" in driver.log_text(), timeout=20_000)
    assert not inspector.databases.sources


def test_the_request_of_a_traced_model_call_is_shown(
    inspector: Inspector, frameworks: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(frameworks / "pydantic_ai_tools.jsonl")
    bench = inspector.window.workbench
    place = next(number for number, event in enumerate(inspector.current.session.events) if event.model_version)  # type: ignore[union-attr]
    bench.parts.stream.select_event(place)
    detail = inspector.window.parts.detail
    detail.tabs.setCurrentIndex(2)
    rows = detail.request.model
    qtbot.waitUntil(lambda: "system instruction" in [node.key for node in rows.node(QModelIndex()).children], timeout=20_000)
