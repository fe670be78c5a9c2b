"""The agent that uses a language model."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, ClassVar, Literal, TypeAlias

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, field_validator

from runtime.agents.base_agent import BaseAgent, callbacks_of
from runtime.contexts.invocation_context import InvocationContext
from runtime.contexts.readonly_context import ReadonlyContext
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.events.marks import asks_for_inner_run
from runtime.flows.llm_flow import LlmFlow
from runtime.flows.request import transfer_targets
from runtime.flows.turn_agent import SINGLE_TURN, StaticInstruction
from runtime.history.checkpoints import with_keys_as_authors
from runtime.history.turns import Turn, asks_for_toolset, closes_turn, events_of_call, read_turn, transferred_to
from runtime.models.base_llm import BaseLlm
from runtime.models.registry import LLMRegistry
from runtime.planners.base_planner import BasePlanner
from runtime.sessions.state_schema import check_write
from runtime.support.calling import Callbacks, call
from runtime.support.texts import text_of
from runtime.tools.agent_tool import AgentTool
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset
from runtime.tools.function_tool import FunctionTool
from runtime.tools.google_search_agent_tool import GoogleSearchAgentTool
from runtime.tools.google_search_tool import GoogleSearchTool, google_search
from runtime.tools.output_schema import OutputSchemaError, shaped
from runtime.tools.vertex_ai_search_tool import VertexAiSearchTool
from runtime.utils.instructions_utils import inject_session_state

InstructionProvider: TypeAlias = Callable[[ReadonlyContext], str | Awaitable[str]]
ToolUnion: TypeAlias = Callable[..., Any] | BaseTool | BaseToolset
BeforeModelCallback: TypeAlias = Callbacks
AfterModelCallback: TypeAlias = Callbacks
OnModelErrorCallback: TypeAlias = Callbacks
BeforeToolCallback: TypeAlias = Callbacks
AfterToolCallback: TypeAlias = Callbacks
OnToolErrorCallback: TypeAlias = Callbacks


logger = logging.getLogger(__name__)


class LlmAgent(BaseAgent):
    """An agent that calls a language model, runs the tools that the model calls, and repeats until it has an answer.

    Attributes:
        model: a model name, a `BaseLlm`, or "" for the nearest ancestor's model (`LlmAgent.DEFAULT_MODEL` at the root).
        instruction: the system instruction; `{key}` is replaced from state. Text returned by a function is used unchanged.
        global_instruction: precedes the instruction of every agent of the tree; only the root's is used.
        static_instruction: a text, part, file, content, or list of texts, parts and files that never changes; `instruction` then
            becomes part of the conversation, before the user's last message.
        tools: functions, tools or toolsets that the model may call.
        generate_content_config: google-genai's sampling and safety settings; not tools, instruction or schema.
        mode: `chat`, as None, or `single_turn`: the agent is a tool of its parent, which calls it with a request and continues with its
            answer. (`task`, a tool that talks to the user, needs the google-adk engine.)
        disallow_transfer_to_parent, disallow_transfer_to_peers: forbid transfers to these agents.
        include_contents: `none` sends only the current turn to the model.
        input_schema: the arguments when the agent is called as a tool.
        output_schema: the type of the answer.
        output_key: the state key that receives the answer: all text of the turn, also what the model writes beside its calls, or the
            structured answer. An answer without text leaves it as it is.
        planner: how the model plans; thoughts are kept as parts of its answers.
        code_executor: must be None: only google-adk runs the code in a model's answers.
        before_model_callback, after_model_callback, on_model_error_callback: called around each model call; a returned response
            replaces the model's.
        before_tool_callback, after_tool_callback, on_tool_error_callback: called around each tool call; a returned dict replaces the
            tool's result.
    """

    model_config = ConfigDict(defer_build=True)  # see LlmResponse

    DEFAULT_MODEL: ClassVar[str] = "gemini-3.5-flash"

    model: str | BaseLlm = ""
    instruction: str | InstructionProvider = ""
    global_instruction: str | InstructionProvider = ""
    static_instruction: StaticInstruction | None = None
    tools: list[ToolUnion] = Field(default_factory=list)
    generate_content_config: types.GenerateContentConfig | None = None
    mode: Literal["chat", "task", "single_turn"] | None = None
    disallow_transfer_to_parent: bool = False
    disallow_transfer_to_peers: bool = False
    include_contents: Literal["default", "none"] = "default"
    input_schema: type[BaseModel] | None = None
    output_schema: Any | None = None
    output_key: str | None = None
    planner: BasePlanner | None = None
    code_executor: Any | None = None
    before_model_callback: Callbacks = None
    after_model_callback: Callbacks = None
    on_model_error_callback: Callbacks = None
    before_tool_callback: Callbacks = None
    after_tool_callback: Callbacks = None
    on_tool_error_callback: Callbacks = None

    @field_validator("generate_content_config")
    @classmethod
    def _leave_to_the_agent(cls, config: types.GenerateContentConfig | None) -> types.GenerateContentConfig | None:
        for taken, instead in (("tools", "tools"), ("system_instruction", "instruction"), ("response_schema", "output_schema")):
            if config and getattr(config, taken):
                raise ValueError(f"Set {instead} of the LlmAgent, not {taken} of its generate_content_config.")
        return config

    @field_validator("mode")
    @classmethod
    def _begin_no_task(cls, mode: str | None) -> str | None:
        if mode == "task":
            raise EngineNeededError("An LlmAgent with mode='task'")
        return mode

    @field_validator("code_executor", mode="before")
    @classmethod
    def _run_no_code_here(cls, executor: Any) -> Any:
        if executor is not None:
            raise EngineNeededError("An LlmAgent with a code_executor")
        return executor

    canonical_before_model_callbacks: ClassVar[Any] = callbacks_of("before_model_callback")
    canonical_after_model_callbacks: ClassVar[Any] = callbacks_of("after_model_callback")
    canonical_on_model_error_callbacks: ClassVar[Any] = callbacks_of("on_model_error_callback")
    canonical_before_tool_callbacks: ClassVar[Any] = callbacks_of("before_tool_callback")
    canonical_after_tool_callbacks: ClassVar[Any] = callbacks_of("after_tool_callback")
    canonical_on_tool_error_callbacks: ClassVar[Any] = callbacks_of("on_tool_error_callback")

    @property
    def canonical_model(self) -> BaseLlm:
        """The language model as an object, inherited from the nearest ancestor that has one.

        Raises:
            KnownError: no registered class supports the model's name.
        """
        for agent in (self, *self.ancestors()):
            if isinstance(agent, LlmAgent) and agent.model:
                return agent.model if isinstance(agent.model, BaseLlm) else LLMRegistry.new_llm(agent.model)
        return LLMRegistry.new_llm(self.DEFAULT_MODEL)

    @property
    def canonical_live_model(self) -> BaseLlm:
        """The language model to which google-adk connects a live conversation; see `canonical_model`."""
        return self.canonical_model

    async def canonical_model_async(self, ctx: ReadonlyContext) -> BaseLlm:
        """Return the language model of a turn. A subclass can choose it by the invocation; see `canonical_model`."""
        return self.canonical_model

    async def canonical_instruction(self, ctx: ReadonlyContext) -> str:
        """Return the instruction, with placeholders replaced unless it comes from a function."""
        return await _instruction_text(self.instruction, ctx)

    async def canonical_global_instruction(self, ctx: ReadonlyContext) -> str:
        """Return the global instruction, with placeholders replaced unless it comes from a function."""
        return await _instruction_text(self.global_instruction, ctx)

    async def canonical_tools(self, ctx: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools as objects, including those of toolsets; functions become `FunctionTool`s.

        A toolset that cannot list its tools is logged as an error and left out, as in google-adk 2.
        """
        tools: list[BaseTool] = [AgentTool(agent) for agent in self.sub_agents if getattr(agent, "mode", None) == SINGLE_TURN]
        for given in self.tools:
            if isinstance(given, BaseToolset):
                tools += await self._tools_of(given, ctx)
            elif isinstance(given, GoogleSearchTool) and given.bypass_multi_tools_limit and (len(self.tools) > 1 or transfer_targets(self)):
                tools.append(GoogleSearchAgentTool(create_google_search_agent(given.model or self.canonical_model)))
            elif isinstance(given, VertexAiSearchTool) and given.bypass_multi_tools_limit and len(self.tools) > 1:
                raise EngineNeededError("VertexAiSearchTool(bypass_multi_tools_limit=True) beside other tools")
            else:
                tools.append(given if isinstance(given, BaseTool) else FunctionTool(given))
        return tools

    async def _tools_of(self, toolset: BaseToolset, ctx: ReadonlyContext | None) -> list[BaseTool]:
        try:
            return await toolset.get_tools_with_prefix(ctx)
        except EngineNeededError:
            raise  # no request can be right without the engine
        except Exception as error:
            kind = type(toolset).__name__
            logger.error(
                "Agent %s runs without the tools of its %s, which cannot be listed: %s",
                self.name,
                f"{kind} ({toolset.tool_name_prefix}_)" if toolset.tool_name_prefix else kind,
                text_of(error) or type(error).__name__,
                exc_info=None if isinstance(error, KnownError) else error,
            )
            return []

    def _complete_answer(self, event: Event) -> None:
        self._save_output(event)

    @property
    def toolsets(self) -> list[BaseToolset]:
        """The toolsets among `tools`."""
        return [given for given in self.tools if isinstance(given, BaseToolset)]

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        turn = self._turn_so_far(ctx)
        said = self._said_so_far(ctx)
        target = transferred_to(ctx.places.key(self), self._own_events(ctx)) if ctx.resumed_checkpoints() is not None else None
        handed_over_to = self.root_agent.find_agent(target) if target is not None else None
        if handed_over_to is not None:
            async with aclosing(handed_over_to.run_async(ctx)) as events:
                async for event in events:
                    said = self._save_output(event, said)
                    yield event
        elif not (turn and turn.answered) or ctx.shared.is_prepared:
            async with aclosing(LlmFlow(self).run(ctx, turn)) as events:
                async for event in events:
                    said = self._save_output(event, said)
                    yield event
        if ctx.is_resumable:
            yield self._create_agent_state_event(ctx, end_of_agent=True)

    def _turn_so_far(self, ctx: InvocationContext) -> Turn | None:
        """Return the progress of this agent's turn if it began before this run; None for a new turn."""
        if ctx.resumed_checkpoints() is not None:
            return read_turn(self._own_events(ctx), ctx.places.key(self))
        if ctx.depth == 1 and _holds_function_response(ctx.user_content):
            # In apps that are not resumable, the answer to a long-running call begins a new invocation; the call is in an older one.
            if _answers_for_toolsets(ctx):
                return None  # no call of the model waits for it
            events = with_keys_as_authors(ctx.session.events, ctx.places)
            return read_turn([event for event in events if event.branch == ctx.branch or event.author == "user"], ctx.places.key(self))
        return None

    def _own_events(self, ctx: InvocationContext) -> list[Event]:
        return events_of_call(self, ctx.invocation_events(), ctx.branch)

    def _said_so_far(self, ctx: InvocationContext) -> str:
        """Return what the agent said in a turn that is resumed, since the last message or answer of the user."""
        said = ""
        if self.output_key and ctx.resumed_checkpoints() is not None:
            key = ctx.places.key(self)
            for event in self._own_events(ctx):
                said = "" if event.author == "user" else said + _visible_text(event) if event.author == key else said
        return said

    def _save_output(self, event: Event, said: str = "") -> str:
        """Write the answer to `output_key` in the event's delta: all visible text of the turn, or the structured answer.

        Args:
            event: an event of the turn.
            said: the text before it.

        Returns:
            The text of the turn with the event.
        """
        text = _visible_text(event) if self.output_key and event.author == self.name and not event.partial else ""
        value: Any = said + text
        if not text or self.output_key is None:
            return said
        if self.output_schema is not None:
            if not text.strip() or not closes_turn(event) or event.get_function_calls() or event.get_function_responses():
                return said
            value = self._validated(text)
        if self.state_schema is not None:
            check_write(self.state_schema, self.output_key, value)
        event.actions.state_delta[self.output_key] = value
        return said + text

    def _validated(self, text: str) -> Any:
        try:
            return shaped(self.output_schema, text)
        except OutputSchemaError as error:
            raise OutputSchemaError(f"The answer of {self.name!r} does not match its output_schema: {text_of(error)}") from error


