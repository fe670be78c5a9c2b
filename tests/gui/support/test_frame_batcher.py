from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.support import frame_batcher as frames
from inspector_app.support.frame_batcher import CALM_MS, LEAST_AT_ONCE, FrameBatcher


class Clock:
    """A clock that advances only while something is shown."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(frames, "time", clock)
    return clock


def shown_at_once(qtbot: QtBot, clock: Clock, each_ms: float, count: int) -> list[int]:
    """Return the number of items per frame for items that are all added at once and take `each_ms` each."""
    sizes: list[int] = []
    seen: list[object] = []

    def show(things: list[object]) -> None:
        clock.now += len(things) * each_ms / 1000
        sizes.append(len(things))
        seen.extend(things)

    made = FrameBatcher(show)
    for number in range(count):
        made.add(number)
    qtbot.waitUntil(lambda: len(seen) == count, timeout=20_000)
    assert seen == list(range(count))
    return sizes


def test_a_frame_takes_as_many_items_as_its_time_allows(qtbot: QtBot, clock: Clock) -> None:
    slow = shown_at_once(qtbot, clock, 0.04, 1_000)
    quick = shown_at_once(qtbot, clock, 0.004, 2_000)
    assert slow[-2] == pytest.approx(100, abs=5)
    assert quick[2] > 400


def test_a_frame_takes_at_least_the_minimum_number_of_items(qtbot: QtBot, clock: Clock) -> None:
    assert set(shown_at_once(qtbot, clock, 5.0, 10 * LEAST_AT_ONCE)[3:]) == {LEAST_AT_ONCE}


def test_frames_follow_closely_while_items_are_waiting(qtbot: QtBot, clock: Clock) -> None:
    sizes: list[int] = []

    def show(things: list[object]) -> None:
        clock.now += len(things) * 0.04 / 1000
        sizes.append(len(things))

    made = FrameBatcher(show)
    for number in range(500):
        made.add(number)
    rests = []
    while made.waiting:
        made._frame()
        rests.append(made._between)
    assert set(rests[:-1]) <= {2, 3, 4}
    assert rests[-1] == CALM_MS
