"""The tools of an environment, and the instruction for models."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from runtime.environment.base_environment import BaseEnvironment
from runtime.tools.base_tool import BaseTool
from runtime.tools.base_toolset import BaseToolset
from runtime.tools.environment.edit_file_tool import EditFileTool
from runtime.tools.environment.execute_tool import ExecuteTool
from runtime.tools.environment.read_file_tool import ReadFileTool
from runtime.tools.environment.write_file_tool import WriteFileTool

if TYPE_CHECKING:
    from runtime.contexts.context import ToolContext
    from runtime.contexts.readonly_context import ReadonlyContext
    from runtime.models.llm_request import LlmRequest

# google-adk's words, on which the model's answer depends.
_INSTRUCTION = """\
Your environment is at {working_dir}/

# Environment Rules

DO:
- Chain sequential, dependent commands with `&&` in a single `Execute` call
- To read existing files, always use the `ReadFile` tool. Use `EditFile` to modify existing files.

DON'T:
- Use `Execute` to run cat, head, or tail when `ReadFile` tools can do the job
- Combine `EditFile` or `ReadFile` with `Execute` in the same response (Instead, call the file tool first, then `Execute` in the next turn)
- Use multiple `Execute` calls for dependent commands (they run in parallel)
"""


class EnvironmentToolset(BaseToolset):
    """Offers the tools `Execute`, `ReadFile`, `EditFile` and `WriteFile` of an environment, and tells the model how to use them.

    The environment is initialized before the first model call and closed with the Runner.
    """

    def __init__(self, *, environment: BaseEnvironment, max_output_chars: int | None = None, **kwargs: Any) -> None:
        """Describe the toolset.

        Args:
            environment: where the tools work.
            max_output_chars: the length after which a text for the model is cut off; 30,000 if None.
            kwargs: the arguments of `BaseToolset`.
        """
        super().__init__(**kwargs)
        self._environment = environment
        self._max_output_chars = max_output_chars
        self._is_ready = False
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy shares: a lock belongs to one object."""
        return {**self.__dict__, "_locks": WeakKeyDictionary(), "_is_ready": False}

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """Return the tools; see `BaseToolset.get_tools`."""
        await self._make_ready()
        tools: list[BaseTool] = [
            ExecuteTool(self._environment, max_output_chars=self._max_output_chars),
            ReadFileTool(self._environment, max_output_chars=self._max_output_chars),
            EditFileTool(self._environment),
            WriteFileTool(self._environment),
        ]
        return [tool for tool in tools if self._is_tool_selected(tool, readonly_context)]

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Tell the model about the environment; see `BaseToolset.process_llm_request`."""
        await self._make_ready()
        llm_request.append_instructions([_INSTRUCTION.format(working_dir=self._environment.working_dir)])

    async def close(self) -> None:
        """Close the environment; it is initialized again when it is next used."""
        async with self._lock():
            if self._is_ready:
                self._is_ready = False
                await self._environment.close()

    async def _make_ready(self) -> None:
        async with self._lock():
            if not self._is_ready:
                await self._environment.initialize()
                self._is_ready = True

    def _lock(self) -> asyncio.Lock:
        """Return the running loop's lock: a toolset may be used on several loops."""
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
