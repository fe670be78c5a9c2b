"""Skills as tools: the model finds a skill, reads its instructions and files, and runs its programs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.skills.models import Skill
from runtime.skills.prompt import DEFAULT_SKILL_SYSTEM_INSTRUCTION, format_skills_as_xml, skill_instruction
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset, ToolPredicate
from runtime.tools.function_tool import FunctionTool
from runtime.tools.skill_tools import ListSkillsTool, LoadSkillResourceTool, LoadSkillTool, RunSkillScriptTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest

__all__ = [
    "DEFAULT_SKILL_SYSTEM_INSTRUCTION",
    "ListSkillsTool",
    "LoadSkillResourceTool",
    "LoadSkillTool",
    "RunSkillScriptTool",
    "SkillDiscoveryMode",
    "SkillToolset",
]

logger = logging.getLogger(__name__)


class SkillDiscoveryMode(Enum):
    """How a model learns which skills there are."""

    LAZY = "lazy"  # it calls list_skills
    EAGER = "eager"  # the system instruction lists them


class SkillToolset(BaseToolset):
    """Offers skills to a model.

    Args:
        skills: the skills; their names differ.
        registry: only the google-adk engine asks one for skills.
        code_executor: runs programs of skills; the agent's own if None. Without either, the model cannot run them.
        environment: only the google-adk engine runs programs of skills in one.
        skills_folder: a folder in an environment.
        script_timeout: maximum duration of a shell script in seconds; a Python program's is the executor's.
        save_output_artifacts: only the google-adk engine saves files that programs of skills write.
        additional_tools: functions, tools and toolsets that a skill brings when it is loaded, if its metadata names them in
            `adk_additional_tools`.
        tool_name_prefix: see `BaseToolset`.
        tool_filter: see `BaseToolset`. Without `list_skills` the system instruction lists the skills.
        discovery_mode: how the model learns which skills there are.
        lifecycle_config: only the google-adk engine unloads skills.

    Raises:
        EngineNeededError: an argument needs the google-adk engine.
        ValueError: two skills have the same name, or an additional tool is none.
    """

    def __init__(
        self,
        skills: list[Skill] | None = None,
        *,
        registry: Any = None,
        code_executor: BaseCodeExecutor | None = None,
        environment: Any = None,
        skills_folder: Path | str | None = None,
        script_timeout: int = 300,
        save_output_artifacts: bool = False,
        additional_tools: Sequence[Callable[..., Any] | BaseTool | BaseToolset] | None = None,
        tool_name_prefix: str | None = None,
        tool_filter: ToolPredicate | list[str] | None = None,
        discovery_mode: SkillDiscoveryMode = SkillDiscoveryMode.LAZY,
        lifecycle_config: Any = None,
    ) -> None:
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        needed = {"registry": registry, "environment": environment, "skills_folder": skills_folder, "lifecycle_config": lifecycle_config}
        needed["save_output_artifacts"] = save_output_artifacts or None
        for name, value in needed.items():
            if value is not None:
                raise EngineNeededError(f"{name}= of a SkillToolset")
        self._skills: dict[str, Skill] = {}
        for skill in skills or []:
            if skill.name in self._skills:
                raise ValueError(f"There are two skills with the name {skill.name!r}.")
            self._skills[skill.name] = skill
        self.script_timeout = script_timeout
        self._code_executor = code_executor
        self._brought = [_as_tool(given) for given in additional_tools or []]
        self._is_eager = discovery_mode is SkillDiscoveryMode.EAGER
        listing: list[BaseTool] = [] if self._is_eager else [ListSkillsTool(self)]
        self._tools = [*listing, LoadSkillTool(self), LoadSkillResourceTool(self), RunSkillScriptTool(self)]

    @property
    def skills(self) -> list[Skill]:
        """The skills."""
        return list(self._skills.values())

    def skill(self, name: str) -> Skill | None:
        """Return the skill with a name."""
        return self._skills.get(name)

    def executor_for(self, context: ReadonlyContext) -> BaseCodeExecutor | None:
        """Return what runs programs of skills in an invocation."""
        executor: BaseCodeExecutor | None = self._code_executor or getattr(context._invocation_context.agent, "code_executor", None)
        return executor

    def list_active_skills(self, ctx: ReadonlyContext) -> list[str]:
        """Return the names of the skills that the running agent has loaded in this session, the first one first."""
        return list(ctx.state.get(_key(ctx)) or [])

    def activate(self, skill: Skill, context: ToolContext) -> None:
        """Record in the session that the running agent has loaded a skill."""
        active = self.list_active_skills(context)
        if skill.name not in active:
            context.state[_key(context)] = [*active, skill.name]

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the skill tools and the tools of the loaded skills; see `BaseToolset.get_tools`."""
        core = [tool for tool in self._tools if not isinstance(tool, RunSkillScriptTool) or self._runs_scripts(readonly_context)]
        tools = [*core, *(await self._tools_of_active(readonly_context) if readonly_context is not None else [])]
        return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Explain skills in the system instruction; see `BaseToolset.process_llm_request`."""
        offered = {tool.name for tool in self._tools if self._is_tool_selected(tool, tool_context)}
        instructions = [skill_instruction(self.tool_name_prefix, offered, self._runs_scripts(tool_context))]
        if self._is_eager or "list_skills" not in offered:
            instructions.append(format_skills_as_xml(self.skills))
        llm_request.append_instructions(instructions)

    def _runs_scripts(self, context: ReadonlyContext | None) -> bool:
        """Return whether the model gets the tool for programs; outside a run it does."""
        if context is None:
            return True
        return self.executor_for(context) is not None and any(skill.resources.scripts for skill in self.skills)

    async def _tools_of_active(self, context: ReadonlyContext) -> list[BaseTool]:
        """Return the tools that the loaded skills bring, in the order of loading: a changed order would cost the models' caches."""
        active = [skill for name in self.list_active_skills(context) if (skill := self.skill(name)) is not None]
        names = dict.fromkeys(name for skill in active for name in skill.frontmatter.metadata.get("adk_additional_tools", []))
        if not names:
            return []
        known: dict[str, BaseTool] = {tool.name: tool for tool in self._brought if isinstance(tool, BaseTool)}
        for toolset in (one for one in self._brought if isinstance(one, BaseToolset)):
            try:
                known |= {tool.name: tool for tool in await toolset.get_tools_with_prefix(context)}
            except Exception:
                logger.exception("The tools of %s are left out: they could not be listed.", type(toolset).__name__)
        own = {tool.name for tool in self._tools}
        for name in names:
            if name in own:
                logger.error("The tool %r of a skill is left out: a skill tool has this name.", name)
        return [known[name] for name in names if name in known and name not in own]


def _as_tool(given: Any) -> BaseTool | BaseToolset:
    if isinstance(given, (BaseTool, BaseToolset)):
        return given
    if not callable(given):
        raise ValueError(f"additional_tools of a SkillToolset are functions, tools and toolsets, not {type(given).__name__}.")
    return FunctionTool(given)


def _key(context: ReadonlyContext) -> str:
    return f"_adk_activated_skill_{context.agent_name}"
