"""The base class of an LlmAgent's `code_executor`."""

from __future__ import annotations

import abc
from typing import Any

from pydantic import BaseModel, Field, field_validator

from runtime.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult
from runtime.errors.engine_needed_error import EngineNeededError


class BaseCodeExecutor(BaseModel, abc.ABC):
    """Runs the first block of code in each answer of an agent's model; the model continues with the result.

    Attributes:
        stateful: later programs of a session see the variables of earlier ones.
        error_retry_attempts: number of failed programs in an invocation after which no more are run.
        code_block_delimiters: the beginnings and ends of blocks of code in an answer's text.
        execution_result_delimiters: what precedes and follows a result in the conversation.
        timeout_seconds: maximum duration of a program; no limit if None.
        optimize_data_file: must be False: only the google-adk engine prepares data files.
    """

    optimize_data_file: bool = False
    stateful: bool = False
    error_retry_attempts: int = 2
    code_block_delimiters: list[tuple[str, str]] = Field(default_factory=lambda: [("```tool_code\n", "\n```"), ("```python\n", "\n```")])
    execution_result_delimiters: tuple[str, str] = ("```tool_output\n", "\n```")
    timeout_seconds: int | None = None

    @field_validator("optimize_data_file")
    @classmethod
    def _prepare_no_data_files(cls, value: bool) -> bool:
        if value:
            raise EngineNeededError("A code executor with optimize_data_file=True")
        return value

    @abc.abstractmethod
    def execute_code(self, invocation_context: Any, code_execution_input: CodeExecutionInput) -> CodeExecutionResult:
        """Run a program, and return its result.

        Args:
            invocation_context: the invocation, an `InvocationContext`.
            code_execution_input: the program.
        """

    def stop(self, invocation_context: Any) -> None:
        """Stop the program of an invocation that was stopped; called on another thread. Does nothing by default.

        Args:
            invocation_context: the invocation, an `InvocationContext`.
        """
