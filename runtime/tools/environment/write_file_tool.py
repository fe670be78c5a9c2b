"""The tool that writes a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.environment.base_environment import BaseEnvironment
from runtime.tools.environment.environment_tool import EnvironmentTool, error

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext


class WriteFileTool(EnvironmentTool):
    """Writes a file of an environment, and replaces what it contained."""

    def __init__(self, environment: BaseEnvironment) -> None:
        description = (
            "Create or overwrite a file in the environment. Use for new files or full rewrites. For small changes to existing files, "
            "prefer EditFile."
        )
        properties = {
            "path": ("string", "Path to the file within the environment."),
            "content": ("string", "The full file content to write."),
        }
        super().__init__(environment, "WriteFile", description, properties, required=["path", "content"])

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Write it; see `BaseTool.run_async`."""
        path = args.get("path", "")
        if not path:
            return error("`path` is required.")
        try:
            await self._environment.write_file(path, args.get("content", ""))
        except Exception as failure:  # an environment may be anything; the model can try something else
            return error(str(failure))
        return {"status": "ok", "message": f"Wrote {path}"}
