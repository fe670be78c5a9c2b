from __future__ import annotations

import asyncio

import pytest

from inspector_app.support.tasks import Tasks


@pytest.fixture
def reports() -> list[tuple[str, BaseException]]:
    return []


@pytest.fixture
def tasks(reports: list[tuple[str, BaseException]]) -> Tasks:
    return Tasks(lambda doing, error: reports.append((doing, error)))


async def test_a_failure_is_reported_with_the_name_of_the_task(tasks: Tasks, reports: list[tuple[str, BaseException]]) -> None:
    async def fail() -> None:
        raise OSError("disk gone")

    tasks.spawn(fail(), "Opening orders.db")
    await tasks.wait_until_idle()
    assert [(doing, str(error)) for doing, error in reports] == [("Opening orders.db", "disk gone")]
    assert tasks.running == frozenset()


async def test_waiting_does_not_wait_for_a_background_task_that_takes_long(tasks: Tasks) -> None:
    go, done = asyncio.Event(), []

    async def read() -> None:
        await go.wait()

    async def show() -> None:
        tasks.spawn(read(), "Reading the past", background=True)
        await asyncio.sleep(0)
        done.append("shown")

    tasks.spawn(show(), "Opening")
    await tasks.wait_until_idle(background_seconds=0)
    assert done == ["shown"] and len(tasks.running) == 1
    go.set()
    await tasks.wait_until_idle()


async def test_waiting_takes_what_a_short_background_task_begins(tasks: Tasks) -> None:
    done = []

    async def show() -> None:
        await asyncio.sleep(0)
        done.append("state")

    async def read() -> None:
        await asyncio.sleep(0)
        tasks.spawn(show(), "Finding the state")

    tasks.spawn(read(), "Reading the past", background=True)
    await tasks.wait_until_idle(background_seconds=60)
    assert done == ["state"]


async def test_closing_cancels_tasks_and_waits_for_their_cleanup(tasks: Tasks, reports: list[tuple[str, BaseException]]) -> None:
    cleaned = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append(True)

    tasks.spawn(work(), "Waiting")
    await asyncio.sleep(0)
    assert await tasks.close(seconds=5) == frozenset()
    assert cleaned == [True]
    assert reports == []


async def test_closing_does_not_wait_for_a_task_that_ignores_its_cancellation(tasks: Tasks) -> None:
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    task = tasks.spawn(stubborn(), "Refusing")
    await asyncio.sleep(0)
    assert await tasks.close(seconds=0.05) == frozenset({task})
    release.set()
    await task
