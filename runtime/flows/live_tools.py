"""Streaming tools: async generator functions that a live model starts, and that run beside the conversation."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from google.genai import types

from runtime.contexts.context import ToolContext
from runtime.contexts.live_request_queue import LiveRequest, LiveRequestQueue
from runtime.events.event import Event
from runtime.flows.function_response import function_response
from runtime.flows.live_connection import LiveConnection
from runtime.tools.base_tool import BaseTool
from runtime.tools.function_signature import signature_of
from runtime.tools.function_tool import FunctionTool

logger = logging.getLogger(__name__)

_STOP = "stop_streaming"  # the function by which a model stops a tool; the agent declares it
_STOPPING = 1.0  # seconds that a stopped tool has to end before the model learns that it has not


@dataclass(eq=False)
class _Call:
    """A call of a streaming tool."""

    tool: FunctionTool
    args: dict[str, Any]
    context: ToolContext
    stream: LiveRequestQueue | None
    task: asyncio.Task[None] | None = None
    is_over: asyncio.Event = field(default_factory=asyncio.Event)


class StreamingTools:
    """The streaming tools that run on one live connection. They are stopped with it.

    Args:
        connection: receives the tools' results.
    """

    def __init__(self, connection: LiveConnection) -> None:
        self._connection = connection
        self._calls: list[_Call] = []
        self._begun: asyncio.Queue[_Call] = asyncio.Queue()
        self._messages: asyncio.Queue[Event] = asyncio.Queue()

    async def call(self, tool: BaseTool, args: dict[str, Any], context: ToolContext) -> Any | None:
        """Start a streaming tool, or stop one.

        Args:
            tool: any tool.
            args: the call's arguments.
            context: the call's context.

        Returns:
            The result for the model; None if the call is one of an ordinary tool.
        """
        if tool.name == _STOP and "function_name" in args:
            return {"status": await self._stop(str(args["function_name"]))}
        if not isinstance(tool, FunctionTool) or not inspect.isasyncgenfunction(tool.func):
            return None
        call = _Call(tool, args, context, LiveRequestQueue() if signature_of(tool.func).takes_stream else None)
        self._calls.append(call)
        self._begun.put_nowait(call)
        return {"status": "The function is running asynchronously and the results are pending."}

    def copy(self, request: LiveRequest) -> None:
        """Copy a request of the user to the tools that take a stream of them."""
        for call in self._calls:
            if call.stream is not None:
                call.stream.send(request)

    async def run(self) -> AsyncGenerator[Event, None]:
        """Run the tools that are started, until this generator is closed. Nothing is yielded."""
        async with asyncio.TaskGroup() as group:
            while True:
                call = await self._begun.get()
                if call in self._calls:  # not stopped at once
                    call.task = group.create_task(self._stream(call))
        yield  # makes it a generator

    async def messages(self) -> AsyncGenerator[Event, None]:
        """Yield the messages of tools to the user, until this generator is closed."""
        while True:
            yield await self._messages.get()

    async def _stream(self, call: _Call) -> None:
        """Send what a tool yields to the model, and its messages to the user."""
        try:
            results = await call.tool.run_live(args=call.args, tool_context=call.context, input_stream=call.stream)
            if not inspect.isasyncgen(results):  # an argument is missing, or the user has to confirm the call
                await self._tell(call, results, partial=False)
                return
            async with aclosing(results):
                async for result in results:
                    if isinstance(result, Event):
                        self._show(call, result)
                    else:
                        await self._tell(call, result, partial=True)
        except Exception as error:  # the model waits for a result; the error's text may be none of its business
            if isinstance(error.__context__, GeneratorExit):
                return  # the loop was closed during the run, and this task is collected
            logger.exception("The streaming tool %s failed.", call.tool.name)
            await self._tell(call, {"error": f"{call.tool.name}() failed with an internal error."}, partial=False)
        finally:
            self._forget(call)

    def _forget(self, call: _Call, _: object = None) -> None:
        if call in self._calls:
            self._calls.remove(call)
        call.is_over.set()

    async def _tell(self, call: _Call, result: Any, *, partial: bool) -> None:
        answer = function_response(call.context.function_call_id, call.tool.name, call.tool, result)
        await self._connection.send_content(types.Content(role="user", parts=[types.Part(function_response=answer)]), partial=partial)

    def _show(self, call: _Call, message: Event) -> None:
        ctx, name, call_id = call.context._invocation_context, call.tool.name, call.context.function_call_id
        if message.content is None:
            logger.warning("The streaming tool %s yielded an event without a message, which is ignored.", name)
            return
        content = types.Content(role="user", parts=message.content.parts)
        branch = f"{name}@{call_id}" if call_id else name
        self._messages.put_nowait(Event(invocation_id=ctx.invocation_id, author=ctx.agent.name, branch=branch, content=content))

    async def _stop(self, name: str) -> str:
        """Stop all calls of a tool, and return the result for the model."""
        calls = [call for call in self._calls if call.tool.name == name]
        if not calls:
            return f"No active streaming function named {name} found"
        for call in calls:
            if call.task is None:
                self._forget(call)
            else:
                call.task.add_done_callback(partial(self._forget, call))  # also if it never began
                call.task.cancel()
        try:
            async with asyncio.timeout(_STOPPING):
                for call in calls:
                    await call.is_over.wait()
        except TimeoutError:
            return f"The task is not cancelled yet for {name}."
        return f"Successfully stopped streaming function {name}"
