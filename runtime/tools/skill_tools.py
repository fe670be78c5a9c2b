"""The tools with which a model reads skills and runs their programs."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from google.genai import types

from runtime.contexts.context import ToolContext
from runtime.skills.models import Skill
from runtime.skills.prompt import format_skills_as_xml
from runtime.tools.base_tool import BaseTool
from runtime.tools.skill_scripts import failure, run_command, run_script
from runtime.utils.instructions_utils import inject_session_state

if TYPE_CHECKING:
    from runtime.code_executors.base_code_executor import BaseCodeExecutor
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.environment.base_environment import BaseEnvironment
    from runtime.models.llm_request import LlmRequest
    from runtime.skills.skill_registry import SkillRegistry

_IS_BINARY = "Binary file detected. The content has been injected into the conversation history for you to analyze."


class Skills(Protocol):
    """What the tools need of their toolset."""

    script_timeout: int

    @property
    def skills(self) -> list[Skill]:
        """The skills."""
        ...

    @property
    def registry(self) -> SkillRegistry | None:
        """Where other skills are looked for."""
        ...

    @property
    def environment(self) -> BaseEnvironment | None:
        """What runs commands with the skills' files."""
        ...

    @property
    def skills_folder(self) -> Path | None:
        """The folder of the skills' files in the environment."""
        ...

    async def find(self, name: str, context: ReadonlyContext) -> Skill | None:
        """Return the skill with a name, also from the registry."""
        ...

    def list_active_skills(self, ctx: ReadonlyContext) -> list[str]:
        """Return the names of the loaded skills."""
        ...

    def unload_skill(self, ctx: ToolContext, skill_name: str) -> bool:
        """Release a skill."""
        ...

    def activate(self, skill: Skill, context: ToolContext) -> None:
        """Record in the session that the running agent has loaded a skill."""
        ...

    def executor_for(self, context: ReadonlyContext) -> BaseCodeExecutor | None:
        """Return what runs programs of skills in an invocation."""
        ...


class ListSkillsTool(BaseTool):
    """Lists the skills' names and descriptions, as XML.

    Args:
        toolset: the skills.
    """

    def __init__(self, toolset: Skills) -> None:
        super().__init__(name="list_skills", description="Lists all available skills with their names and descriptions.")
        self._toolset = toolset

    def _get_declaration(self) -> types.FunctionDeclaration:
        return _declared(self, {})

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Return the list; see `BaseTool.run_async`."""
        return format_skills_as_xml(self._toolset.skills)


class SearchSkillsTool(BaseTool):
    """Searches the toolset's registry for skills.

    Args:
        toolset: the skills.

    Raises:
        ValueError: it has no registry.
    """

    TOOL_NAME = "search_skills"

    def __init__(self, toolset: Skills) -> None:
        if toolset.registry is None:
            raise ValueError("A SearchSkillsTool needs a toolset with a registry.")
        general = "Finds further skills in the registry, by words or by a description of the task."
        super().__init__(name=self.TOOL_NAME, description=toolset.registry.search_tool_description() or general)
        self._toolset = toolset
        self._registry = toolset.registry

    def _get_declaration(self) -> types.FunctionDeclaration:
        return _declared(self, {"query": _text("What to look for: words, or a description of the task.")})

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Return the descriptions of the skills that were found, without those that the toolset has itself; see `BaseTool.run_async`."""
        if missing := _missing(args, "query"):
            return failure(missing[0], "INVALID_ARGUMENTS")
        try:
            found = await self._registry.search_skills(query=str(args["query"]))
        except Exception as error:
            return failure(f"Failed to search skills from registry: {error}", "REGISTRY_ERROR")
        own = {skill.name for skill in self._toolset.skills}
        return [one.model_dump(mode="json") for one in found if one.name not in own]


