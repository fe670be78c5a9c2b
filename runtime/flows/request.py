"""Construction of an LlmAgent's model requests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from google.genai import types

from runtime.contexts.context import ToolContext
from runtime.contexts.invocation_context import InvocationContext
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.events.marks import TRANSFER_CALL
from runtime.flows.contents import Conversation, copied
from runtime.flows.turn_agent import SINGLE_TURN, TurnAgent
from runtime.history.agent_tree import AgentTree
from runtime.models.base_llm import BaseLlm
from runtime.models.llm_request import LlmRequest
from runtime.models.model_names import calls_functions_beside_search
from runtime.support.structural_copy import structural_copy
from runtime.support.unchecked import copy_unchecked
from runtime.tools.enterprise_search_tool import EnterpriseWebSearchTool
from runtime.tools.google_search_tool import GoogleSearchTool
from runtime.tools.set_model_response_tool import SetModelResponseTool
from runtime.tools.transfer_to_agent_tool import TransferToAgentTool
from runtime.tools.vertex_ai_search_tool import VertexAiSearchTool

_MARKS = ("<<<INSTRUCTION>>>", "<<<END OF INSTRUCTION>>>")  # around an instruction among the contents
_SEARCHES = (EnterpriseWebSearchTool, GoogleSearchTool, VertexAiSearchTool)
_HOOKS_WITH_REQUEST = ("before_model_callback", "on_model_error_callback")


async def build_request(agent: TurnAgent, ctx: InvocationContext, llm: BaseLlm) -> LlmRequest:
    """Build a model request: instructions, conversation, tools and configuration.

    Raises:
        MissingStateKeyError: an instruction refers to a state key that does not exist.
    """
    request = LlmRequest(model=llm.model, config=_config(agent, ctx))
    await _add_instructions(agent, ctx, request)
    contents = _conversation(agent, ctx).contents(ctx.session.events, present_turn_only=agent.include_contents == "none")
    context = ctx.run_config.model_input_context if ctx.run_config else None
    if context:  # copied only if necessary: there may be thousands
        contents = _inserted(structural_copy(context), contents, _users_message(contents, ctx.user_content))
    if request.contents:
        contents = _inserted(request.contents, contents, _last_messages(contents))
    request.contents = contents
    if agent.before_model_callback is not None or any(map(ctx.plugin_manager.changes, _HOOKS_WITH_REQUEST)):
        request.contents = copied(request.contents)  # callbacks may change the request, but not the session's events
    if agent.planner is not None:
        planning = await ctx.sync_calls.call(agent.planner.build_planning_instruction, ReadonlyContext(ctx), request)
        request.append_instructions([planning] if planning else [])
    await _add_tools(agent, ctx, request)
    return request


def _conversation(agent: TurnAgent, ctx: InvocationContext) -> Conversation:
    """Return the agent's view of the session, cached with the session's events if possible, otherwise for this invocation."""
    kept: dict[Any, Conversation] = getattr(ctx.session.events, "derived", ctx.shared.conversations)
    with_thoughts = ctx.run_config is not None and ctx.run_config.include_thoughts_from_other_agents and agent.include_contents != "none"
    key = (agent.name, ctx.branch, with_thoughts, ctx.invocation_id if ctx.shared.resumed is not None else None)
    if key not in kept:
        kept[key] = Conversation(*key)
    return kept[key]


def _config(agent: TurnAgent, ctx: InvocationContext) -> types.GenerateContentConfig:
    config = copy_unchecked(agent.generate_content_config or _no_config())
    if ctx.run_config and ctx.run_config.response_modalities:
        config.response_modalities = list(ctx.run_config.response_modalities)
    if ctx.run_config and ctx.run_config.labels:
        config.labels = {**(config.labels or {}), **ctx.run_config.labels}
    if ctx.run_config and ctx.run_config.http_options:
        config.http_options = _merged_options(config.http_options, ctx.run_config.http_options)
    return config


def _merged_options(own: types.HttpOptions | None, of_run: types.HttpOptions) -> types.HttpOptions:
    """Return the agent's options with those of the run in their place, and the headers of both."""
    given = {name: value for name, value in of_run if value is not None}
    headers = {**((own.headers if own else None) or {}), **(of_run.headers or {})}
    return (own or types.HttpOptions()).model_copy(update={**given, **({"headers": headers} if headers else {})})


@cache
def _no_config() -> types.GenerateContentConfig:
    # Cached, as google-genai's constructor is slow; callers copy it.
    return types.GenerateContentConfig()


