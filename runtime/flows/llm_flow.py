"""The loop of an LlmAgent: call the model and run its function calls until it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from typing import Any

from google.genai import types

from runtime.contexts.context import CallbackContext
from runtime.contexts.invocation_context import InvocationContext, InvocationPaused
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.contexts.run_config import StreamingMode
from runtime.errors.not_found_error import NotFoundError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.final_response import says_something
from runtime.events.marks import SAME_MODEL_CALL, TRANSFER_CALL, inner_run
from runtime.flows.function_calls import requests, run_calls
from runtime.flows.request import build_request
from runtime.flows.toolset_credentials import request_credentials
from runtime.flows.turn_agent import TurnAgent
from runtime.history.turns import Turn, answer_set, own_transfer
from runtime.models.base_llm import BaseLlm
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import NO_CONTENT, LlmResponse
from runtime.support.calling import first_answer
from runtime.support.ids import inner_function_call_id, new_function_call_id
from runtime.tools.agent_tool import GROUNDING_KEY, AgentTool
from runtime.tools.base_tool import BaseTool
from runtime.tools.transfer_to_agent_tool import TransferToAgentTool

_AGENT_LABEL = "adk_agent_name"


class LlmFlow:
    """One run of an LlmAgent."""

    def __init__(self, agent: TurnAgent) -> None:
        self._agent = agent

    async def run(self, ctx: InvocationContext, turn: Turn | None) -> AsyncGenerator[Event, None]:
        """Run until the agent has answered, transferred to another agent, or waits for an answer.

        Args:
            ctx: the invocation.
            turn: the progress of the interrupted turn; None for a new turn.

        Yields:
            The agent's events.

        Raises:
            InvocationPaused: a long-running call waits for its answer (resumable apps).
        """
        ended = False
        if turn is not None:
            llm = await self._agent.canonical_model_async(ReadonlyContext(ctx))
            async with aclosing(self._complete(ctx, llm, turn)) as events:
                async for event in events:
                    yield event
                    ended = ended or _ends_turn(event)
            ended = ended or turn.set_answer is not None or (turn.transfer is not None and ctx.is_resumable)
        while not ended and not ctx.end_invocation:
            asking = await request_credentials(self._agent, ctx) if self._agent.toolsets else None
            if asking is not None:
                yield asking
                if ctx.is_resumable:
                    raise InvocationPaused
                ctx.end_invocation = True
                return
            llm = await self._agent.canonical_model_async(ReadonlyContext(ctx))
            request = await build_request(self._agent, ctx, llm)
            said: Event | None = None  # the model's last complete response; most models give one for each call
            answered = False
            pause: InvocationPaused | None = None
            async with aclosing(self._call_model(ctx, llm, request)) as responses:
                async for response in responses:
                    if said is not None and not response.partial and not response.has_trailing_code_execution_result():
                        response.custom_metadata = {**(response.custom_metadata or {}), SAME_MODEL_CALL: True}
                    yield response
                    if response.partial:
                        continue
                    said, answered = response, False
                    calls = said.get_function_calls()
                    transfer = own_transfer(said) if calls else None
                    try:
                        async with aclosing(self._answer_calls(ctx, calls, request.tools_dict, {}, transfer)) as events:
                            async for event in events:
                                yield event
                                ended = ended or _ends_turn(event)
                                answered = True
                    except InvocationPaused as waits:
                        pause = waits  # after the model's other responses
                    if said.long_running_tool_ids and ctx.is_resumable:
                        pause = pause or InvocationPaused()
                    ended = ended or transfer is not None
            if pause is not None:
                raise pause
            if said is None or not (said.get_function_calls() or said.has_trailing_code_execution_result()):
                return
            # Long-running tools without any result give the model nothing to continue with.
            ended = ended or bool(said.get_function_calls() and not answered)

    async def _complete(self, ctx: InvocationContext, llm: BaseLlm, turn: Turn) -> AsyncGenerator[Event, None]:
        """Complete the missing steps of an interrupted turn."""
        for result in turn.to_ask:
            for asking in requests(ctx, result, turn.calls):
                yield asking
        transfer = None if turn.pauses or not ctx.is_resumable else turn.transfer  # apps that do not pause have transferred already
        if turn.to_run or transfer is not None:
            tools = (await build_request(self._agent, ctx, llm)).tools_dict
            async with aclosing(self._answer_calls(ctx, turn.to_run, tools, turn.answers, transfer, turn.asked)) as events:
                async for event in events:
                    yield event
        if turn.pauses and ctx.is_resumable:
            raise InvocationPaused
        if turn.set_answer is not None:
            yield self._final_answer(ctx, turn.set_answer)

    async def _answer_calls(
        self,
        ctx: InvocationContext,
        calls: Sequence[types.FunctionCall],
        tools: dict[str, BaseTool],
        answers: dict[str, dict[str, Any]],
        target: str | None,
        asked: Collection[str] = (),
    ) -> AsyncGenerator[Event, None]:
        """Run calls and, if one of them or the call event itself (`target`) transferred, the target agent."""
        asked_someone = False
        answer: str | None = None
        async with aclosing(run_calls(self._agent, ctx, calls, tools, answers, asked)) as events:
            async for event in events:
                target = event.actions.transfer_to_agent or target
                asked_someone = asked_someone or bool(event.long_running_tool_ids) or inner_run(event) is not None
                answer = answer_set(event) or answer
                yield event
        if asked_someone and ctx.is_resumable:
            raise InvocationPaused
        if answer is not None:
            yield self._final_answer(ctx, answer)
        elif target is not None:
            agent = self._agent.root_agent.find_agent(target)
            if agent is None:
                raise NotFoundError(f"{self._agent.name!r} transferred to {target!r}, but its tree has no agent of that name.")
            async with aclosing(agent.run_async(ctx)) as events:
                async for event in events:
                    yield event

    def _final_answer(self, ctx: InvocationContext, answer: str) -> Event:
        """Return an answer given through `set_model_response` as the model's own answer."""
        content = types.Content(role="model", parts=[types.Part(text=answer)])
        return Event(invocation_id=ctx.invocation_id, author=self._agent.name, branch=ctx.branch, content=content)

    async def _call_model(self, ctx: InvocationContext, llm: BaseLlm, request: LlmRequest) -> AsyncGenerator[Event, None]:
        """Call the model and all hooks around it, and yield its answer."""
        # The callbacks' writes are committed with the complete answer; the actions of partial events are ignored.
        context = CallbackContext(ctx)
        context.state.begin_call()
        try:
            async with aclosing(self._responses(ctx, llm, request, context)) as responses:
                async for response in responses:
                    response = _with_reason(ctx, await self.after_model(ctx, response, context))
                    response = await self._planned(ctx, response, context)
                    response = _with_sources(ctx, response, request.tools_dict)
                    if not (response.content or response.error_code or response.interrupted):
                        continue
                    event = self.event(ctx, response, EventActions() if response.partial else context.actions)
                    if not event.partial:
                        number_calls(ctx, event, request.tools_dict)
                        _note_transfer(event, request.tools_dict)
                        context.state.end_call()
                        context = CallbackContext(ctx)
                        context.state.begin_call()
                    yield event
        except BaseException:
            context.state.revert_call()  # no event carries its writes
            raise
        context.state.end_call()

    async def _responses(
        self, ctx: InvocationContext, llm: BaseLlm, request: LlmRequest, context: CallbackContext
    ) -> AsyncGenerator[LlmResponse, None]:
        agent = self._agent
        instead = await self.before_model(ctx, request, context)
        if instead is not None:
            yield instead
            return
        ctx.increment_llm_call_count()
        # As in google-adk: the provider's bill can be split by agent.
        request.config.labels = {_AGENT_LABEL: agent.name, **(request.config.labels or {})}
        stream = ctx.run_config is not None and ctx.run_config.streaming_mode is StreamingMode.SSE
        try:
            async with aclosing(llm.generate_content_async(request, stream=stream)) as responses:
                async for response in responses:
                    yield response
        except Exception as error:
            hooks = {"callback_context": context, "llm_request": request, "error": error}
            instead = await ctx.plugin_manager.run_hook("on_model_error_callback", **hooks)
            if instead is None:
                instead = await first_answer(ctx.sync_calls, agent.on_model_error_callback, **hooks)
            if instead is None:
                raise
            yield instead

    async def before_model(self, ctx: InvocationContext, request: LlmRequest, context: CallbackContext) -> LlmResponse | None:
        """Call the hooks before a model call, and return the answer that one of them gives in place of the model."""
        callbacks = self._agent.before_model_callback
        if callbacks is None and not ctx.plugin_manager.takes("before_model_callback"):
            return None
        hooks = {"callback_context": context, "llm_request": request}
        instead: LlmResponse | None = await ctx.plugin_manager.run_hook("before_model_callback", **hooks)
        return await first_answer(ctx.sync_calls, callbacks, **hooks) if instead is None else instead

    async def after_model(self, ctx: InvocationContext, response: LlmResponse, context: CallbackContext) -> LlmResponse:
        """Call the hooks after a model call, and return the response or what one of them gives in its place."""
        if self._agent.after_model_callback is None and not ctx.plugin_manager.takes("after_model_callback"):
            return response
        instead = await ctx.plugin_manager.run_hook("after_model_callback", callback_context=context, llm_response=response)
        if instead is None:
            instead = await first_answer(ctx.sync_calls, self._agent.after_model_callback, callback_context=context, llm_response=response)
        return response if instead is None else instead

    async def _planned(self, ctx: InvocationContext, response: LlmResponse, context: CallbackContext) -> LlmResponse:
        """Let the planner process a complete answer."""
        planner = self._agent.planner
        if planner is None or response.partial or not response.content or not response.content.parts:
            return response
        parts = await ctx.sync_calls.call(planner.process_planning_response, context, response.content.parts)
        if parts is None:
            return response
        return response.model_copy(update={"content": types.Content(role=response.content.role, parts=parts)})

    def event(self, ctx: InvocationContext, response: LlmResponse, actions: EventActions) -> Event:
        """Return a response as this agent's event."""
        said = {name: getattr(response, name) for name in response.model_fields_set}
        return Event(**said, invocation_id=ctx.invocation_id, author=self._agent.name, branch=ctx.branch, actions=actions)


