"""An agent's code executor in its turn: code in answers, its execution, and both in requests."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Sequence

from google.genai import types

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.code_executors.built_in_code_executor import BuiltInCodeExecutor
from runtime.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionUtils
from runtime.code_executors.code_executor_context import CONTEXT_KEY, CodeExecutorContext
from runtime.contexts.context import Context
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event
from runtime.flows.turn_agent import TurnAgent
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.sessions.state import independent


def prepare_request(executor: BaseCodeExecutor, request: LlmRequest) -> None:
    """Enable Gemini's own code execution if it is the executor, and turn code and results of earlier answers into text.

    Args:
        executor: the agent's executor.
        request: changed in place; its contents are not.
    """
    if isinstance(executor, BuiltInCodeExecutor):
        executor.process_llm_request(request)
    request.contents = [_as_text(executor, content) for content in request.contents]


def _as_text(executor: BaseCodeExecutor, content: types.Content) -> types.Content:
    last = content.parts[-1] if content.parts else None
    if last is None or (last.executable_code is None and last.code_execution_result is None):
        return content
    changed = types.Content(role=content.role, parts=list(content.parts or []))
    delimiters = executor.code_block_delimiters[0] if executor.code_block_delimiters else ("", "")
    CodeExecutionUtils.convert_code_execution_parts(changed, delimiters, executor.execution_result_delimiters)
    return changed


def take_code(agent: TurnAgent, ctx: InvocationContext, response: LlmResponse) -> tuple[LlmResponse, str | None]:
    """Find the code in a complete answer that the agent's executor must run.

    Args:
        agent: the agent.
        ctx: the invocation.
        response: the answer.

    Returns:
        The answer, cut after the code, and the code; the unchanged answer and None if nothing is to be run.
    """
    executor = agent.code_executor
    if executor is None or isinstance(executor, BuiltInCodeExecutor) or response.partial:
        return response, None
    if response.content is None or not response.content.parts:
        return response, None
    if _memory(ctx).get_error_count(ctx.invocation_id) >= executor.error_retry_attempts:
        return response, None
    # A planner marks the code that it asked for as a thought too, without a model's signature.
    thoughts = [part for part in response.content.parts if part.thought and (part.thought_signature or agent.planner is None)]
    content = types.Content(role=response.content.role, parts=[part for part in response.content.parts if part not in thoughts])
    code = CodeExecutionUtils.extract_code_and_truncate_content(content, executor.code_block_delimiters)
    if code is None:
        return response, None
    content.parts = [*thoughts, *(content.parts or [])]
    return response.model_copy(update={"content": content}), code


def trailing_code(events: Sequence[Event], agent_name: str) -> str | None:
    """Return the code at the end of an agent's last event, which an interrupted run has not executed; None if there is none."""
    said = [event for event in events if event.content and event.content.parts and event.author == agent_name]
    last = said[-1].content.parts[-1] if said and said[-1].content and said[-1].content.parts else None
    return last.executable_code.code if last is not None and last.executable_code is not None else None


async def run_code(agent: TurnAgent, ctx: InvocationContext, code: str) -> Event:
    """Run code, and return the event with its result. Files that it wrote are saved as artifacts.

    Raises:
        ServiceMissingError: the code wrote files, and the Runner has no artifact service.
        Exception: any exception of the executor.
    """
    executor, memory = agent.code_executor, _memory(ctx)
    assert executor is not None  # take_code found code for it
    if executor.stateful and memory.get_execution_id() is None:
        memory.set_execution_id(ctx.session.id)
    execution_id = memory.get_execution_id() if executor.stateful else None
    given = CodeExecutionInput(code=code, input_files=memory.get_input_files(), execution_id=execution_id)
    try:
        result = await ctx.sync_calls.call(executor.execute_code, ctx, given)
    except asyncio.CancelledError:
        executor.stop(ctx)
        raise
    memory.update_code_execution_result(ctx.invocation_id, code, result.stdout, result.stderr)
    context = Context(ctx)
    for file in result.output_files:
        data = file.content if isinstance(file.content, bytes) else base64.b64decode(file.content)
        await context.save_artifact(file.name, types.Part.from_bytes(data=data, mime_type=file.mime_type))
    context.actions.state_delta.update(memory.get_state_delta())
    if result.stderr:
        memory.increment_error_count(ctx.invocation_id)
    else:
        memory.reset_error_count(ctx.invocation_id)
    content = types.Content(role="model", parts=[CodeExecutionUtils.build_code_execution_result_part(result)])
    return Event(invocation_id=ctx.invocation_id, author=agent.name, branch=ctx.branch, content=content, actions=context.actions)


async def with_saved_images(agent: TurnAgent, context: Context, response: LlmResponse) -> LlmResponse:
    """Save the images that Gemini's code made as artifacts; without an artifact service they stay in the answer.

    Args:
        agent: the agent.
        context: records the saved versions.
        response: the answer.
    """
    parts = (response.content.parts if response.content else None) or []
    if not isinstance(agent.code_executor, BuiltInCodeExecutor) or context._invocation_context.artifact_service is None or response.partial:
        return response
    changed = list(parts)
    for index, part in enumerate(parts):
        blob = part.inline_data
        if blob is None or blob.data is None or not (blob.mime_type or "").startswith("image/"):
            continue
        kind = (blob.mime_type or "").partition("/")[2]
        name = blob.display_name or f"{time.strftime('%Y%m%d_%H%M%S')}_{index}.{kind}"
        await context.save_artifact(name, types.Part.from_bytes(data=blob.data, mime_type=blob.mime_type or ""))
        changed[index] = types.Part(text=f"Saved as artifact: {name}. ")
    if changed == parts:
        return response
    return response.model_copy(update={"content": types.Content(role=response.content and response.content.role, parts=changed)})


def _memory(ctx: InvocationContext) -> CodeExecutorContext:
    """Return what the executors of this run remember; only its first part is stored with the session, as by google-adk."""
    memory = ctx.shared.code_memory
    if CONTEXT_KEY not in memory:
        memory[CONTEXT_KEY] = independent(ctx.session.state.get(CONTEXT_KEY) or {})
    return CodeExecutorContext(memory)
