"""Skills as tools: the model finds a skill, reads its instructions and files, and runs its programs."""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.skills.models import Skill
from runtime.skills.prompt import DEFAULT_SKILL_SYSTEM_INSTRUCTION, format_skills_as_xml, skill_instruction
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset, ToolPredicate
from runtime.tools.function_tool import FunctionTool
from runtime.tools.skill_tools import (
    ListSkillsTool,
    LoadSkillResourceTool,
    LoadSkillTool,
    RunSkillScriptTool,
    SearchSkillsTool,
    UnloadSkillTool,
)

if TYPE_CHECKING:
    from google.genai import types

    from runtime.contexts.context import ToolContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.environment.base_environment import BaseEnvironment
    from runtime.models.llm_request import LlmRequest
    from runtime.skills.skill_registry import SkillRegistry

__all__ = [
    "DEFAULT_SKILL_SYSTEM_INSTRUCTION",
    "ListSkillsTool",
    "LoadSkillResourceTool",
    "LoadSkillTool",
    "RunSkillScriptTool",
    "SearchSkillsTool",
    "SkillDiscoveryMode",
    "SkillToolset",
    "UnloadSkillTool",
]

logger = logging.getLogger(__name__)

_UNLOADING = "ADK_ENABLE_SKILL_LIFECYCLE"  # google-adk's switch: a model can release skills
_MAX_INVOCATIONS = 16  # whose skills from a registry are remembered
_UNLOADED = {
    "status": "unloaded",
    "detail": "The skill was released: its instructions no longer apply, and its tools are no longer available. Load it again if needed.",
}


class SkillDiscoveryMode(Enum):
    """How a model learns which skills there are."""

    LAZY = "lazy"  # it calls list_skills
    EAGER = "eager"  # the system instruction lists them


