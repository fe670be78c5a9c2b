"""Execution of a model's function calls."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from google.genai import types

from runtime.auth.auth_tool import as_auth_config, read_answer
from runtime.contexts.context import ToolContext
from runtime.contexts.hooks import CallFailure, NoResult
from runtime.contexts.invocation_context import InvocationContext
from runtime.errors.agent_code_error import AgentExitError, SelfCancelledError, is_being_cancelled
from runtime.errors.tool_error import ToolError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.events.marks import ANSWER, CALLED_WITHOUT_RESULT, CONFIRMATION_CALL, CREDENTIAL_CALL, INNER_RUN
from runtime.events.tool_confirmation import ToolConfirmation
from runtime.flows.function_response import function_response
from runtime.flows.turn_agent import TurnAgent
from runtime.sessions.state import State, independent
from runtime.support.agent_thread import AgentThread, enclosing, until_suspended
from runtime.support.calling import as_list, call, first_answer
from runtime.support.ids import new_function_call_id
from runtime.support.merge import merge
from runtime.support.texts import text_of
from runtime.support.unchecked import construct_unchecked
from runtime.tools.agent_tool import AgentTool
from runtime.tools.base_tool import BaseTool
from runtime.tools.inner_runs import InnerPause

logger = logging.getLogger(__name__)


async def run_calls(
    agent: TurnAgent,
    ctx: InvocationContext,
    calls: Sequence[types.FunctionCall],
    tools: dict[str, BaseTool],
    answers: dict[str, dict[str, Any]] | None = None,
    asked: Collection[str] = (),
) -> AsyncGenerator[Event, None]:
    """Run function calls concurrently and yield their results.

    In a resumable app each result is an event of its own, committed when its tool returns, so that a crash in one tool does not repeat
    the others. If a call fails, the others finish first, as a resume would not repeat those. Otherwise the results of a turn are one
    event, and a failed call cancels the others, as in google-adk. Results of those that had returned come before the error.

    Args:
        agent: the calling agent.
        ctx: the invocation.
        calls: the model's function calls.
        tools: tool name → tool.
        answers: call id → the user's answer to that call's request.
        asked: ids of calls whose requests are committed already.

    Yields:
        The function responses with their requests for confirmation and credentials, in google-adk's order.

    Raises:
        Exception: the error of the call that failed first; notes name the other calls that failed.
    """
    pauses: dict[str, InnerPause] = {}
    runs = [partial(_run_call, agent, ctx, call, tools, (answers or {}).get(call.id or ""), pauses) for call in calls]
    if len(runs) == 1:
        event = await runs[0]()
    elif ctx.is_resumable:
        failures: list[tuple[str | None, Exception]] = []
        async with aclosing(
            merge(_in_order([_noting_failure(run, call, failures) for run, call in zip(runs, calls, strict=True)]))
        ) as events:
            committed: set[str] = set()
            async for event in events:
                _take_newer_writes(ctx, event, committed)
                for one in _with_requests(ctx, event, calls, asked, pauses):
                    yield one
        if failures:
            first = failures[0][1]
            for name, other in failures[1:]:
                first.add_note(f"The call of {name} failed too: {type(other).__name__}: {other}")
            raise first
        return
    else:
        returned: dict[str | None, Event] = {}
        try:
            keeping = [_keeping_result(run, call, returned) for run, call in zip(runs, calls, strict=True)]
            async with aclosing(merge(_in_order(keeping))) as events:
                async for _ in events:
                    pass
        except Exception:
            kept = [] if ctx.is_aborted else [returned[call.id] for call in calls if call.id in returned and _is_plain(returned[call.id])]
            for dropped in returned.values():
                if dropped not in kept:
                    ctx.writes.revert(dropped.actions.state_delta, {})
            if kept:
                yield _merged(ctx, kept)
            raise
        in_order = [returned[call.id] for call in calls if call.id in returned]
        event = _merged(ctx, in_order) if in_order else None
    if event is not None:
        for one in _with_requests(ctx, event, calls, asked, pauses):
            yield one


def _in_order(runs: Sequence[Coroutine[Any, Any, Event | None]]) -> list[AsyncGenerator[Event, None]]:
    """Return the calls of a turn, each begun when the one before it has finished, or waits for anything but a sync function.

    So sync calls come one after the other, with their callbacks and in the order of the calls, and async ones run concurrently.
    """
    begun = [asyncio.Event() for _ in range(len(runs) + 1)]
    begun[0].set()
    return [_when_done(run, begun[number], begun[number + 1]) for number, run in enumerate(runs)]


async def _when_done(
    run: Coroutine[Any, Any, Event | None], may_begin: asyncio.Event, next_may_begin: asyncio.Event
) -> AsyncGenerator[Event, None]:
    try:
        await may_begin.wait()
        event = await until_suspended(run, next_may_begin.set)
        if event is not None:
            yield event
    finally:  # after a sync call's event is committed
        next_may_begin.set()
        run.close()


async def _keeping_result(
    run: Callable[[], Awaitable[Event | None]], call: types.FunctionCall, returned: dict[str | None, Event]
) -> Event | None:
    event = await run()
    if event is not None:
        returned[call.id] = event
    return event


def _is_plain(event: Event) -> bool:
    """Return whether a result does nothing else, such as transferring or asking the user: a failed turn must do nothing of that."""
    unwanted = event.actions.model_copy(
        update={"state_delta": {}, "artifact_delta": {}, "skip_summarization": None, "render_ui_widgets": None}
    )
    return unwanted == EventActions() and ANSWER not in (event.custom_metadata or {})


async def _noting_failure(
    run: Callable[[], Awaitable[Event | None]], call: types.FunctionCall, failures: list[tuple[str | None, Exception]]
) -> Event | None:
    try:
        return await run()
    except Exception as error:
        failures.append((call.name, error))
        return None


async def _run_call(
    agent: TurnAgent,
    ctx: InvocationContext,
    call: types.FunctionCall,
    tools: dict[str, BaseTool],
    answer: dict[str, Any] | None,
    pauses: dict[str, InnerPause],
) -> Event | None:
    """Run one call and return its result; None for a long-running tool that has none yet. Add to `pauses` an agent in it that waits."""
    answer = unwrapped(answer)
    confirmation = ToolConfirmation.model_validate(answer) if answer and "confirmed" in answer else None
    context = ToolContext(ctx, function_call_id=call.id, tool_confirmation=confirmation, auth_answer=read_answer(answer))
    with context.state.call():
        result = await _result(agent, ctx, call, tools, context)
    tool = tools.get(call.name or "")
    pause: InnerPause | None = context.inner_pause
    if pause is not None and call.id:
        pauses[call.id] = pause
        context.actions.skip_summarization = True
        parts = [construct_unchecked(types.Part, function_response=function_response(call.id, call.name, tool, pause.receipt))]
        content = construct_unchecked(types.Content, role="user", parts=parts)
        return _event(ctx, agent, content, context.actions, custom_metadata={INNER_RUN: {"call": call.id}})
    if result is None and tool is not None and tool.is_long_running:
        if ctx.is_resumable:
            return _event(ctx, agent, None, context.actions, custom_metadata={CALLED_WITHOUT_RESULT: [call.id]})
        return None
    accepted, context.actions.set_model_response = context.actions.set_model_response, None
    mark = {ANSWER: {"call": call.id, "wrapped": not isinstance(accepted, dict)}} if accepted is not None else None
    response = function_response(call.id, call.name, tool, result)
    parts = [construct_unchecked(types.Part, function_response=response)]
    if isinstance(tool, AgentTool) and context.actions.skip_summarization:
        parts += _shown(result, response)
    return _event(ctx, agent, construct_unchecked(types.Content, role="user", parts=parts), context.actions, custom_metadata=mark)


def _shown(result: Any, response: types.FunctionResponse) -> list[types.Part]:
    """Return an agent's answer that no model will summarize as a text for the user, as google-adk 2 does; an error is not shown."""
    if result in (None, "", {"result": None}) or "error" in (response.response or {}):
        return []
    return [types.Part(text=result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str))]


