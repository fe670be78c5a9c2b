# ruff: noqa: E501 - google-adk's own texts
"""The tools of an environment: what a model sees, and what it is answered. The expected values are google-adk 2.13's."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.environment import BaseEnvironment, ExecutionResult, LocalEnvironment
from runtime.models import LlmRequest
from runtime.runners import InMemoryRunner
from runtime.tools.environment import EnvironmentToolset
from tests.unit.tools.tool_contexts import tool_context

pytestmark = pytest.mark.rule("R11")

NAMES = ["Execute", "ReadFile", "EditFile", "WriteFile"]
DECLARATIONS = {
    "Execute": {
        "description": '\nRun a shell command in the environment. For running programs, tests, and build\ncommands ONLY. WARNING: Do NOT use for file reading -- use the ReadFile tool\ninstead. Shell commands like \'cat, head, tail will produce inferior results.\nGood: Execute("python3 script.py"), Execute("pytest"), Execute("find ...").\nBad: Execute("head ..."), Execute("cat ...").\n',
        "name": "Execute",
        "parameters_json_schema": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The shell command to execute. Chain dependent commands with &&."}},
            "required": ["command"],
        },
    },
    "ReadFile": {
        "description": "Read the contents of a file in the environment. Returns the file content with line numbers.",
        "name": "ReadFile",
        "parameters_json_schema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Path of the file to read within the environment."},
                "start_line": {"type": "integer", "description": "First line to return (1-based, inclusive). Defaults to 1."},
                "end_line": {"type": "integer", "description": "Last line to return (1-based, inclusive). Defaults to end of file."},
            },
            "required": ["path"],
        },
    },
    "EditFile": {
        "description": "Replace an exact substring in an existing file with new text. The old_string must appear exactly once in the file. To create new files, use the WriteFile tool.",
        "name": "EditFile",
        "parameters_json_schema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Path of the file to edit within the environment."},
                "old_string": {"type": "string", "description": "The exact text to find and replace. Must not be empty."},
                "new_string": {"type": "string", "description": "The replacement text."},
            },
            "required": ["path", "old_string", "new_string"],
        },
    },
    "WriteFile": {
        "description": "Create or overwrite a file in the environment. Use for new files or full rewrites. For small changes to existing files, prefer EditFile.",
        "name": "WriteFile",
        "parameters_json_schema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Path to the file within the environment."},
                "content": {"type": "string", "description": "The full file content to write."},
            },
            "required": ["path", "content"],
        },
    },
}
INSTRUCTION = "Your environment is at /w/\n\n# Environment Rules\n\nDO:\n- Chain sequential, dependent commands with `&&` in a single `Execute` call\n- To read existing files, always use the `ReadFile` tool. Use `EditFile` to modify existing files.\n\nDON'T:\n- Use `Execute` to run cat, head, or tail when `ReadFile` tools can do the job\n- Combine `EditFile` or `ReadFile` with `Execute` in the same response (Instead, call the file tool first, then `Execute` in the next turn)\n- Use multiple `Execute` calls for dependent commands (they run in parallel)\n"


class Remembering(BaseEnvironment):
    """Counts how often it is opened and closed, and lets others run meanwhile."""

    working_dir = Path("/w")

    def __init__(self, result: ExecutionResult | Exception | None = None) -> None:
        self.calls: list[Any] = []
        self.result = result

    async def initialize(self) -> None:
        await asyncio.sleep(0)
        self.calls.append("initialize")

    async def close(self) -> None:
        self.calls.append("close")

    async def execute(self, command: str, *, timeout: float | None = None) -> ExecutionResult:  # noqa: ASYNC109
        self.calls.append((command, timeout))
        if isinstance(self.result, ExecutionResult):
            return self.result
        raise self.result or NotImplementedError

    async def read_file(self, path: Path) -> bytes:
        raise NotImplementedError

    async def write_file(self, path: Path, content: str | bytes) -> None:
        raise NotImplementedError


@pytest.fixture
async def toolset(tmp_path: Path) -> AsyncIterator[EnvironmentToolset]:
    made = EnvironmentToolset(environment=LocalEnvironment(working_dir=tmp_path), max_output_chars=100)
    yield made
    await made.close()


async def called(toolset: EnvironmentToolset, name: str, **args: Any) -> Any:
    (tool,) = [tool for tool in await toolset.get_tools() if tool.name == name]
    return await tool.run_async(args=args, tool_context=tool_context())


async def test_the_declarations_are_google_adks(toolset: EnvironmentToolset) -> None:
    tools = await toolset.get_tools()
    assert [tool.name for tool in tools] == NAMES
    found = {tool.name: declared.model_dump(exclude_none=True) for tool in tools if (declared := tool._get_declaration())}
    assert found == DECLARATIONS


async def test_the_model_sees_where_it_is() -> None:
    request = LlmRequest()
    await EnvironmentToolset(environment=Remembering()).process_llm_request(tool_context=tool_context(), llm_request=request)
    assert request.config.system_instruction == INSTRUCTION


async def test_a_filter_and_a_prefix_are_applied() -> None:
    toolset = EnvironmentToolset(environment=Remembering(), tool_filter=["ReadFile"], tool_name_prefix="local")
    assert [tool.name for tool in await toolset.get_tools_with_prefix()] == ["local_ReadFile"]


async def test_an_environment_is_opened_once_and_again_after_closing() -> None:
    environment = Remembering()
    toolset = EnvironmentToolset(environment=environment)
    await toolset.close()
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(toolset.get_tools())
    await toolset.close()
    await toolset.close()
    await toolset.get_tools()
    assert environment.calls == ["initialize", "close", "initialize"]
    assert copy.deepcopy(toolset)._environment is not environment


def test_a_toolset_serves_several_loops() -> None:
    environment = Remembering()
    toolset = EnvironmentToolset(environment=environment)
    for _ in range(2):
        asyncio.run(toolset.get_tools())  # type: ignore[arg-type]
    assert environment.calls == ["initialize"]


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("", {"status": "error", "error": "`command` is required."}),
        ("echo hi", {"status": "ok", "stdout": "hi\n"}),
        ("true", {"status": "ok"}),
        ("echo bad >&2; exit 4", {"status": "error", "stderr": "bad\n", "exit_code": 4}),
        ("kill -9 $$", {"status": "error", "exit_code": -9}),
        ("printf %0200d 0", {"status": "ok", "stdout": "0" * 100 + "\n... (truncated, 200 total chars)"}),
    ],
)
async def test_results_of_commands(toolset: EnvironmentToolset, command: str, result: dict[str, Any]) -> None:
    assert await called(toolset, "Execute", command=command) == result


@pytest.mark.parametrize(
    ("done", "result"),
    [
        (
            ExecutionResult(-15, "some", "", timed_out=True),
            {"status": "error", "stdout": "some", "exit_code": -15, "error": "Command timed out after 30s."},
        ),
        (OSError("no shell"), {"status": "error", "error": "no shell"}),
    ],
)
async def test_commands_that_do_not_end_well(done: ExecutionResult | Exception, result: dict[str, Any]) -> None:
    environment = Remembering(done)
    assert await called(EnvironmentToolset(environment=environment), "Execute", command="x") == result
    assert environment.calls[-1] == ("x", 30)


@pytest.mark.parametrize(
    ("args", "result"),
    [
        ({}, {"error": "`path` is required."}),
        ({"path": "none"}, {"error": "File not found: none"}),
        ({"path": "../x"}, {"error": "Path escapes working directory: ../x"}),
        ({"path": "a", "start_line": True}, {"error": "`start_line` must be an integer if provided."}),
        ({"path": "a", "start_line": 9}, {"error": "`start_line` 9 exceeds file length (3 lines).", "total_lines": 3}),
        ({"path": "a", "start_line": 3, "end_line": 2}, {"error": "`start_line` (3) is after `end_line` (2).", "total_lines": 3}),
        ({"path": "a"}, {"content": "     1\tone\n     2\ttwo\r\n     3\t\ufffd"}),
        ({"path": "a", "start_line": 2, "end_line": 2}, {"content": "     2\ttwo\r\n", "total_lines": 3}),
        ({"path": "long"}, {"content": "     1\t" + "x" * 93 + "\n... (truncated, 207 total chars)"}),
    ],
)
async def test_reading(toolset: EnvironmentToolset, tmp_path: Path, args: dict[str, Any], result: dict[str, Any]) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo\r\n\xff")
    (tmp_path / "long").write_text("x" * 200)
    status = "error" if "error" in result else "ok"
    assert await called(toolset, "ReadFile", **args) == {"status": status, **result}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"old_string": "x"}, "`path` is required."),
        ({"path": "a"}, "`old_string` cannot be empty. To create a new file, use the WriteFile tool."),
        ({"path": "none", "old_string": "x"}, "File not found: none"),
        ({"path": "../x", "old_string": "x"}, "Path escapes working directory: ../x"),
        ({"path": "a", "old_string": "six"}, "`old_string` not found in file. Read the file first to verify contents."),
        ({"path": "a", "old_string": "o"}, "`old_string` appears 2 times. Provide more surrounding context to make it unique."),
        ({"path": "a", "old_string": "one\ntwo", "new_string": "\\1\n2"}, None),
    ],
)
async def test_editing(toolset: EnvironmentToolset, tmp_path: Path, args: dict[str, Any], told: str | None) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\n\xff")
    result = await called(toolset, "EditFile", **args)
    assert result == ({"status": "error", "error": told} if told else {"status": "ok", "message": "Edited a"})
    assert (tmp_path / "a").read_bytes() == (b"one\r\ntwo\r\n\xff" if told else b"\\1\n2\r\n\xff")


async def test_writing(toolset: EnvironmentToolset, tmp_path: Path) -> None:
    assert await called(toolset, "WriteFile") == {"status": "error", "error": "`path` is required."}
    assert await called(toolset, "WriteFile", path="../x", content="") == {
        "status": "error",
        "error": "Path escapes working directory: ../x",
    }
    assert await called(toolset, "WriteFile", path="new/a", content="ü\r\n") == {"status": "ok", "message": "Wrote new/a"}
    assert (tmp_path / "new" / "a").read_bytes() == "ü\r\n".encode()


async def test_the_runner_closes_it() -> None:
    environment = Remembering()
    toolset = EnvironmentToolset(environment=environment)
    await toolset.get_tools()
    async with InMemoryRunner(agent=LlmAgent(name="agent", model="gemini-2.5-flash", tools=[toolset])):
        pass
    assert environment.calls == ["initialize", "close"]
