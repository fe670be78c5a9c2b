"""Programs of skills, run by a code executor in a temporary folder that has the skill's files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from runtime.code_executors.base_code_executor import BaseCodeExecutor
from runtime.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult
from runtime.contexts.context import ToolContext
from runtime.environment.base_environment import BaseEnvironment
from runtime.skills.models import Skill

_SHELL_RESULT = "__shell_result__"

# What the executor runs. A shell's streams come as the last line of the output, as JSON, as executors tell only Python's own status.
_PROGRAM = """\
import json, os, runpy, subprocess, sys, tempfile

def _run(files, argv, seconds):
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files.items():
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
        os.chdir(folder)
        try:
            if seconds is None:
                sys.argv = argv
                sys.path.insert(0, os.path.dirname(os.path.abspath(argv[0])))
                runpy.run_path(argv[0], run_name="__main__")
                return
            try:
                done = subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds)
                told = dict(stdout=done.stdout, stderr=done.stderr, returncode=done.returncode)
            except subprocess.TimeoutExpired as late:
                told = dict(stdout=late.stdout or b"", stderr=b"Timed out after %ds" % seconds, returncode=None)
            told = {name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value for name, value in told.items()}
            print(chr(10) + json.dumps(dict(told, MARK=True)))
        finally:
            os.chdir(before)

""".replace("MARK", _SHELL_RESULT)


class UnsafePathError(ValueError):
    """A path of a skill's file leads out of its folder."""


async def run_script(
    executor: BaseCodeExecutor, context: ToolContext, skill: Skill, file_path: str, arguments: list[str], seconds: int
) -> dict[str, Any]:
    """Run a program of a skill.

    Args:
        executor: what runs it.
        context: the call.
        skill: the skill, all of whose files the program can read.
        file_path: the program, as the model names it.
        arguments: its arguments.
        seconds: maximum duration of a shell script; the executor has its own for Python.

    Returns:
        The model's answer: the output and a status, or an error.
    """
    kind = PurePosixPath(file_path).suffix.lower()
    if kind not in (".py", ".sh", ".bash"):
        shown = f"'{kind}'" if kind else "(no extension)"
        return failure(f"Unsupported script type {shown}. Supported types: .py, .sh, .bash", "UNSUPPORTED_SCRIPT_TYPE")
    is_shell = kind != ".py"
    script = f"scripts/{file_path.removeprefix('scripts/')}"
    invocation = context._invocation_context
    try:
        argv = [*(["bash"] if is_shell else []), script, *arguments]
        code = f"{_PROGRAM}_run({files_of(skill)!r}, {argv!r}, {seconds if is_shell else None!r})\n"
        result = await invocation.sync_calls.call(executor.execute_code, invocation, CodeExecutionInput(code=code))
    except asyncio.CancelledError:
        executor.stop(invocation)
        raise
    except Exception as error:
        return _not_executed(f"'{file_path}'", error)
    printed, failed, status = _shell_result(result) if is_shell else (result.stdout, result.stderr, result.exit_code)
    state = "error" if status or (failed and not printed) else "warning" if failed else "success"
    return {"skill_name": skill.name, "file_path": file_path, "stdout": printed, "stderr": failed, "status": state}


async def run_command(
    environment: BaseEnvironment, folder: Path, skill: Skill, file_path: str, command: str, seconds: int
) -> dict[str, Any]:
    """Run a command in an environment that has a skill's files.

    Args:
        environment: what runs it. The skill's files are written there if the program is missing.
        folder: the folder of all skills in it.
        skill: the skill.
        file_path: the program, as the model names it.
        command: the command line.
        seconds: maximum duration.

    Returns:
        The model's answer: the output and the exit code, or an error.
    """
    try:
        files, place = files_of(skill), folder / skill.name
        try:
            await environment.read_file(place / "scripts" / file_path.removeprefix("scripts/"))
        except FileNotFoundError:
            for path, content in files.items():
                await environment.write_file(place / path, content)
        result = await environment.execute(command, timeout=seconds)
    except Exception as error:
        return _not_executed(f"'{file_path}' in environment", error)
    return {"stdout": result.stdout, "stderr": result.stderr, "exit_code": result.exit_code, "timed_out": result.timed_out}


def _not_executed(what: str, error: Exception) -> dict[str, Any]:
    told = str(error)
    told = told[:200] + "..." if len(told) > 200 else told
    return failure(f"Failed to execute script {what}:\n{type(error).__name__}: {told}", "EXECUTION_ERROR")


def _shell_result(result: CodeExecutionResult) -> tuple[str, str, int | None]:
    """Return both streams and the status of a shell script."""
    lines = result.stdout.splitlines()
    try:
        told = json.loads(lines[-1]) if lines else None
    except ValueError:
        told = None
    if not isinstance(told, dict) or not told.get(_SHELL_RESULT):
        return result.stdout, result.stderr, result.exit_code
    status: int | None = told["returncode"]
    failed = told["stderr"]
    if status:
        failed = "\n".join(filter(None, (failed.rstrip(), f"Exit code {status}")))
    return told["stdout"], failed, -1 if status is None else status


def files_of(skill: Skill) -> dict[str, str | bytes]:
    """Return a skill's files by their paths below its folder.

    Raises:
        UnsafePathError: a path leads out of the folder.
    """
    files = {f"references/{path}": data for path, data in skill.resources.references.items()}
    files |= {f"assets/{path}": data for path, data in skill.resources.assets.items()}
    files |= {f"scripts/{path}": script.src for path, script in skill.resources.scripts.items()}
    for path in files:
        windows = PureWindowsPath(path.partition("/")[2])
        if ".." in windows.parts or windows.drive or windows.root or not windows.parts:
            raise UnsafePathError(f"{path} leads out of the skill's folder")
    return files


def failure(told: str, code: str) -> dict[str, Any]:
    """Return a skill tool's error for the model: the text, and the code that google-adk has for it."""
    return {"error": told, "error_code": code}