def unwrapped(answer: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the user's answer; adk web sends it as a JSON text under `response`."""
    if answer is not None and set(answer) == {"response"} and isinstance(answer["response"], str):
        with contextlib.suppress(ValueError):
            answer = json.loads(answer["response"])
    return answer if isinstance(answer, dict) else None


async def _result(
    agent: TurnAgent, ctx: InvocationContext, call: types.FunctionCall, tools: dict[str, BaseTool], context: ToolContext
) -> Any:
    """Call the tool and all hooks around it."""
    args = independent(call.args or {})  # tools and callbacks must not change the recorded call
    tool = tools.get(call.name or "")
    missing: ValueError | None = None  # of this class in google-adk, whose plugins name it to the model
    if tool is None:
        tool = BaseTool(name=call.name or "", description="Tool not found")  # for the callbacks
        missing = ValueError(f"There is no tool named {call.name!r}. The tools are: {', '.join(sorted(tools)) or 'none'}.")
    if not ctx.plugin_manager.plugins and not (agent.before_tool_callback or agent.after_tool_callback or agent.on_tool_error_callback):
        try:
            return {"error": str(missing)} if missing else await _called(tool, args, context)
        except ToolError as error:
            return {"error": text_of(error)}
    hooks = {"tool": tool, "tool_args": args, "tool_context": context}
    named = {"tool": tool, "args": args, "tool_context": context}
    failure: Exception | None = None
    result = None
    try:
        result = await ctx.plugin_manager.run_hook("before_tool_callback", **hooks)
    except CallFailure as wanted:
        failure = wanted.error
    except NoResult:
        return None
    if result is None and failure is None:
        result = await first_answer(ctx.sync_calls, agent.before_tool_callback, **named)
    if result is None:
        try:
            if failure or missing:
                raise failure or missing  # type: ignore[misc]  # one of them is there
            result = await _called(tool, args, context)
        except asyncio.CancelledError as cancelled:
            await _after_cancellation(agent, ctx, {**hooks, "error": cancelled}, {**named, "error": cancelled})
            raise
        except Exception as error:
            result = await _after_error(agent, ctx, {**hooks, "error": error}, {**named, "error": error})
            if error is missing:  # no tool has run, so the callbacks after a tool are not called
                return {"error": str(missing)} if result is None else result
            if result is None and not isinstance(error, ToolError):
                raise
            if result is None:
                result = {"error": text_of(error)}
    changed = await ctx.plugin_manager.run_hook("after_tool_callback", **hooks, result=result)
    if changed is None:
        changed = await first_answer(ctx.sync_calls, agent.after_tool_callback, **named, tool_response=result)
    return result if changed is None else changed


async def _called(tool: BaseTool, args: dict[str, Any], context: ToolContext) -> Any:
    try:
        with enclosing(context._invocation_context.sync_calls), context.state.call():
            return await tool.run_async(args=args, tool_context=context)
    except InnerPause as pause:
        return pause.receipt
    except SystemExit as error:
        raise AgentExitError(f"The tool {tool.name!r}", error) from error
    except asyncio.CancelledError as error:
        if is_being_cancelled():
            raise
        raise SelfCancelledError(f"The tool {tool.name!r}") from error


async def _after_error(agent: TurnAgent, ctx: InvocationContext, hooks: dict[str, Any], named: dict[str, Any]) -> Any:
    """Return a plugin's or callback's replacement for a failed tool's result, if any."""
    try:
        result = await ctx.plugin_manager.run_hook("on_tool_error_callback", **hooks)
    except CallFailure as wanted:
        raise wanted.error from hooks["error"]
    return await first_answer(ctx.sync_calls, agent.on_tool_error_callback, **named) if result is None else result


async def _after_cancellation(agent: TurnAgent, ctx: InvocationContext, hooks: dict[str, Any], named: dict[str, Any]) -> None:
    """Report a call that was cancelled to all error hooks, so that they can release what a hook before the call has opened."""
    if isinstance(ctx.sync_calls, AgentThread) and ctx.sync_calls.is_blocked:
        logger.info("The error callbacks of a stopped call of %s are not called: a function still runs.", hooks["tool"].name)
        return
    await ctx.plugin_manager.notify("on_tool_error_callback", **hooks)
    for callback in as_list(agent.on_tool_error_callback):
        try:
            await call(ctx.sync_calls, callback, **named)
        except Exception:
            logger.exception("An error callback failed for a cancelled call of %s.", hooks["tool"].name)


def _with_requests(
    ctx: InvocationContext, event: Event, calls: Sequence[types.FunctionCall], asked: Collection[str], pauses: dict[str, InnerPause]
) -> list[Event]:
    """Return a result event and its requests in google-adk's order: the requests first, but after results that await no approval.

    The questions of agents that run as tools are first, as their events keep the runs.
    """
    inner = [_inner_question(ctx, event.author, pauses[each.id]) for each in event.get_function_responses() if each.id in pauses]
    asking = requests(ctx, event, calls, asked)
    awaiting = event.actions.requested_tool_confirmations
    settled = awaiting and any(response.id not in awaiting for response in event.get_function_responses())
    return [*inner, event, *asking] if settled else [*inner, *asking, event]


def _inner_question(ctx: InvocationContext, author: str, pause: InnerPause) -> Event:
    """Return the event that asks the user for an agent that runs as a tool, and keeps its run; without calls if they are asked already."""
    parts = [types.Part(function_call=call.model_copy(deep=True)) for call in pause.questions]
    question = _request(ctx, author, parts, "user" if all(call.name == CREDENTIAL_CALL for call in pause.questions) else "model")
    question.content = question.content if parts else None
    question.custom_metadata = {INNER_RUN: pause.kept}
    return question


def requests(ctx: InvocationContext, event: Event, calls: Sequence[types.FunctionCall], asked: Collection[str] = ()) -> list[Event]:
    """Return the event that asks the user for the confirmations and credentials requested in a result event, if any.

    Args:
        ctx: the invocation.
        event: the result event.
        calls: the model's function calls.
        asked: ids of calls that asked before.
    """
    by_id = {call.id: call for call in calls}
    parts = []
    for call_id, confirmation in event.actions.requested_tool_confirmations.items():
        if call_id in asked:
            continue
        original = by_id[call_id].model_dump(mode="json", exclude_none=True, by_alias=True)
        wanted = confirmation.model_dump(mode="json", exclude_none=True, by_alias=True)
        parts.append(_request_part(CONFIRMATION_CALL, {"originalFunctionCall": original, "toolConfirmation": wanted}))
    for call_id, auth_config in event.actions.requested_auth_configs.items():
        if call_id in asked:
            continue
        parts.append(_credential_part(call_id, auth_config))
    role = "model" if any(part.function_call and part.function_call.name == CONFIRMATION_CALL for part in parts) else "user"
    return [_request(ctx, event.author, parts, role)] if parts else []  # the roles that google-adk 2 gives them


def credential_request(ctx: InvocationContext, author: str, wanted: Mapping[str, Any]) -> Event:
    """Return the event that asks the user for credentials.

    Args:
        ctx: the invocation.
        author: the agent that asks.
        wanted: what each credential is for → its `AuthConfig` or the JSON object of one.
    """
    return _request(ctx, author, [_credential_part(purpose, auth_config) for purpose, auth_config in wanted.items()])


def _credential_part(purpose: str, auth_config: Any) -> types.Part:
    wanted = as_auth_config(auth_config).model_dump(mode="json", exclude_none=True, by_alias=True)
    return _request_part(CREDENTIAL_CALL, {"functionCallId": purpose, "authConfig": wanted})


def _request(ctx: InvocationContext, author: str, parts: list[types.Part], role: str = "user") -> Event:
    request = Event(invocation_id=ctx.invocation_id, author=author, branch=ctx.branch, content=types.Content(role=role, parts=parts))
    request.long_running_tool_ids = {part.function_call.id for part in parts if part.function_call and part.function_call.id}
    return request


def _request_part(name: str, args: dict[str, Any]) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=new_function_call_id(), name=name, args=args))


