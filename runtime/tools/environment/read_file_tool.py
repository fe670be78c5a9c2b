"""The tool that reads a file's lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.environment.base_environment import BaseEnvironment
from runtime.tools.environment.environment_tool import EnvironmentTool, error

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext


class ReadFileTool(EnvironmentTool):
    """Reads a file of an environment, with line numbers."""

    def __init__(self, environment: BaseEnvironment, *, max_output_chars: int | None = None) -> None:
        description = "Read the contents of a file in the environment. Returns the file content with line numbers."
        properties = {
            "path": ("string", "Path of the file to read within the environment."),
            "start_line": ("integer", "First line to return (1-based, inclusive). Defaults to 1."),
            "end_line": ("integer", "Last line to return (1-based, inclusive). Defaults to end of file."),
        }
        super().__init__(environment, "ReadFile", description, properties, required=["path"], max_output_chars=max_output_chars)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Read it; see `BaseTool.run_async`."""
        path = args.get("path", "")
        if not path:
            return error("`path` is required.")
        for name in ("start_line", "end_line"):
            if args.get(name) is not None and type(args[name]) is not int:
                return error(f"`{name}` must be an integer if provided.")
        try:
            content = await self._environment.read_file(path)
        except FileNotFoundError:
            return error(f"File not found: {path}")
        except Exception as failure:  # an environment may be anything; the model can try something else
            return error(str(failure))
        return self._numbered(content, args.get("start_line"), args.get("end_line"))

    def _numbered(self, content: bytes, first: int | None, last: int | None) -> dict[str, Any]:
        lines = content.splitlines(keepends=True)
        total = len(lines)
        start, end = max(1, first or 1), min(total, last or total)
        if start > total:
            return error(f"`start_line` {start} exceeds file length ({total} lines).", total_lines=total)
        if start > end:
            return error(f"`start_line` ({start}) is after `end_line` ({end}).", total_lines=total)
        texts = (line.decode("utf-8", "replace") for line in lines[start - 1 : end])
        result: dict[str, Any] = {
            "status": "ok",
            "content": self._cut("".join(f"{number:6d}\t{text}" for number, text in enumerate(texts, start))),
        }
        if start > 1 or end < total:
            result["total_lines"] = total
        return result
