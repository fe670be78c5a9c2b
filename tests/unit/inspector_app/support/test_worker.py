from __future__ import annotations

import asyncio
import threading

import pytest

from inspector_app.support.worker import Worker


async def test_jobs_run_in_turn_on_one_daemon_thread() -> None:
    worker = Worker("reader")
    names = [await worker.call(lambda: threading.current_thread()) for _ in range(3)]
    assert {thread.name for thread in names} == {"reader"}
    assert names[0].daemon
    worker.close()
    names[0].join(5)
    assert not names[0].is_alive()


async def test_the_error_of_a_job_reaches_its_caller() -> None:
    worker = Worker("reader")
    with pytest.raises(ZeroDivisionError):
        await worker.call(lambda: 1 // 0)
    assert await worker.call(int, "7") == 7
    worker.close()


async def test_the_last_job_runs_before_the_thread_ends() -> None:
    worker = Worker("reader")
    thread = await worker.call(threading.current_thread)
    done = threading.Event()
    worker.close(done.set)
    assert done.wait(5)
    thread.join(5)
    assert not thread.is_alive()


async def test_a_call_after_close_is_cancelled() -> None:
    worker = Worker("closed")
    worker.close()
    with pytest.raises(asyncio.CancelledError):
        await worker.call(list)


async def test_a_job_that_was_begun_is_queued_before_it_is_awaited() -> None:
    worker = Worker("reader")
    done = threading.Event()
    job = worker.begin(done.set)
    assert done.wait(5)
    await job
    worker.close()