def _event(ctx: InvocationContext, agent: TurnAgent, content: types.Content | None, actions: EventActions, **more: Any) -> Event:
    return Event(invocation_id=ctx.invocation_id, author=agent.name, branch=ctx.branch, content=content, actions=actions, **more)


def merged_results(events: Sequence[Event]) -> Event:
    """Return one event with the results of all; of several, a copy of the first with the others' results.

    Args:
        events: result events of one turn, at least one. They are not changed.
    """
    if len(events) == 1:
        return events[0]
    merged = events[0].model_copy(deep=True)
    _add_results(merged, events[1:])
    return merged


def _merged(ctx: InvocationContext, events: Sequence[Event]) -> Event:
    """Return the first event with all results.

    Of lists and dicts that several calls set, the newest write is merged last: a call that read the key after another wrote it has
    built on that.
    """
    merged = events[0]
    deltas = [dict(event.actions.state_delta) for event in events]
    ctx.writes.join(merged.actions.state_delta, [event.actions.state_delta for event in events[1:]])
    _add_results(merged, events[1:])
    for key, value in merged.actions.state_delta.items():
        newest = ctx.session.state.get(key)
        writes = [delta[key] for delta in deltas if key in delta]
        if len(writes) > 1 and isinstance(newest, (dict, list)) and any(write is newest for write in writes):
            merged.actions.state_delta[key] = _deep_merged(value, newest)
    return merged


