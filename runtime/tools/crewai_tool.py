"""Tools of CrewAI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from google.genai import types

from runtime.configs.agent_builder import resolve_fully_qualified_name
from runtime.configs.agent_config import BaseToolConfig, ToolArgsConfig
from runtime.errors.missing_package_error import MissingPackageError, is_installed
from runtime.support.calling import call_bound
from runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext

if not is_installed("crewai"):
    raise MissingPackageError("CrewaiTool needs the package crewai: pip install crewai.", name="crewai")


class CrewaiToolConfig(BaseToolConfig):
    """The arguments of a `CrewaiTool` in a YAML file.

    Attributes:
        tool: module and name of the tool.
        name, description: in place of the tool's own.
    """

    tool: str
    name: str = ""
    description: str = ""


class CrewaiTool(FunctionTool):
    """Lets a model call a tool of CrewAI.

    Attributes:
        tool: the tool.

    Args:
        tool: see above.
        name: the name that the model uses; the tool's own, without blanks, if empty.
        description: the tool's purpose, for the model; the tool's own if empty.
    """

    def __init__(self, tool: Any, *, name: str, description: str) -> None:
        super().__init__(tool.run)
        self.tool = tool
        self.name = name or tool.name.replace(" ", "_").lower()
        self.description = description or tool.description

    @classmethod
    def from_config(cls, config: ToolArgsConfig, config_abs_path: str) -> Self:
        """See `BaseTool.from_config`."""
        given = CrewaiToolConfig.model_validate(config.model_dump())
        return cls(resolve_fully_qualified_name(given.tool), name=given.name, description=given.description)

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        schema = self.tool.args_schema.model_json_schema()
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=schema)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Call the tool; see `BaseTool.run_async`."""
        schema = self.tool.args_schema.model_json_schema()
        if missing := [name for name in schema.get("required", ()) if name not in args]:
            return {"error": f"{self.name}() was not called: these mandatory arguments are missing: {', '.join(missing)}."}
        given = {name: value for name, value in args.items() if name not in ("self", "tool_context")}
        return await call_bound(tool_context._invocation_context.sync_calls, self.func, [], given)
