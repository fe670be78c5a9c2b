"""One connection to an MCP server, on a thread with an event loop of its own.

The package `mcp` needs asyncio's own loop, which can start processes, and tasks that live as long as the connection. The loop that runs an
agent may be a window's, and a run has no task that outlives its calls. A server that hangs also blocks no other thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import Any, TypeVar

from mcp import ClientSession

from runtime.errors.known_error import KnownError
from runtime.tools.mcp_tool.mcp_package import MCPError, is_end

T = TypeVar("T")

_LONGEST_CLOSE = 15.0  # seconds; mcp itself kills a process that ignores the end of its input within about 7


class McpConnectionError(KnownError, ConnectionError):
    """An MCP server could not be reached, or the connection to it ended."""


class McpConnectionEndedError(McpConnectionError):
    """The connection ended while it was in use; a new one may work."""


class McpConnection:
    """A connection to an MCP server.

    Args:
        server: the server, as messages name it.
        open_transport: returns mcp's context manager of the two streams; called on the connection's thread.
        timeout: seconds until the server must have answered the handshake; None: no limit.
        session_options: more arguments of `ClientSession`.
    """

    def __init__(
        self,
        server: str,
        open_transport: Callable[[], AbstractAsyncContextManager[Any]],
        *,
        timeout: float | None,
        session_options: dict[str, Any],
    ) -> None:
        self._server = server
        self._open_transport = open_transport
        self._timeout = timeout
        self._session_options = session_options
        self._lock = threading.Lock()
        self._calls: deque[tuple[Callable[[ClientSession], Awaitable[Any]], Future[Any]]] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._is_closing = False
        self._is_over = False
        self._ready = _uncancellable()
        self._over = _uncancellable()
        self._thread = threading.Thread(target=self._run, name=f"mcp {server}", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended, or is about to."""
        return self._is_over or self._is_closing

    async def opened(self) -> None:
        """Wait until the handshake is done.

        Raises:
            McpConnectionError: there is no connection.
        """
        await asyncio.wrap_future(self._ready)

    async def call(self, function: Callable[[ClientSession], Awaitable[T]]) -> T:
        """Call a function with mcp's session, on the connection's thread, and return its result.

        If the caller is cancelled, the call is cancelled too.

        Args:
            function: awaited there; it must not touch objects of the calling loop.

        Raises:
            McpConnectionEndedError: the connection has ended.
            Exception: what the function raised.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._is_over or self._loop is None:
                raise self._ended()
            self._calls.append((function, future))
            self._loop.call_soon_threadsafe(self._wake.set)
        try:
            return await asyncio.wrap_future(future)
        except MCPError as error:
            if not is_end(error):
                raise
            self._begin_close()
            raise self._ended() from error

    async def close(self) -> None:
        """End the connection and, if there is one, the server's process; wait until both have ended."""
        self._begin_close()
        await asyncio.wait([asyncio.wrap_future(self._over)], timeout=_LONGEST_CLOSE)

    def _begin_close(self) -> None:
        with self._lock:
            self._is_closing = True
            if not self._is_over and self._loop is not None:
                self._loop.call_soon_threadsafe(self._wake.set)

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            asyncio.run(self._serve())
        except BaseException as failure:  # reported to the callers, with its cause
            error = failure
        with self._lock:
            self._is_over = True
            left = [future for _, future in self._calls]
        for future in left:
            _fail(future, self._ended())
        if not self._ready.done():
            self._ready.set_exception(self._could_not_open(error))
        self._over.set_result(None)

    async def _serve(self) -> None:
        with self._lock:
            self._loop = asyncio.get_running_loop()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(self._timeout):
                streams = await stack.enter_async_context(self._open_transport())
                session = await stack.enter_async_context(ClientSession(streams[0], streams[1], **self._session_options))
                await session.initialize()
            self._ready.set_result(None)
            async with asyncio.TaskGroup() as group:
                running: set[asyncio.Task[None]] = set()
                while not self._is_closing:
                    await self._wake.wait()
                    self._wake.clear()
                    while self._calls:
                        task = group.create_task(self._answer(session, *self._calls.popleft()))
                        running.add(task)
                        task.add_done_callback(running.discard)
                for task in running:
                    task.cancel()

    async def _answer(self, session: ClientSession, function: Callable[[ClientSession], Awaitable[Any]], future: Future[Any]) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()

        def stop(ended: Future[Any]) -> None:
            if ended.cancelled() and task is not None:
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(task.cancel)

        future.add_done_callback(stop)
        try:
            result = await function(session)
        except asyncio.CancelledError:
            _fail(future, self._ended())
        except BaseException as error:
            _fail(future, error)
        else:
            with suppress(InvalidStateError):  # the caller was cancelled
                future.set_result(result)

    def _ended(self) -> McpConnectionEndedError:
        return McpConnectionEndedError(f"The connection to the MCP server {self._server} has ended.")

    def _could_not_open(self, error: BaseException | None) -> McpConnectionError:
        while isinstance(error, BaseExceptionGroup):  # anyio's task groups wrap what their tasks raise
            error = error.exceptions[0]
        if isinstance(error, TimeoutError):
            text = f"The MCP server {self._server} did not answer within {self._timeout:g} seconds."
            return McpConnectionError(f"{text} Check that it runs, or set a longer `timeout` in its connection parameters.")
        said = f"{error}".strip() or type(error).__name__
        failure = McpConnectionError(f"The MCP server {self._server} could not be reached: {said.removesuffix('.')}.")
        failure.__cause__ = error
        return failure


def _uncancellable() -> Future[None]:
    """Return a future that a cancelled waiter leaves as it is."""
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()
    return future


def _fail(future: Future[Any], error: BaseException) -> None:
    with suppress(InvalidStateError):
        future.set_exception(error)