def _add_results(merged: Event, others: Sequence[Event]) -> None:
    """Add results to an event, as google-adk does: where several calls set one key, the later call wins, and dicts are merged."""
    for event in others:
        assert merged.content and merged.content.parts is not None and event.content  # each result has one response
        merged.content.parts.extend(event.content.parts or [])
        if event.custom_metadata:
            merged.custom_metadata = {**(merged.custom_metadata or {}), **event.custom_metadata}
        actions = event.actions
        for key, value in actions.state_delta.items():
            merged.actions.state_delta[key] = _deep_merged(merged.actions.state_delta.get(key), value)
        merged.actions.artifact_delta.update(actions.artifact_delta)
        merged.actions.requested_auth_configs.update(actions.requested_auth_configs)
        merged.actions.requested_tool_confirmations.update(actions.requested_tool_confirmations)
        merged.actions.transfer_to_agent = actions.transfer_to_agent or merged.actions.transfer_to_agent
        merged.actions.escalate = actions.escalate or merged.actions.escalate
        merged.actions.skip_summarization = actions.skip_summarization or merged.actions.skip_summarization


def _take_newer_writes(ctx: InvocationContext, event: Event, committed: set[str]) -> None:
    """Keep a result from overwriting what other calls of its turn wrote later and have already committed.

    Args:
        ctx: the invocation.
        event: the result; its delta is changed in place.
        committed: the keys that results of this turn have set.
    """
    delta, state = event.actions.state_delta, ctx.session.state
    for key in committed.intersection(delta):
        if key in state and state[key] is not delta[key]:
            delta[key] = state[key] if key.startswith(State.TEMP_PREFIX) else independent({key: state[key]})[key]
    committed.update(delta)


def _deep_merged(value: Any, later: Any) -> Any:
    if not (isinstance(value, dict) and isinstance(later, dict)):
        return later
    return {**value, **{key: _deep_merged(value.get(key), item) for key, item in later.items()}}