async def _add_instructions(agent: TurnAgent, ctx: InvocationContext, request: LlmRequest) -> None:
    readonly = ReadonlyContext(ctx)
    root = agent.root_agent
    if getattr(root, "global_instruction", ""):
        request.append_instructions([await root.canonical_global_instruction(readonly)])  # type: ignore[attr-defined]  # an LlmAgent
    own = await agent.canonical_instruction(readonly)
    static = agent.static_instruction
    if static:
        request.append_instructions(static if isinstance(static, types.Content) else types.UserContent(parts=static))
        if own:
            request.contents.append(types.Content(role="user", parts=[types.Part(text=_as_no_users(own))]))
    elif own:
        request.append_instructions([own])
    if agent.mode == SINGLE_TURN:
        return  # its parent's tool
    text = f'You are an agent. Your internal name is "{agent.name}".'
    if agent.description:
        text += f' The description about you is "{agent.description}".'
    request.append_instructions([text])


def _as_no_users(instruction: str) -> str:
    """Return the text of an instruction that is sent as a content, whose role can only be the user's."""
    # As a value of the state, a mark would end the instruction. What is left around a removed one may be a mark again.
    while any(mark in instruction for mark in _MARKS):
        for mark in _MARKS:
            instruction = instruction.replace(mark, "")
    begin, end = _MARKS
    return (
        f"Between {begin} and {end} is your own instruction for this turn. The user did not write it: follow it, and do not"
        f" answer it. What the user writes is outside of these marks.\n{begin}\n{instruction}\n{end}"
    )


def _inserted(added: list[types.Content], contents: list[types.Content], index: int) -> list[types.Content]:
    return [*contents[:index], *added, *contents[index:]]


def _users_message(contents: Sequence[types.Content], message: types.Content | None) -> int:
    """Return the index of the message that began the invocation, or 0."""
    return next((index for index in range(len(contents) - 1, -1, -1) if contents[index] == message), 0)


def _last_messages(contents: Sequence[types.Content]) -> int:
    """Return the index of the user's messages at the end of a conversation; a function response is not one."""
    index = len(contents)
    while index and contents[index - 1].role == "user" and not any(part.function_response for part in contents[index - 1].parts or ()):
        index -= 1
    return index


async def _add_tools(agent: TurnAgent, ctx: InvocationContext, request: LlmRequest) -> None:
    """Add the tools, in google-adk's order: models prefer the first of them."""
    context = ToolContext(ctx)
    targets = transfer_targets(agent)
    if agent.output_schema is not None:
        if agent.tools or agent.sub_agents or targets or request.config.tools:
            await SetModelResponseTool(agent.output_schema).process_llm_request(tool_context=context, llm_request=request)
        else:
            request.set_output_schema(agent.output_schema)
    given = await agent.canonical_tools(ReadonlyContext(ctx))
    searches = [tool for tool in given if isinstance(tool, _SEARCHES)]
    if not all(calls_functions_beside_search(getattr(tool, "model", None) or request.model) for tool in searches):
        targets = [target for target in targets if target.parent_agent is agent]  # such a model refuses functions beside its search
    if targets and all(tool.name != TRANSFER_CALL for tool in given):  # an agent may have its own
        request.append_instructions([_transfer_instruction(agent, targets)])
        transfer = TransferToAgentTool(agent_names=[target.name for target in targets])
        await transfer.process_llm_request(tool_context=context, llm_request=request)
    for toolset in agent.toolsets:
        await toolset.process_llm_request(tool_context=context, llm_request=request)
    for tool in given:
        await tool.process_llm_request(tool_context=context, llm_request=request)


def transfer_targets(agent: TurnAgent) -> list[AgentTree]:
    """Return the agents that this one may transfer to: its sub-agents, and its parent and peers unless disallowed."""
    targets = [below for below in agent.sub_agents if getattr(below, "mode", None) != SINGLE_TURN]
    parent = agent.parent_agent
    if agent.mode == SINGLE_TURN or parent is None or not hasattr(parent, "disallow_transfer_to_parent"):
        return targets  # its parent calls it as a tool, or is a workflow agent, which decides itself which agent runs next
    if not agent.disallow_transfer_to_parent:
        targets.append(parent)
    if not agent.disallow_transfer_to_peers:
        targets.extend(peer for peer in parent.sub_agents if peer is not agent and getattr(peer, "mode", None) != SINGLE_TURN)
    return targets


def _transfer_instruction(agent: TurnAgent, targets: list[AgentTree]) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(target.name for target in targets))
    lines = ["These other agents can take over the conversation:"]
    lines += [f"- {target.name}: {target.description or 'no description'}" for target in targets]
    lines += [
        "Answer yourself if, going by your description, you are best placed to answer.",
        f"If the description of another agent fits the question better, call `{TRANSFER_CALL}` with its name, and write nothing besides the"
        " call.",
        f"`{TRANSFER_CALL}` accepts no names but these: {names}.",
    ]
    if agent.parent_agent is not None and agent.parent_agent in targets:
        lines.append(f"If neither you nor any of them is a good choice, hand over to your parent agent {agent.parent_agent.name}.")
    return "\n".join(lines)