class SkillToolset(BaseToolset):
    """Offers skills to a model.

    Args:
        skills: the skills; their names differ.
        registry: where a model can search for further skills.
        code_executor: runs programs of skills; the agent's own if None. Without either, the model cannot run them.
        environment: where a model runs commands with the skills' files, in place of a code executor.
        skills_folder: an absolute path in the environment; `skills` in its folder if None.
        script_timeout: maximum duration of a shell script or command in seconds; a Python program's is the executor's.
        save_output_artifacts: only the google-adk engine saves files that programs of skills write.
        additional_tools: functions, tools and toolsets that a skill brings when it is loaded, if its metadata names them in
            `adk_additional_tools`.
        tool_name_prefix: see `BaseToolset`.
        tool_filter: see `BaseToolset`. Without `list_skills` the system instruction lists the skills.
        discovery_mode: how the model learns which skills there are.
        lifecycle_config: only the google-adk engine unloads skills by itself.

    Raises:
        EngineNeededError: an argument needs the google-adk engine.
        ValueError: two skills have the same name, an additional tool is none, or arguments exclude each other.
    """

    def __init__(
        self,
        skills: list[Skill] | None = None,
        *,
        registry: SkillRegistry | None = None,
        code_executor: BaseCodeExecutor | None = None,
        environment: BaseEnvironment | None = None,
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
        if environment is not None and (code_executor is not None or save_output_artifacts):
            raise ValueError("A SkillToolset with an environment has no code_executor and no save_output_artifacts.")
        for name, value in {"lifecycle_config": lifecycle_config, "save_output_artifacts": save_output_artifacts or None}.items():
            if value is not None:
                raise EngineNeededError(f"{name}= of a SkillToolset")
        if skills_folder is not None:
            if environment is None:
                raise ValueError("skills_folder is a folder in an environment, and there is none.")
            if not (PurePosixPath(skills_folder).is_absolute() or PureWindowsPath(skills_folder).is_absolute()):
                raise ValueError(f"`skills_folder` is no absolute path: '{skills_folder}'")
        self._skills: dict[str, Skill] = {}
        for skill in skills or []:
            if skill.name in self._skills:
                raise ValueError(f"There are two skills with the name {skill.name!r}.")
            self._skills[skill.name] = skill
        self.script_timeout = script_timeout
        self.registry = registry
        self.environment = environment
        self._skills_folder = None if skills_folder is None else Path(skills_folder)
        self._fetched: OrderedDict[str, dict[str, Skill | None]] = OrderedDict()  # by invocation
        self._code_executor = code_executor
        self._brought = [_as_tool(given) for given in additional_tools or []]
        self._is_eager = discovery_mode is SkillDiscoveryMode.EAGER
        listing: list[BaseTool] = [] if self._is_eager else [ListSkillsTool(self)]
        self._tools = [*listing, LoadSkillTool(self), LoadSkillResourceTool(self), RunSkillScriptTool(self)]
        if registry is not None:
            self._tools.append(SearchSkillsTool(self))
        self._unloads = os.environ.get(_UNLOADING, "").lower() in ("1", "true")
        if self._unloads:
            self._tools.append(UnloadSkillTool(self))

    @property
    def skills(self) -> list[Skill]:
        """The skills."""
        return list(self._skills.values())

    @property
    def skills_folder(self) -> Path | None:
        """The folder of the skills' files in the environment; None without one."""
        if self._skills_folder is not None or self.environment is None:
            return self._skills_folder
        return self.environment.working_dir / "skills"

    async def find(self, name: str, context: ReadonlyContext) -> Skill | None:
        """Return the skill with a name. The registry is asked once in an invocation for one that the toolset does not have.

        Raises:
            Exception: the registry's error.
        """
        if name in self._skills or self.registry is None:
            return self._skills.get(name)
        known = self._fetched.setdefault(context.invocation_id, {})
        if len(self._fetched) > _MAX_INVOCATIONS:
            self._fetched.popitem(last=False)
        if name not in known:
            known[name] = await self.registry.get_skill(name=name)
        return known[name]

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

    async def load_skill(self, ctx: ToolContext, skill_name: str) -> bool:
        """Load a skill without the model, which gets its tools but not its instructions.

        Args:
            ctx: a context of the running agent.
            skill_name: the skill.

        Returns:
            Whether it was not loaded before.

        Raises:
            ValueError: there is no such skill.
            Exception: the registry's error.
        """
        if skill_name in self.list_active_skills(ctx):
            return False
        skill = await self.find(skill_name, ctx)
        if skill is None:
            raise ValueError(f"Skill '{skill_name}' not found.")
        self.activate(skill, ctx)
        return True

    def unload_skill(self, ctx: ToolContext, skill_name: str) -> bool:
        """Release a skill and the tools that it brings.

        Args:
            ctx: a context of the running agent.
            skill_name: the skill.

        Returns:
            Whether it was loaded.
        """
        active = self.list_active_skills(ctx)
        if skill_name not in active:
            return False
        ctx.state[_key(ctx)] = [name for name in active if name != skill_name]
        return True

    def clone_with_updated_skills(self, skills: list[Skill]) -> SkillToolset:
        """Return a toolset with other skills and everything else of this one."""
        return SkillToolset(
            skills,
            registry=self.registry,
            code_executor=self._code_executor,
            environment=self.environment,
            skills_folder=self._skills_folder,
            script_timeout=self.script_timeout,
            additional_tools=self._brought,
            tool_name_prefix=self.tool_name_prefix,
            tool_filter=self.tool_filter,
            discovery_mode=SkillDiscoveryMode.EAGER if self._is_eager else SkillDiscoveryMode.LAZY,
        )

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the skill tools and the tools of the loaded skills; see `BaseToolset.get_tools`."""
        core = [tool for tool in self._tools if not isinstance(tool, RunSkillScriptTool) or self._runs_scripts(readonly_context)]
        tools = [*core, *(await self._tools_of_active(readonly_context) if readonly_context is not None else [])]
        return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Explain skills in the system instruction; see `BaseToolset.process_llm_request`."""
        if self.environment is not None and not self.environment.is_initialized:
            await self.environment.initialize()
        offered = {tool.name for tool in self._tools if self._is_tool_selected(tool, tool_context)}
        instructions = [skill_instruction(self.tool_name_prefix, offered, self._runs_scripts(tool_context), self._folder_shown())]
        if self._is_eager or "list_skills" not in offered:
            instructions.append(format_skills_as_xml(self.skills))
        before = f"{self.tool_name_prefix}_" if self.tool_name_prefix else ""
        if SearchSkillsTool.TOOL_NAME in offered:
            instructions.append(f"\nIf these skills do not suffice, `{before}{SearchSkillsTool.TOOL_NAME}` finds further ones.")
        llm_request.append_instructions(instructions)
        if self._unloads:
            _leave_out_unloaded(llm_request, f"{before}load_skill", self.list_active_skills(tool_context))

    async def close(self) -> None:
        """Close the environment; see `BaseToolset.close`."""
        if self.environment is not None and self.environment.is_initialized:
            await self.environment.close()
        await super().close()

    def _folder_shown(self) -> str | None:
        return self.skills_folder.as_posix() if self.skills_folder is not None else None

    def _runs_scripts(self, context: ReadonlyContext | None) -> bool:
        """Return whether the model gets the tool for programs; outside a run it does."""
        if context is None:
            return True
        can_run = self.environment is not None or self.executor_for(context) is not None
        return can_run and (self.registry is not None or any(skill.resources.scripts for skill in self.skills))

    async def _tools_of_active(self, context: ReadonlyContext) -> list[BaseTool]:
        """Return the tools that the loaded skills bring, in the order of loading: a changed order would cost the models' caches."""
        found = [await self.find(name, context) for name in self.list_active_skills(context)]
        active = [skill for skill in found if skill is not None]
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


def _leave_out_unloaded(request: LlmRequest, tool_name: str, active: Sequence[str]) -> None:
    """Replace the instructions of released skills in a request's conversation; the session's events keep them."""
    for index, content in enumerate(request.contents):
        parts = [_without_instructions(part, tool_name, active) for part in content.parts or []]
        if any(part is not before for part, before in zip(parts, content.parts or [], strict=True)):
            request.contents[index] = content.model_copy(update={"parts": parts})


def _without_instructions(part: types.Part, tool_name: str, active: Sequence[str]) -> types.Part:
    answer = part.function_response
    told = (answer.response or {}) if answer is not None and answer.name == tool_name else {}
    name = told.get("skill_name")
    if answer is None or "instructions" not in told or not isinstance(name, str) or name in active:
        return part
    released = answer.model_copy(update={"response": {"skill_name": name, **_UNLOADED}})
    return part.model_copy(update={"function_response": released})


def _as_tool(given: Any) -> BaseTool | BaseToolset:
    if isinstance(given, (BaseTool, BaseToolset)):
        return given
    if not callable(given):
        raise ValueError(f"additional_tools of a SkillToolset are functions, tools and toolsets, not {type(given).__name__}.")
    return FunctionTool(given)


def _key(context: ReadonlyContext) -> str:
    return f"_adk_activated_skill_{context.agent_name}"
