"""Sync functions on worker threads that do not delay the loop or the exit."""

from __future__ import annotations

import asyncio
import contextvars
import os
import subprocess
import sys
import threading
import time

import pytest

from runtime.support import worker_threads
from runtime.support.worker_threads import run_in_thread

label = contextvars.ContextVar("label", default="none")


async def test_a_function_runs_on_a_daemon_thread_and_its_result_is_returned() -> None:
    def add(a: int, *, b: int) -> tuple[int, threading.Thread]:
        return a + b, threading.current_thread()

    total, thread = await run_in_thread(add, 1, b=2)

    assert total == 3
    assert thread is not threading.current_thread()
    assert thread.daemon


@pytest.mark.parametrize("error", [ValueError("bad"), KeyError("k"), SystemExit(3)])
async def test_the_functions_error_is_raised(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await run_in_thread(fail)

    assert caught.value is error


async def test_stop_iteration_does_not_hang_the_caller() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        await run_in_thread(next, iter([]))


async def test_consecutive_calls_reuse_one_thread() -> None:
    idents = {await run_in_thread(threading.get_ident) for _ in range(50)}

    assert len(idents) == 1


async def test_concurrent_calls_run_on_separate_threads() -> None:
    barrier = threading.Barrier(8, timeout=10)

    places = await asyncio.gather(*(run_in_thread(barrier.wait) for _ in range(8)))

    assert sorted(places) == list(range(8))


async def test_context_variables_are_copied_and_not_written_back() -> None:
    def read_and_change() -> str:
        seen = label.get()
        label.set("inner")
        return seen

    label.set("outer")

    assert await run_in_thread(read_and_change) == "outer"
    assert label.get() == "outer"


async def test_a_cancelled_wait_ends_at_once_and_drops_the_result() -> None:
    started, continue_run = threading.Event(), threading.Event()
    reported: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    def block() -> None:
        started.set()
        continue_run.wait(10)
        raise ValueError("raised after the cancellation")

    wait = asyncio.ensure_future(run_in_thread(block))
    await run_in_thread(started.wait, 10)
    wait.cancel()
    with pytest.raises(asyncio.CancelledError):
        await wait
    continue_run.set()

    assert await run_in_thread(lambda: "still works") == "still works"
    assert reported == []


def test_closing_the_loop_does_not_break_the_thread() -> None:
    started, continue_run, ended = threading.Event(), threading.Event(), threading.Event()

    def block() -> None:
        started.set()
        continue_run.wait(10)
        ended.set()

    async def leave() -> None:
        wait = asyncio.ensure_future(run_in_thread(block))
        await run_in_thread(started.wait, 10)
        wait.cancel()

    began = time.monotonic()
    asyncio.run(leave())
    assert time.monotonic() - began < 5
    continue_run.set()
    assert ended.wait(10)


async def test_idle_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_threads, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(worker_threads, "_idle", [])

    thread = await run_in_thread(threading.current_thread)
    await asyncio.to_thread(thread.join, 10)

    assert not thread.is_alive()
    assert await run_in_thread(lambda: "a new one") == "a new one"


async def test_a_job_given_to_a_thread_about_to_end_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_threads, "IDLE_SECONDS", 0)
    monkeypatch.setattr(worker_threads, "_idle", [])

    assert [await run_in_thread(lambda n=n: n) for n in range(50)] == list(range(50))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_starts_its_own_threads() -> None:
    script = (
        "import asyncio, os\n"
        "from runtime.support.worker_threads import run_in_thread\n"
        "asyncio.run(run_in_thread(int))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(asyncio.run(asyncio.wait_for(run_in_thread(lambda: 7), 10)))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "7"


def test_a_process_exits_while_a_call_still_blocks() -> None:
    script = (
        "import asyncio, threading, time\n"
        "from runtime.support.worker_threads import run_in_thread\n"
        "started = threading.Event()\n"
        "def sleep():\n"
        "    started.set()\n"
        "    time.sleep(600)\n"
        "async def main():\n"
        "    wait = asyncio.ensure_future(run_in_thread(sleep))\n"
        "    await run_in_thread(started.wait)\n"
        "    wait.cancel()\n"
        "asyncio.run(main())\n"
        "print('left')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("left\n", "")
