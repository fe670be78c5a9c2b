"""What a run used is there in another window: a process that has ended made the session and its recording."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QLabel

from inspector_app.app import Inspector
from tests.gui.window.conftest import ORDERS
from tests.gui.window.driver import WindowDriver

MESSAGE = "40 boxes of A4 paper"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with an order that another process ran, and its recording beside it."""
    database = tmp_path_factory.mktemp("recorded") / "orders.db"
    run = [sys.executable, "-m", "inspector_app", "run", str(ORDERS), "--message", MESSAGE, "--db", str(database), "--session", "s1"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stderr
    return database


def test_request_times_costs_charts_and_graph_of_a_run_that_has_ended(
    driver: WindowDriver, recorded: Path, opened: Callable[..., None], inspector: Inspector
) -> None:
    opened(recorded)
    bench = driver.bench
    bench.parts.stream.select_event(1)
    bench.parts.detail.tabs.setCurrentIndex(2)
    request = bench.parts.detail.request.model
    driver.run_until(lambda: "tools" in [node.key for node in request.node(QModelIndex()).children])
    assert bench.parts.detail.request.findChild(QLabel, "request_note").text() == ""

    bench.raise_pane("timeline")
    driver.run_until(lambda: "recorded" in bench.parts.timeline.findChild(QLabel, "timeline_sources").text())
    bench.raise_pane("timeline")
    inspector.features.timeline.pane.show_charts()
    driver.run_until(lambda: "1 turn" in bench.parts.charts.findChild(QLabel, "turns_note").text())
    assert "1,001 tokens in" in bench.parts.charts.findChild(QLabel, "turns_note").text()
    bench.raise_pane("graph")
    graph = bench.parts.graph.graph
    driver.run_until(lambda: graph.shown is not None and bool(graph.shown.sums))
    assert graph.shown is not None and graph.shown.sums["order_desk"].events == 10
    driver.run_until(lambda: "cost unknown" in inspector.features.stream.events.stream_row(0).tokens)