def _with_reason(ctx: InvocationContext, response: LlmResponse) -> LlmResponse:
    """Return a complete answer that says nothing with an error code, as google-adk 2 does: it would be taken for the end of the turn."""
    if response.partial or response.error_code or response.finish_reason is not types.FinishReason.STOP or says_something(response.content):
        return response
    parts = response.content.parts if response.content else None
    if not parts and ctx.run_config is not None and ctx.run_config.streaming_mode is StreamingMode.SSE:
        return response  # a stream's last chunk, which only ends it
    what = "only thoughts or blank text" if parts else "no content"
    message = f"The model returned {what}. Ask again, or change the instruction."
    return response.model_copy(update={"error_code": NO_CONTENT, "error_message": response.error_message or message})


def _with_sources(ctx: InvocationContext, response: LlmResponse, tools: dict[str, BaseTool]) -> LlmResponse:
    """Return the answer with the sources that an agent's tool call found in this invocation, if such a tool hands them on."""
    if not any(isinstance(tool, AgentTool) and tool.propagate_grounding_metadata for tool in tools.values()):
        return response
    found = ctx.session.state.get(GROUNDING_KEY)
    return response.model_copy(update={"grounding_metadata": found}) if found else response


def _ends_turn(event: Event) -> bool:
    """Return whether this result ends the turn without another model call."""
    return bool(event.actions.skip_summarization or event.actions.transfer_to_agent or answer_set(event) is not None)