class LoadSkillTool(BaseTool):
    """Gives the model a skill's instructions, and from the next request on the skill's own tools.

    Args:
        toolset: the skills.
    """

    def __init__(self, toolset: Skills) -> None:
        super().__init__(name="load_skill", description="Loads the SKILL.md instructions for a given skill.")
        self._toolset = toolset

    def _get_declaration(self) -> types.FunctionDeclaration:
        return _declared(self, {"skill_name": _text("The name of the skill to load.")})

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Return the instructions; see `BaseTool.run_async`."""
        skill = await _skill(self._toolset, args, tool_context, "skill_name")
        if isinstance(skill, dict):
            return skill
        self._toolset.activate(skill, tool_context)
        instructions = skill.instructions
        if skill.frontmatter.metadata.get("adk_inject_state"):
            instructions = await inject_session_state(instructions, tool_context)
        # As JSON: YAML has dates, which no session can store.
        frontmatter = skill.frontmatter.model_dump(mode="json")
        return {"skill_name": skill.name, "instructions": instructions, "frontmatter": frontmatter}


class UnloadSkillTool(BaseTool):
    """Releases a loaded skill: from the next request on, the model has neither its tools nor its instructions.

    Args:
        toolset: the skills.
    """

    TOOL_NAME = "unload_skill"

    def __init__(self, toolset: Skills) -> None:
        description = "Releases a loaded skill when its task is done. Its instructions and tools are then no longer sent."
        super().__init__(name=self.TOOL_NAME, description=description)
        self._toolset = toolset

    def _get_declaration(self) -> types.FunctionDeclaration:
        return _declared(self, {"skill_name": _text("The name of the skill to unload.")})

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Release the skill, and return which ones stay; see `BaseTool.run_async`."""
        if missing := _missing(args, "skill_name"):
            return failure(missing[0], "INVALID_ARGUMENTS")
        name = str(args["skill_name"])
        if not self._toolset.unload_skill(tool_context, name):
            return failure(f"Skill '{name}' is not active.", "SKILL_NOT_ACTIVE")
        return {"skill_name": name, "unloaded": True, "active_skills": self._toolset.list_active_skills(tool_context)}


class LoadSkillResourceTool(BaseTool):
    """Gives the model one of a skill's files; of a binary file, its next request has the bytes.

    Args:
        toolset: the skills.
    """

    def __init__(self, toolset: Skills) -> None:
        description = "Loads a resource file (from references/, assets/, or scripts/) from within a skill."
        super().__init__(name="load_skill_resource", description=description)
        self._toolset = toolset

    def _get_declaration(self) -> types.FunctionDeclaration:
        path = "The relative path to the resource (e.g., 'references/my_doc.md', 'assets/template.txt', or 'scripts/setup.sh')."
        return _declared(self, {"skill_name": _text("The name of the skill."), "file_path": _text(path)})

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Return the file's text; see `BaseTool.run_async`."""
        skill, path = await _skill(self._toolset, args, tool_context, "skill_name", "file_path"), args.get("file_path")
        if isinstance(skill, dict):
            return skill
        path = str(path)
        if not path.startswith(("references/", "assets/", "scripts/")):
            return failure("Path must start with 'references/', 'assets/', or 'scripts/'.", "INVALID_RESOURCE_PATH")
        content = _resource(skill, path)
        if content is None:
            return _not_found(tool_context, "resource", path, skill)
        if isinstance(content, bytes):
            return {"skill_name": skill.name, "file_path": path, "status": _IS_BINARY}
        return {"skill_name": skill.name, "file_path": path, "content": content}

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Add the tool, and the binary files just requested; see `BaseTool.process_llm_request`."""
        await super().process_llm_request(tool_context=tool_context, llm_request=llm_request)
        last = (llm_request.contents[-1].parts if llm_request.contents else None) or []
        for response in [part.function_response for part in last if part.function_response]:
            told = response.response or {}
            if response.name != self.name or told.get("status") != _IS_BINARY:
                continue
            path = str(told.get("file_path"))
            skill = await self._toolset.find(str(told.get("skill_name")), tool_context)
            content = skill and _resource(skill, path)
            if isinstance(content, bytes):
                blob = types.Blob(data=content, mime_type=mimetypes.guess_type(path)[0] or "application/octet-stream")
                shown = [types.Part(text=f"The content of binary file '{path}' is:"), types.Part(inline_data=blob)]
                llm_request.contents.append(types.Content(role="user", parts=shown))


class RunSkillScriptTool(BaseTool):
    """Runs a command in the toolset's environment, or a Python or shell program of a skill with its code executor or the agent's.

    Args:
        toolset: the skills.
    """

    def __init__(self, toolset: Skills) -> None:
        super().__init__(name="run_skill_script", description="Executes a script from a skill's scripts/ directory.")
        self._toolset = toolset

    def _get_declaration(self) -> types.FunctionDeclaration:
        properties: dict[str, Any] = {
            "skill_name": _text("The name of the skill."),
            "file_path": _text("The relative path to the script (e.g., 'scripts/setup.py')."),
        }
        if self._toolset.environment is not None:
            return _declared(self, {**properties, "command": _text("The command line to run in the environment.")})
        properties |= {
            "args": {
                "anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "string"}}],
                "description": "Optional arguments to pass to the script as key-value pairs (long options) or as a list of strings. If"
                " specified as a list, it is treated as the complete list of arguments, and 'short_options' and 'positional_args' must"
                " not be provided.",
            },
            "short_options": {
                "type": "object",
                "description": "Optional short options (single hyphen) to pass to the script as key-value pairs. Must not be provided if"
                " 'args' is a list.",
            },
            "positional_args": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Optional positional arguments to pass to the script. Must not be provided if 'args' is a list.",
            },
        }
        return _declared(self, properties, required=["skill_name", "file_path"])

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run the program, and return its output; see `BaseTool.run_async`."""
        environment, command = self._toolset.environment, args.get("command")
        if wrong := _wrong_command(args) if environment is not None else _wrong_arguments(args):
            return failure("\n".join(wrong), "INVALID_ARGUMENTS")
        skill, path = await _skill(self._toolset, args, tool_context, "skill_name", "file_path"), str(args.get("file_path"))
        if isinstance(skill, dict):
            return skill
        if skill.resources.get_script(path.removeprefix("scripts/")) is None:
            return _not_found(tool_context, "script", path, skill)
        folder = self._toolset.skills_folder
        if environment is not None and folder is not None:
            return await run_command(environment, folder, skill, path, str(command), self._toolset.script_timeout)
        executor = self._toolset.executor_for(tool_context)
        if executor is None:
            told = "Neither Environment nor CodeExecutor is configured. An environment or code executor is required to run scripts."
            return failure(told, "NO_CODE_EXECUTOR")
        return await run_script(executor, tool_context, skill, path, _command_line(args), self._toolset.script_timeout)


