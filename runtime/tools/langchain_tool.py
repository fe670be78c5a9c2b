"""Tools of LangChain."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any, Self

from google.genai import types
from pydantic import BaseModel, ValidationError

from runtime.configs.agent_builder import resolve_fully_qualified_name
from runtime.configs.agent_config import BaseToolConfig, ToolArgsConfig
from runtime.errors.missing_package_error import MissingPackageError
from runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext

try:
    LangchainBaseTool: Any = importlib.import_module("langchain_core.tools").BaseTool
except ImportError as error:
    text = "LangchainTool needs the package langchain-core: pip install langchain-core."
    raise MissingPackageError(text, name="langchain_core") from error


class LangchainToolConfig(BaseToolConfig):
    """The arguments of a `LangchainTool` in a YAML file.

    Attributes:
        tool: module and name of the tool.
        name, description: in place of the tool's own.
    """

    tool: str
    name: str = ""
    description: str = ""


class LangchainTool(FunctionTool):
    """Lets a model call a tool of LangChain, or another object with `run` or `_run`.

    Args:
        tool: the tool.
        name: the name that the model uses; the tool's own if None.
        description: the tool's purpose, for the model; the tool's own if None.

    Raises:
        ValueError: the object has neither `run` nor `_run`.
    """

    def __init__(self, tool: Any, name: str | None = None, description: str | None = None) -> None:
        if not hasattr(tool, "run") and not hasattr(tool, "_run"):
            raise ValueError(f"A {type(tool).__name__} is no tool of LangChain: it has neither `run` nor `_run`.")
        super().__init__(getattr(tool, "_run", None) or tool.run)
        self._langchain_tool = tool
        self.name = name if name is not None else getattr(tool, "name", None) or self.name
        self.description = description if description is not None else getattr(tool, "description", None) or self.description

    @classmethod
    def from_config(cls, config: ToolArgsConfig, config_abs_path: str) -> Self:
        """See `BaseTool.from_config`."""
        given = LangchainToolConfig.model_validate(config.model_dump())
        return cls(resolve_fully_qualified_name(given.tool), given.name or None, given.description or None)

    def _get_declaration(self) -> types.FunctionDeclaration | None:
        tool = self._langchain_tool
        if not isinstance(tool, LangchainBaseTool):
            return super()._get_declaration()
        schema = tool.tool_call_schema
        if tool.args_schema is None:  # the signature of its `_run` says nothing
            schema = {"type": "object", "properties": tool.args, "required": sorted(tool.args)}
        given = schema.model_json_schema() if inspect.isclass(schema) and issubclass(schema, BaseModel) else schema
        return types.FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=given)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Call the tool; see `BaseTool.run_async`. Arguments that do not fit are reported to the model.

        The answer of a tool with `return_direct` is the agent's; the model does not see it.
        """
        tool = self._langchain_tool
        if not isinstance(tool, LangchainBaseTool):
            return await super().run_async(args=args, tool_context=tool_context)
        try:
            if getattr(tool, "coroutine", None) is not None:
                result = await tool.arun(args)
            else:
                result = await tool_context._invocation_context.sync_calls.call(tool.run, args)
                if inspect.isawaitable(result):  # of an async function that was given as `func`
                    result = await result
        except ValidationError as error:
            return {"error": f"{self.name}() was not called: an argument does not fit: {error}. Try again."}
        if tool.return_direct:
            tool_context.actions.skip_summarization = True
        return result
