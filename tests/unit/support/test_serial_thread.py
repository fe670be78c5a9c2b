"""One thread, one job after the other."""

from __future__ import annotations

import asyncio
import threading
import weakref

import pytest

from runtime.support.serial_thread import Job, SerialThread


class Gate:
    """A job that waits until the test opens it."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.may_end.wait(30)
        return "done"


@pytest.fixture
def gate() -> Gate:
    return Gate()


async def test_jobs_run_in_order_on_one_daemon_thread() -> None:
    serial, order = SerialThread("serial"), list[int]()
    await asyncio.gather(*(serial.run(lambda n=n: order.append(n)) for n in range(20)))
    thread = await serial.run(threading.current_thread)
    assert order == list(range(20))
    assert (thread.name, thread.daemon) == ("serial", True)
    serial.close()
    await asyncio.to_thread(thread.join, 30)
    assert not thread.is_alive()


async def test_a_job_has_released_its_function_when_its_caller_continues() -> None:
    gate = Gate()
    gate.may_end.set()
    function, released = weakref.ref(gate), list[bool]()

    class Reporting(Job):
        def report(self) -> None:
            released.append(function() is None)
            super().report()

    job = Reporting(gate)
    del gate
    serial = SerialThread("serial")
    serial.submit(job)
    assert await job.result() == "done"
    assert released == [True]
    serial.close()


async def test_a_cancelled_caller_waits_for_a_job_that_has_begun(gate: Gate) -> None:
    serial = SerialThread("serial")
    caller = asyncio.ensure_future(serial.run(gate))
    await asyncio.to_thread(gate.begun.wait, 30)
    caller.cancel()
    await asyncio.sleep(0)
    assert not caller.done()
    gate.may_end.set()
    await asyncio.wait([caller])
    assert await serial.run(lambda: "next") == "next"
    serial.close()


async def test_a_cancelled_caller_can_leave_its_job_behind(gate: Gate) -> None:
    serial = SerialThread("serial")
    caller = asyncio.ensure_future(serial.run(gate, abandon_on_cancel=True))
    await asyncio.to_thread(gate.begun.wait, 30)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    gate.may_end.set()
    assert await serial.run(lambda: "next") == "next"
    serial.close()


@pytest.mark.parametrize("abandon_on_cancel", [False, True])
async def test_a_job_that_has_not_begun_is_dropped_with_its_caller(gate: Gate, abandon_on_cancel: bool) -> None:
    serial, ran = SerialThread("serial"), list[str]()
    first = asyncio.ensure_future(serial.run(gate))
    second = asyncio.ensure_future(serial.run(lambda: ran.append("second"), abandon_on_cancel=abandon_on_cancel))
    await asyncio.to_thread(gate.begun.wait, 30)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.may_end.set()
    assert await first == "done"
    await serial.run(lambda: ran.append("third"))
    assert ran == ["third"]
    serial.close()


async def test_closing_runs_the_last_job_after_the_others_and_refuses_new_ones() -> None:
    serial, order = SerialThread("serial", closed_error=lambda: RuntimeError("closed")), list[str]()
    given = asyncio.ensure_future(serial.run(lambda: order.append("given")))
    await asyncio.sleep(0)
    await serial.close_and_wait(lambda: order.append("last"))
    await given
    await serial.close_and_wait(lambda: order.append("never"))
    assert order == ["given", "last"]
    with pytest.raises(RuntimeError, match="closed"):
        await serial.run(int)


async def test_an_error_of_the_last_job_reaches_only_a_caller_that_waits() -> None:
    waited, not_waited = SerialThread("waited"), SerialThread("not waited")
    thread = await not_waited.run(threading.current_thread)
    not_waited.close(lambda: 1 // 0)
    await asyncio.to_thread(thread.join, 30)
    assert not thread.is_alive()
    await waited.run(int)
    with pytest.raises(ZeroDivisionError):
        await waited.close_and_wait(lambda: 1 // 0)


async def test_closing_a_thread_that_never_ran_a_job_runs_no_last_one() -> None:
    ran = list[str]()
    SerialThread("one").close(lambda: ran.append("one"))
    await SerialThread("other").close_and_wait(lambda: ran.append("other"))
    assert ran == []


async def test_a_thread_that_ended_when_idle_starts_again_with_the_next_job() -> None:
    serial = SerialThread("serial", idle_seconds=0.01)
    first = await serial.run(threading.current_thread)
    await asyncio.to_thread(first.join, 30)
    second = await serial.run(threading.current_thread)
    assert not first.is_alive()
    assert second is not first
    serial.close()


async def test_a_job_that_fails_does_not_end_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    thread = SerialThread("t")

    def fail() -> None:
        raise ValueError("no")

    thread.submit(fail)
    assert await thread.run(lambda: 1) == 1
    await asyncio.wait_for(thread.close_and_wait(lambda: None), 5)
    assert "A job of the thread t failed" in caplog.text