def _id_inside(ctx: InvocationContext, agent_name: str, call: types.FunctionCall) -> str | None:
    """Return the id of a call by an agent that runs as a tool: the same if the tool runs again and its agent repeats the call."""
    outer_id = ctx.shared.outer[1] if ctx.shared.outer else None
    if outer_id is None:
        return call.id
    return inner_function_call_id(outer_id, *ctx.number_of_call(ctx.branch, agent_name, call))


def number_calls(ctx: InvocationContext, event: Event, tools: dict[str, BaseTool]) -> None:
    """Give each call a unique id, and record the long-running ones."""
    calls = event.get_function_calls()
    if not calls:
        return
    given: set[str | None] = set()
    for call in calls:
        if ctx.shared.outer is not None:
            call.id = _id_inside(ctx, event.author, call)
        if not call.id or call.id in given:  # some models reuse one id, but results are matched by id
            call.id = new_function_call_id()
        given.add(call.id)
    event.long_running_tool_ids = {call.id for call in calls if call.id and call.name in tools and tools[call.name].is_long_running}


def _note_transfer(event: Event, tools: dict[str, BaseTool]) -> None:
    """Record on a call event the agent that one of its calls transfers to; the call's result decides whether it does."""
    tool = tools.get(TRANSFER_CALL)
    if isinstance(tool, TransferToAgentTool) and event.actions.transfer_to_agent is None:
        targets = [call.args.get("agent_name") for call in event.get_function_calls() if call.name == TRANSFER_CALL and call.args]
        event.actions.transfer_to_agent = next((target for target in reversed(targets) if target in tool.agent_names), None)
