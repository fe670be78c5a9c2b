"""The conversation of an LlmAgent over a live connection: the user, the model and the agent's tools all speak when they like."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from google.genai import types
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK

from runtime.contexts.context import CallbackContext
from runtime.contexts.invocation_context import InvocationContext
from runtime.contexts.live_request_queue import LiveRequest, LiveRequestQueue
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.errors.not_found_error import NotFoundError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.flows.function_calls import run_calls
from runtime.flows.live_connection import LiveConnection
from runtime.flows.live_request import TASK_COMPLETED, build_live_request
from runtime.flows.live_tools import StreamingTools
from runtime.flows.llm_flow import LlmFlow, number_calls
from runtime.flows.turn_agent import TurnAgent
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.support.merge import merge

_MOST_FAILURES = 5  # reconnections in a row that may fail


@dataclass(frozen=True)
class _End:
    """How a connection ended.

    Attributes:
        transfer: the agent that takes over.
        reconnect: whether the conversation continues over a new connection.
        afresh: whether what the server keeps of the conversation is dropped.
    """

    transfer: str | None = None
    reconnect: bool = False
    afresh: bool = False


class LiveFlow:
    """One live run of an LlmAgent.

    Args:
        agent: the agent.
        in_sequence: whether the agent ends its part by calling `task_completed`.
    """

    def __init__(self, agent: TurnAgent, *, in_sequence: bool = False) -> None:
        self._agent = agent
        self._in_sequence = in_sequence
        self._turn = LlmFlow(agent)
        self._handle: str | None = None  # by which the server knows the conversation

    async def run(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        """Run until the queue of requests is closed, the model ends the conversation, or another agent takes over.

        Args:
            ctx: the invocation, with a queue of requests.

        Yields:
            The agent's events, and those of the agents it transfers to.

        Raises:
            ConnectionClosed: the connection broke, and the server keeps nothing of the conversation.
        """
        queue = ctx.live_request_queue
        if queue is None:
            raise ValueError("A live run needs a LiveRequestQueue. Start it with Runner.run_live.")
        resumption = ctx.run_config.session_resumption if ctx.run_config else None
        self._handle = resumption.handle if resumption else None
        llm = await self._agent.canonical_live_model_async(ReadonlyContext(ctx))
        end, failures = _End(reconnect=True), 0
        while end.reconnect:
            request = await build_live_request(self._agent, ctx, llm, self._handle, in_sequence=self._in_sequence)
            end = _End()
            try:
                async with LiveConnection(llm.connect(request)) as line:
                    failures = 0
                    async with aclosing(self._converse(ctx, queue, line, request)) as items:
                        async for item in items:
                            if isinstance(item, Event):
                                yield item
                            else:
                                end = item
            except ConnectionClosed as error:
                failures += 1
                can_resume = self._handle is not None and not queue.closed
                if not can_resume and isinstance(error, ConnectionClosedOK):
                    return
                if not can_resume or failures > _MOST_FAILURES:
                    raise
                end = _End(reconnect=True)
            if end.afresh:
                self._handle = None
        if end.transfer is not None:
            async with aclosing(self._transferred(ctx, end.transfer)) as events:
                async for event in events:
                    yield event

    async def _transferred(self, ctx: InvocationContext, name: str) -> AsyncGenerator[Event, None]:
        """Run the agent that takes over, on a connection of its own."""
        agent = self._agent.root_agent.find_agent(name)
        if agent is None:
            raise NotFoundError(f"{self._agent.name!r} transferred to {name!r}, but its tree has no agent of that name.")
        config = ctx.run_config
        if config and config.session_resumption and config.session_resumption.handle:
            resumption = config.session_resumption.model_copy(update={"handle": None})
            ctx = ctx.model_copy(update={"run_config": config.model_copy(update={"session_resumption": resumption})})
        async with aclosing(agent.run_live(ctx)) as events:
            async for event in events:
                yield event

    async def _converse(
        self, ctx: InvocationContext, queue: LiveRequestQueue, line: LiveConnection, request: LlmRequest
    ) -> AsyncGenerator[Event | _End, None]:
        """Send and receive until the connection's end; at most one `_End` comes, as the last item."""
        tools = StreamingTools(line)
        ctx.shared.live_tools = tools
        try:
            if request.contents and self._handle is None:  # otherwise the server has the conversation
                await line.send_history(request.contents)
            sources: list[AsyncGenerator[Any, None]] = [
                self._send(ctx, queue, line, tools, request),
                self._receive(ctx, line, request),
                tools.run(),
                tools.messages(),
            ]
            async with aclosing(merge(sources)) as items:
                async for item in items:
                    yield item
                    if isinstance(item, _End):
                        return
        finally:
            ctx.shared.live_tools = None

    async def _send(
        self, ctx: InvocationContext, queue: LiveRequestQueue, line: LiveConnection, tools: StreamingTools, request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Send the user's requests until one closes the connection, and yield answers that callbacks give in place of the model."""
        while not line.is_closed:
            asked = await queue.get()
            tools.copy(asked)
            content = await _committed(ctx, asked)
            if asked.close:
                await line.close()
                return
            await line.send_realtime(asked)
            if content is None:
                continue
            if not all(part.function_response for part in content.parts or ()):
                instead = await self._screened(ctx, content, request)
                if instead is not None:
                    yield instead
                    if instead.turn_complete:
                        continue
            await line.send_content(content, partial=asked.partial)

    async def _receive(self, ctx: InvocationContext, line: LiveConnection, request: LlmRequest) -> AsyncGenerator[Event | _End, None]:
        """Yield the model's responses with the results of its calls, and then the end."""
        spoken = ""  # by the model in this turn, so far
        while True:
            has_received = False
            async with aclosing(line.receive()) as responses:
                async for response in responses:
                    has_received = True
                    spoken = _spoken(response, spoken)
                    async with aclosing(self._respond(ctx, line, request, response, spoken)) as items:
                        async for item in items:
                            yield item
                            if isinstance(item, _End):
                                return
            if not has_received or line.is_closed:
                break
            await asyncio.sleep(0)  # a connection that never waits would block the loop
        yield _End()

    async def _respond(
        self, ctx: InvocationContext, line: LiveConnection, request: LlmRequest, response: LlmResponse, spoken: str
    ) -> AsyncGenerator[Event | _End, None]:
        """Yield a response, and run its function calls."""
        if response.live_session_resumption_update is not None:
            self._handle = response.live_session_resumption_update.new_handle
        if response.go_away is not None:  # the server closes the connection soon
            yield _End(reconnect=True)
            return
        if spoken and response.output_transcription is not None:
            instead = await self._instead_of_speech(ctx, response, spoken)
            if instead is not None:
                yield instead
                yield _End(reconnect=True, afresh=True)  # what the model still says is dropped
                return
        if not _says_anything(response):
            return
        event = self._event(ctx, response)
        calls = [] if event.partial else event.get_function_calls()
        if calls:
            number_calls(ctx, event, request.tools_dict)
        yield event
        heard = response.input_transcription
        if heard is not None and heard.finished and heard.text:
            content = types.Content(role="user", parts=[types.Part(text=heard.text)])
            instead = await self._screened(ctx, content, request)
            if instead is not None:
                yield instead
                if instead.turn_complete:
                    yield _End(reconnect=True, afresh=True)
                    return
        async with aclosing(self._answer_calls(ctx, line, calls, request)) as items:
            async for item in items:
                yield item

    async def _answer_calls(
        self, ctx: InvocationContext, line: LiveConnection, calls: list[types.FunctionCall], request: LlmRequest
    ) -> AsyncGenerator[Event | _End, None]:
        """Run calls, and send their results once they are committed."""
        if not calls:
            return
        target, is_completed = None, False
        async with aclosing(run_calls(self._agent, ctx, calls, request.tools_dict)) as results:
            async for result in results:
                yield result
                responses = result.get_function_responses()
                if responses and result.content is not None:
                    await line.send_content(result.content)
                target = result.actions.transfer_to_agent or target
                is_completed = is_completed or (self._in_sequence and any(answer.name == TASK_COMPLETED for answer in responses))
        if target is not None or is_completed:
            yield _End(transfer=target)

    async def _screened(self, ctx: InvocationContext, content: types.Content, request: LlmRequest) -> Event | None:
        """Show the user's words to the callbacks before a model call; return the answer that one gives, or its state changes."""
        context = CallbackContext(ctx)
        with context.state.call():
            instead = await self._turn.before_model(ctx, request.model_copy(update={"contents": [content]}), context)
        if instead is not None:
            return self._event(ctx, instead.model_copy(update={"turn_complete": True}), context.actions)
        return self._event(ctx, LlmResponse(), context.actions) if context.actions != EventActions() else None

    async def _instead_of_speech(self, ctx: InvocationContext, response: LlmResponse, spoken: str) -> Event | None:
        """Show what the model said so far to the callbacks after a model call; return the answer that one gives in its place."""
        so_far = response.model_copy(update={"output_transcription": types.Transcription(text=spoken, finished=False)})
        context = CallbackContext(ctx)
        with context.state.call():
            instead = await self._turn.after_model(ctx, so_far, context)
        return None if instead is so_far else self._event(ctx, instead.model_copy(update={"turn_complete": True}), context.actions)

    def _event(self, ctx: InvocationContext, response: LlmResponse, actions: EventActions | None = None) -> Event:
        event = self._turn.event(ctx, response, actions or EventActions())
        if response.input_transcription or (response.content and response.content.role == "user"):
            event.author = "user"
        return event


async def _committed(ctx: InvocationContext, asked: LiveRequest) -> types.Content | None:
    """Commit the user's message and state changes, and return the content to send."""
    content = asked.content
    parts = (content.parts if content else None) or []
    if any(part.function_call for part in parts):
        raise ValueError("A message of the user cannot contain function calls.")
    is_answer = any(part.function_response for part in parts)
    if content and not content.role and not is_answer:
        content = content.model_copy(update={"role": "user"})
    message = None if asked.close or asked.partial or is_answer else content
    if (message or asked.state_delta) and ctx.shared.commit is not None:
        actions = EventActions(state_delta=asked.state_delta or {})
        await ctx.shared.commit(ctx, Event(invocation_id=ctx.invocation_id, author="user", content=message, actions=actions))
    return content


def _spoken(response: LlmResponse, before: str) -> str:
    """Return what the model has said in its turn, after a response; empty at the turn's end, and when the whole text comes."""
    said = response.output_transcription
    if response.turn_complete or response.interrupted or (said and said.finished):
        return ""
    return before + ((said.text if said else None) or "")


def _says_anything(response: LlmResponse) -> bool:
    names = ("error_code", "interrupted", "turn_complete", "input_transcription", "output_transcription", "usage_metadata")
    others = ("grounding_metadata", "live_session_resumption_update", "voice_activity")
    return bool(response.content or any(getattr(response, name) for name in (*names, *others)))
