"""A live stream of many events per second, and a bare Qt table with the same stream as the physical limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QHeaderView, QTableView

from bench.generated import LiveWriter
from inspector_app.workspace.incoming_events import MAX_QUEUED
from runtime.events.event import Event
from runtime.support.worker_threads import run_in_thread

EVENTS_PER_SECOND = 10_000
MADE_AT_ONCE = 200
_ROW_HEIGHT = 22
_WIDTHS = (24, 60, 70, 120, 500, 40, 60, 60)


class LoopGaps:
    """The times between turns of a loop that is asked to turn every millisecond."""

    def __init__(self) -> None:
        self._gaps: list[float] = []
        self._task = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self._gaps.append((now - last) * 1000)
            last = now

    def take(self) -> tuple[float, float]:
        """Return the 99th percentile and the maximum since the last call, in milliseconds."""
        gaps, self._gaps = sorted(self._gaps), []
        return (gaps[int(len(gaps) * 0.99)], gaps[-1]) if gaps else (0.0, 0.0)

    def stop(self) -> None:
        """Stop measuring."""
        self._task.cancel()


async def stream_events(writer: LiveWriter, seconds: float, take: Callable[[Event], None], waiting: Callable[[], int]) -> int:
    """Create and store `EVENTS_PER_SECOND` on a thread, like a run in the window; return how many.

    Args:
        writer: stores the events.
        seconds: the duration.
        take: called with each event, in the loop.
        waiting: returns how many events are queued for display; the thread waits while there are more than `MAX_QUEUED`.
    """
    begin, made = time.perf_counter(), 0
    while (passed := time.perf_counter() - begin) < seconds:
        due = int(passed * EVENTS_PER_SECOND) - made
        if waiting() > MAX_QUEUED:
            await asyncio.sleep(0.001)
            continue
        for event in await run_in_thread(writer.commit, made, min(due, MADE_AT_ONCE)):
            take(event)
            made += 1
        await asyncio.sleep(0 if due > MADE_AT_ONCE else 0.001)
    return made


class _BareModel(QAbstractTableModel):
    """Rows of four ready texts."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[str, ...]] = []

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # type: ignore[override]  # noqa: B008
        return len(self._rows)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:  # type: ignore[override]  # noqa: B008
        return len(_WIDTHS)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # type: ignore[override]
        return self._rows[index.row()][index.column()] if role == Qt.ItemDataRole.DisplayRole else None

    def add(self, rows: Sequence[tuple[str, str]]) -> None:
        """Add rows at the end: an author and a text each."""
        first = len(self._rows)
        self.beginInsertRows(QModelIndex(), first, first + len(rows) - 1)
        self._rows += [("", str(number), "12:00:00", *row, "3", "1.0 s", "220") for number, row in enumerate(rows, first)]
        self.endInsertRows()


class BareTable:
    """A table with ready texts that follows its end: what Qt itself needs."""

    def __init__(self) -> None:
        self._model, self._table = _BareModel(), QTableView()
        table = self._table
        table.setModel(self._model)
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(_ROW_HEIGHT)
        for column, width in enumerate(_WIDTHS):
            table.setColumnWidth(column, width)
        table.setWordWrap(False)
        table.resize(960, 560)  # as large as the stream in a window of 1280 × 800
        table.show()

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._model.rowCount()

    def add(self, rows: Sequence[tuple[str, str]]) -> None:
        """Add rows, an author and a text each, and scroll to them."""
        self._model.add(rows)
        self._table.scrollToBottom()

    def close(self) -> None:
        """Close the table."""
        self._table.close()


async def bare_table(database: str, seconds: float, each_ms: int) -> tuple[float, float, float]:
    """Show a live stream in a bare table that follows its end.

    Args:
        database: where the events are stored.
        seconds: how long.
        each_ms: milliseconds from one batch of rows to the next.

    Returns:
        Events a second, and the loop's gaps: 99th percentile and longest, in milliseconds.
    """
    table = BareTable()
    waiting: list[Event] = []

    def show_batch() -> None:
        if waiting:
            table.add([_texts(event) for event in waiting])
            waiting.clear()

    timer = QTimer(interval=each_ms)
    timer.timeout.connect(show_batch)
    timer.start()
    writer = LiveWriter(database)
    await asyncio.sleep(0.5)
    gaps = LoopGaps()
    made = await stream_events(writer, seconds, waiting.append, lambda: len(waiting))
    timer.stop()
    p99, longest = gaps.take()
    gaps.stop()
    writer.close()
    table.close()
    return made / seconds, p99, longest


def _texts(event: Event) -> tuple[str, str]:
    call = event.content.parts[0].function_call if event.content and event.content.parts else None
    return event.author, f"{call.name if call else ''} {event.id}"
