"""Where an agent's synchronous code runs: tools, callbacks, instruction providers.

google-adk calls it on the event loop, one call after the other. Here it runs on one thread for each agent, so that a slow tool does not
block the loop: the calls still come one after the other, and connections and thread-local values that belong to a thread work.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from runtime.support.serial_thread import Job, SerialThread
from runtime.support.texts import text_of

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)

_SIGNAL_CHECK = 0.5  # seconds; Python misses a signal that arrives just before a lock blocks
_MISSING = object()
_NO_LOOP = ("no running event loop", "There is no current event loop in thread")


class SyncCalls(Protocol):
    """A place where the synchronous code of a run is called."""

    async def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a sync function and return its result.

        The function sees the caller's context variables, and what it sets is set for the caller.

        Raises:
            BaseException: the function's error.
        """


class AgentThread:
    """A daemon thread that makes the calls of one agent, one after the other.

    The thread starts with the first call, and ends when nothing refers to this object. It never ends before: a connection that the agent
    opened belongs to the thread.
    """

    def __init__(self, name: str = "") -> None:
        self._thread = SerialThread(f"agent {name}".rstrip())
        self._current: Job | None = None

    def __del__(self) -> None:
        self._thread.close()

    @property
    def is_blocked(self) -> bool:
        """Whether a call whose caller was cancelled still runs. Python cannot stop it, and later calls wait for its end."""
        current = self._current
        return current is not None and current.is_abandoned

    async def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """See `SyncCalls.call`. If the wait is cancelled, a call that has begun continues, and its result or error is dropped."""
        return await _hop(self._submit, function, args, kwargs)

    def call_and_wait(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function from synchronous code, and block until it has returned; for loading the agent.

        Raises:
            BaseException: the function's error.
        """
        done: Future[T] = Future()

        def work() -> None:
            try:
                done.set_result(self._here(partial(function, *args, **kwargs)))
            except BaseException as error:
                done.set_exception(error)

        self._thread.submit(work)
        while True:
            try:
                return done.result(timeout=_SIGNAL_CHECK)
            except TimeoutError:
                if done.done():
                    raise  # the function's own

    def _submit(self, job: Job) -> None:
        self._thread.submit(partial(self._run, job))

    def _run(self, job: Job) -> None:
        self._current = job
        try:
            self._here(job)
        finally:
            self._current = None

    def _here(self, work: Callable[[], T]) -> T:
        _local.thread = self
        try:
            return work()
        finally:
            _local.thread = None  # this thread must not keep the object alive that ends it


class HopFuture(asyncio.Future[None]):
    """The future that a call waits for while its function runs on the agent's thread."""


class _Call(Job):
    """A function call on its way to the agent's thread and back."""

    __slots__ = ()

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(work, abandon_on_cancel=True)

    def new_waiter(self) -> asyncio.Future[None]:
        return HopFuture(loop=self._loop)


class Inline:
    """Calls on the thread of the run's own event loop, in a run that was started inside a sync call."""

    async def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """See `SyncCalls.call`."""
        return _call(function, args, kwargs)


class Nested:
    """Calls of a run that a sync call drives with `Runner.run`: the agent's thread makes them while it waits for the run's events."""

    def __init__(self, submit: Callable[[Job], None]) -> None:
        self._submit = submit

    async def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """See `SyncCalls.call`."""
        return await _hop(self._submit, function, args, kwargs)


INLINE = Inline()

_local = threading.local()
_enclosing: contextvars.ContextVar[SyncCalls | None] = contextvars.ContextVar("enclosing_sync_calls", default=None)
_lock = threading.RLock()  # a garbage collection inside the lock may end other agents' threads
_threads: WeakKeyDictionary[Any, AgentThread] = WeakKeyDictionary()
_FIRST_COLLECTION = 256  # agents
_next_collection = _FIRST_COLLECTION


def is_agent_thread() -> bool:
    """Return whether this code was called on an agent's thread."""
    return getattr(_local, "thread", None) is not None


@contextmanager
def enclosing(sync_calls: SyncCalls) -> Iterator[None]:
    """Let runs that are started in this context make their calls where the enclosing run does."""
    token = _enclosing.set(sync_calls)
    try:
        yield
    finally:
        with suppress(ValueError):  # a coroutine that is closed by the garbage collector, in another context
            _enclosing.reset(token)


def sync_calls_of(root_agent: Any) -> SyncCalls:
    """Return where a new run of an agent makes its synchronous calls."""
    return _enclosing.get() or thread_of(root_agent)


def is_blocked(root_agent: Any) -> bool:
    """Return whether an agent's thread still runs a function that a stopped run called."""
    thread = _threads.get(root_agent)
    return thread is not None and thread.is_blocked


def thread_of(root_agent: Any) -> AgentThread:
    """Return an agent's thread, created if it has none. An agent whose thread is blocked by a stopped run gets a new one."""
    with _lock:
        thread = _threads.get(root_agent)
        if thread is not None and thread.is_blocked:
            logger.warning(
                "A function of agent %r that a stopped run called has not returned. It keeps its thread, and the agent continues on a new"
                " one.",
                root_agent.name,
            )
            thread = None
        if thread is None:
            thread = AgentThread(root_agent.name)
            adopt_thread(root_agent, thread)
        return thread


def adopt_thread(root_agent: Any, thread: AgentThread) -> None:
    """Make a thread the agent's own, unless the agent has one: it may have been imported before, as part of another module."""
    global _next_collection
    with _lock:
        if len(_threads) >= _next_collection:
            # Agents with sub-agents are reference cycles, and a thread lives until its agent is collected.
            gc.collect()
            _next_collection = max(_FIRST_COLLECTION, 2 * len(_threads))
        before = _threads.get(root_agent)
        if before is None or before.is_blocked:
            _threads[root_agent] = thread


async def until_suspended(work: Coroutine[Any, Any, T], on_suspended: Callable[[], None]) -> T:
    """Await a coroutine, and report when it first waits for anything but a function on the agent's thread.

    Args:
        work: the coroutine.
        on_suspended: called at each such wait; not called if there is none.

    Returns:
        The coroutine's result.
    """
    result: T = await _Watched(work, on_suspended)
    return result


class _Watched:
    def __init__(self, work: Coroutine[Any, Any, Any], on_suspended: Callable[[], None]) -> None:
        self._work = work
        self._on_suspended = on_suspended

    def __await__(self) -> Generator[Any, None, Any]:
        thrown: BaseException | None = None
        while True:
            try:
                awaited = self._work.send(None) if thrown is None else self._work.throw(thrown)
            except StopIteration as end:
                return end.value
            thrown = None
            if not isinstance(awaited, HopFuture):
                self._on_suspended()
            try:
                yield awaited
            except GeneratorExit:
                self._work.close()
                raise
            except BaseException as error:
                thrown = error


async def _hop(submit: Callable[[Job], None], function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    context = contextvars.copy_context()
    # A run that the function starts, and waits for, makes its calls on the thread of its own loop: this thread is busy with the function.
    context.run(_enclosing.set, INLINE)
    job = _Call(partial(context.run, _call, function, args, kwargs))
    submit(job)
    try:
        return await job.result()
    finally:
        if not job.is_abandoned:
            for variable, value in context.items():
                if variable is not _enclosing and variable.get(_MISSING) is not value:
                    variable.set(value)


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except RuntimeError as error:
        if is_agent_thread() and text_of(error).startswith(_NO_LOOP):
            error.args = (
                f"{error}: {getattr(function, '__name__', type(function).__name__)}() is a plain function, and plain functions run on their"
                " agent's thread, which has no event loop. Write it as `async def` to run it on the loop.",
            )
        raise


def _forget_threads_of_parent() -> None:
    global _lock, _threads
    _lock, _threads = threading.RLock(), WeakKeyDictionary()
    _local.thread = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads_of_parent)