def _command_line(args: dict[str, Any]) -> list[str]:
    """Return a program's arguments from those of the model's call."""
    given, line = args.get("args") or {}, []
    if isinstance(given, list):
        return [str(value) for value in given]
    for name, value in given.items():
        line += [f"--{name}", str(value)]
    for name, value in (args.get("short_options") or {}).items():
        line += [f"-{name}", str(value)]
    positional = args.get("positional_args")
    return [*line, "--", *map(str, positional)] if positional else line


def _wrong_arguments(args: dict[str, Any]) -> list[str]:
    given, short, positional = (args.get(name) for name in ("args", "short_options", "positional_args"))
    wrong = _missing(args, "skill_name", "file_path")
    if wrong:
        return wrong
    if given is not None and not isinstance(given, (dict, list)):
        wrong.append(f"'args' must be a JSON object (dict) or a list of strings, got {type(given).__name__}.")
    if short is not None and not isinstance(short, dict):
        wrong.append(f"'short_options' must be a JSON object (dict), got {type(short).__name__}.")
    if positional is not None and not isinstance(positional, list):
        wrong.append(f"'positional_args' must be a list of strings, got {type(positional).__name__}.")
    if isinstance(given, list) and (short or positional):
        wrong.append("Cannot specify 'short_options' or 'positional_args' when 'args' is a list.")
    return wrong


def _wrong_command(args: dict[str, Any]) -> list[str]:
    command = args.get("command")
    wrong = _missing(args, "skill_name", "file_path")
    if not wrong and not (command and isinstance(command, str)):
        wrong.append("Argument 'command' is missing or is no text.")
    return wrong


def _missing(args: dict[str, Any], *names: str) -> list[str]:
    return [f"Argument '{name}' is required." for name in names if not args.get(name)]


async def _skill(toolset: Skills, args: dict[str, Any], context: ToolContext, *required: str) -> Skill | dict[str, Any]:
    """Return the skill that a call names, or the error for the model if an argument is missing or there is no such skill."""
    if missing := _missing(args, *required):
        return failure("\n".join(missing), "INVALID_ARGUMENTS")
    name = str(args["skill_name"])
    try:
        return await toolset.find(name, context) or failure(f"Skill '{name}' not found.", "SKILL_NOT_FOUND")
    except Exception as error:
        return failure(f"Failed to fetch skill '{name}' from registry: {error}", "REGISTRY_ERROR")


def _resource(skill: Skill, path: str) -> str | bytes | None:
    folder, _, name = path.partition("/")
    if folder == "scripts":
        script = skill.resources.get_script(name)
        return script.src if script is not None else None
    return skill.resources.get_reference(name) if folder == "references" else skill.resources.get_asset(name)


def _not_found(context: ToolContext, kind: str, path: str, skill: Skill) -> dict[str, Any]:
    """Return the error for a file that does not exist; from the second one on it asks the model to stop guessing."""
    key = f"temp:_adk_skill_{kind}_not_found_count_{context.invocation_id}"
    count = int(context.state.get(key) or 0) + 1
    context.state[key] = count
    told, code = f"{kind.capitalize()} '{path}' not found in skill '{skill.name}'.", f"{kind.upper()}_NOT_FOUND"
    if count == 1:
        return failure(told, code)
    any_path = "any path" if kind == "resource" else "any script path"
    told += f" This is {kind} lookup failure #{count} this invocation. Do not retry {any_path} — report the error to the user and stop."
    return failure(told, f"{code}_FATAL")


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _declared(tool: BaseTool, properties: dict[str, Any], required: list[str] | None = None) -> types.FunctionDeclaration:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if properties:
        schema["required"] = required or [*properties]
    return types.FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=schema)