def _visible_text(event: Event) -> str:
    parts = (event.content.parts if event.content else None) or ()
    return "".join(part.text for part in parts if part.text and not part.thought)


async def _instruction_text(instruction: str | InstructionProvider, ctx: ReadonlyContext) -> str:
    if isinstance(instruction, str):
        return await inject_session_state(instruction, ctx)
    return str(await call(ctx._invocation_context.sync_calls, instruction, context=ctx))


def create_google_search_agent(model: str | BaseLlm) -> LlmAgent:
    """Return an agent that only searches the web, for an agent whose model cannot search and call functions in one request."""
    return LlmAgent(
        name="google_search_agent",
        model=model,
        description="Searches the web with Google and answers from the results.",
        instruction="Search the web with the `google_search` tool for what you are asked, and answer from the results.",
        tools=[google_search],
    )


def _answers_for_toolsets(ctx: InvocationContext) -> bool:
    """Return whether the user's message gives credentials to toolsets and nothing else."""
    responses = [part.function_response for part in (ctx.user_content and ctx.user_content.parts) or () if part.function_response]
    answered = {response.id for response in responses}
    asking = [event for event in ctx.session.events if not asks_for_inner_run(event)]
    calls = [call for event in asking for call in event.get_function_calls() if call.id in answered]
    return bool(calls) and all(map(asks_for_toolset, calls))


def _holds_function_response(content: types.Content | None) -> bool:
    return bool(content and any(part.function_response for part in content.parts or ()))


Agent: TypeAlias = LlmAgent
