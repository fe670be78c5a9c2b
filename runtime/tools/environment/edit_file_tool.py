"""The tool that replaces a text in a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from runtime.environment.base_environment import BaseEnvironment
from runtime.tools.environment.environment_tool import EnvironmentTool, error

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext


class EditFileTool(EnvironmentTool):
    """Replaces a text that a file of an environment contains once. Line ends may differ."""

    def __init__(self, environment: BaseEnvironment) -> None:
        description = (
            "Replace an exact substring in an existing file with new text. The old_string must appear exactly once in the file. "
            "To create new files, use the WriteFile tool."
        )
        properties = {
            "path": ("string", "Path of the file to edit within the environment."),
            "old_string": ("string", "The exact text to find and replace. Must not be empty."),
            "new_string": ("string", "The replacement text."),
        }
        super().__init__(environment, "EditFile", description, properties, required=["path", "old_string", "new_string"])

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Replace it; see `BaseTool.run_async`."""
        path, old, new = (args.get(name, "") for name in ("path", "old_string", "new_string"))
        if not path:
            return error("`path` is required.")
        if not old:
            return error("`old_string` cannot be empty. To create a new file, use the WriteFile tool.")
        try:
            return await self._replace(path, old, new)
        except FileNotFoundError:
            return error(f"File not found: {path}")
        except Exception as failure:  # an environment may be anything; the model can try something else
            return error(str(failure))

    async def _replace(self, path: Any, old: str, new: str) -> dict[str, Any]:
        data = await self._environment.read_file(path)
        content = data.decode("utf-8", "surrogateescape")  # so that bytes that are no text stay what they are
        pattern = re.escape(old.replace("\r\n", "\n")).replace("\n", "\r?\n")
        count = len(re.findall(pattern, content))
        if count == 0:
            return error("`old_string` not found in file. Read the file first to verify contents.")
        if count > 1:
            return error(f"`old_string` appears {count} times. Provide more surrounding context to make it unique.")
        edited = re.sub(pattern, lambda _: new, content, count=1)
        written = edited.encode("utf-8", "surrogateescape")
        is_text = written.decode("utf-8", "replace") == edited
        await self._environment.write_file(path, edited if is_text else written)
        return {"status": "ok", "message": f"Edited {path}"}
