"""The tool that runs a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.environment.base_environment import BaseEnvironment
from runtime.tools.environment.environment_tool import EnvironmentTool, error

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext

DEFAULT_TIMEOUT = 30  # seconds of a command
# google-adk's words, on which the model's answer depends.
_DESCRIPTION = """
Run a shell command in the environment. For running programs, tests, and build
commands ONLY. WARNING: Do NOT use for file reading -- use the ReadFile tool
instead. Shell commands like 'cat, head, tail will produce inferior results.
Good: Execute("python3 script.py"), Execute("pytest"), Execute("find ...").
Bad: Execute("head ..."), Execute("cat ...").
"""


class ExecuteTool(EnvironmentTool):
    """Runs a command in an environment, for at most 30 seconds."""

    def __init__(self, environment: BaseEnvironment, *, max_output_chars: int | None = None) -> None:
        properties = {"command": ("string", "The shell command to execute. Chain dependent commands with &&.")}
        super().__init__(environment, "Execute", _DESCRIPTION, properties, required=["command"], max_output_chars=max_output_chars)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Run it; see `BaseTool.run_async`."""
        command = args.get("command", "")
        if not command:
            return error("`command` is required.")
        try:
            done = await self._environment.execute(command, timeout=DEFAULT_TIMEOUT)
        except Exception as failure:  # an environment may be anything; the model can try something else
            return error(str(failure))
        result: dict[str, Any] = {"status": "ok"}
        if done.stdout:
            result["stdout"] = self._cut(done.stdout)
        if done.stderr:
            result["stderr"] = self._cut(done.stderr)
        if done.exit_code != 0:
            result |= {"status": "error", "exit_code": done.exit_code}
        if done.timed_out:
            result |= error(f"Command timed out after {DEFAULT_TIMEOUT}s.")
        return result
