"""Programs that run on this machine, their limits and their end."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from pydantic import ValidationError

from runtime.code_executors import BaseCodeExecutor, UnsafeLocalCodeExecutor
from runtime.code_executors import unsafe_local_code_executor as module
from runtime.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult
from runtime.errors import EngineNeededError

pytestmark = pytest.mark.rule("R11")

INVOCATION = SimpleNamespace(invocation_id="i")


def result_of(code: str, **settings: Any) -> CodeExecutionResult:
    return UnsafeLocalCodeExecutor(**settings).execute_code(INVOCATION, CodeExecutionInput(code=code))


def test_a_program_runs_in_a_process_of_its_own() -> None:
    result = result_of("import os\nprint(os.getpid(), 'ü')\nx = [1]\nprint((lambda: x)())")
    pid, rest = result.stdout.split(" ", 1)
    assert int(pid) != os.getpid()
    assert (rest, result.stderr, result.exit_code) == ("ü\n[1]\n", "", 0)


def test_a_failure_shows_the_program_alone() -> None:
    result = result_of("print('before')\n1 / 0")
    assert result.stdout == "before\n"
    assert result.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert 'File "<code>", line 2' in result.stderr
    assert result.stderr.count("File ") == 1
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import sys; sys.exit(3)", "ended with status 3"),
        ("import sys; sys.exit(0)", None),
        ("import os; os._exit(4)", "ended with status 4"),
        ("def f(:", "SyntaxError"),
        ("import warnings; warnings.warn('only a warning')", None),
        ("if __name__ == '__main__':\n    raise ValueError('as a script')", "as a script"),
    ],
)
def test_the_exit_status_decides_whether_a_program_failed(code: str, error: str | None) -> None:
    stderr = result_of(code).stderr
    assert (error in stderr) if error else stderr == ""


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_stopped_program_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "print('started', flush=True)\n"
        "time.sleep(600)"
    )
    executor = UnsafeLocalCodeExecutor(timeout_seconds=None)
    results: list[CodeExecutionResult] = []
    thread = threading.Thread(target=lambda: results.append(executor.execute_code(INVOCATION, CodeExecutionInput(code=code))))
    thread.start()
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        thread.join(0.01)
    executor.stop(SimpleNamespace(invocation_id="another"))
    assert thread.is_alive()
    executor.stop(INVOCATION)
    thread.join(60)
    assert results[0].stderr.startswith("The code ended with status -9")
    child = int((tmp_path / "pid").read_text())
    while _runs(child):
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_a_program_that_takes_too_long_is_reported_with_what_it_printed() -> None:
    result = result_of("print('so far', flush=True)\nimport time; time.sleep(600)", timeout_seconds=1)
    assert result.stderr == "Code execution timed out after 1 seconds."
    assert result.stdout in ("so far\n", "")  # a slow machine may not have come so far


def test_keys_in_the_environment_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "secret")
    assert result_of("import os; print(os.environ.get('GOOGLE_API_KEY'), bool(os.environ['PATH']))").stdout == "None True\n"


def test_output_and_memory_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_OUTPUT", 1_000)
    assert len(result_of("print('x' * 1_000_000)").stdout) == 1_000
    assert "MemoryError" in result_of(f"bytearray({module.MAX_MEMORY})").stderr


def test_the_executor_keeps_no_state_and_prepares_no_files() -> None:
    with pytest.raises(ValidationError, match="`stateful=True`"):
        UnsafeLocalCodeExecutor(stateful=True)

    class Custom(BaseCodeExecutor):
        def execute_code(self, invocation_context: Any, code_execution_input: CodeExecutionInput) -> CodeExecutionResult:
            return CodeExecutionResult()

    with pytest.raises(EngineNeededError, match="needs google-adk"):
        Custom(optimize_data_file=True)
    with pytest.raises(ValidationError, match="optimize_data_file=True"):
        UnsafeLocalCodeExecutor(optimize_data_file=True)
