"""What an agent's code executor remembers in the state."""

from __future__ import annotations

import copy
import time
from collections.abc import MutableMapping
from dataclasses import asdict
from typing import Any

from runtime.code_executors.code_execution_utils import File

# google-adk's keys: it stores the first one with the session.
CONTEXT_KEY = "_code_execution_context"
_FILES_KEY = "_code_executor_input_files"
_ERRORS_KEY = "_code_executor_error_counts"
_RESULTS_KEY = "_code_execution_results"
_EXECUTION_ID = "execution_session_id"
_PROCESSED = "processed_input_files"


class CodeExecutorContext:
    """The memory of a code executor, in a session's state.

    Args:
        session_state: the state, changed in place.
    """

    def __init__(self, session_state: MutableMapping[str, Any]) -> None:
        self._state = session_state
        if CONTEXT_KEY not in session_state:
            session_state[CONTEXT_KEY] = {}
        self._context: dict[str, Any] = session_state[CONTEXT_KEY]

    def get_state_delta(self) -> dict[str, Any]:
        """Return the part to store with the session."""
        return {CONTEXT_KEY: copy.deepcopy(self._context)}

    def get_execution_id(self) -> str | None:
        """Return the id of the interpreter of an executor with state, if there is one."""
        return self._context.get(_EXECUTION_ID)

    def set_execution_id(self, session_id: str) -> None:
        """Set the id of the interpreter of an executor with state."""
        self._context[_EXECUTION_ID] = session_id

    def get_processed_file_names(self) -> list[str]:
        """Return the names of the input files that were explored."""
        names: list[str] = self._context.get(_PROCESSED, [])
        return names

    def add_processed_file_names(self, file_names: list[str]) -> None:
        """Add names of input files that were explored."""
        self._context[_PROCESSED] = [*self.get_processed_file_names(), *file_names]

    def get_input_files(self) -> list[File]:
        """Return the input files."""
        return [File(**file) for file in self._state.get(_FILES_KEY, [])]

    def add_input_files(self, input_files: list[File]) -> None:
        """Add input files."""
        self._state[_FILES_KEY] = [*self._state.get(_FILES_KEY, []), *map(asdict, input_files)]

    def clear_input_files(self) -> None:
        """Remove all input files and the names of the explored ones."""
        if _FILES_KEY in self._state:
            self._state[_FILES_KEY] = []
        if _PROCESSED in self._context:
            self._context[_PROCESSED] = []

    def get_error_count(self, invocation_id: str) -> int:
        """Return the number of an invocation's programs that failed since the last one that did not."""
        count: int = self._state.get(_ERRORS_KEY, {}).get(invocation_id, 0)
        return count

    def increment_error_count(self, invocation_id: str) -> None:
        """Count a program of an invocation that failed."""
        self._state[_ERRORS_KEY] = {**self._state.get(_ERRORS_KEY, {}), invocation_id: self.get_error_count(invocation_id) + 1}

    def reset_error_count(self, invocation_id: str) -> None:
        """Forget the failures of an invocation."""
        if _ERRORS_KEY in self._state:
            self._state[_ERRORS_KEY] = {key: value for key, value in self._state[_ERRORS_KEY].items() if key != invocation_id}

    def update_code_execution_result(self, invocation_id: str, code: str, result_stdout: str, result_stderr: str) -> None:
        """Add a program of an invocation with its result."""
        result = {"code": code, "result_stdout": result_stdout, "result_stderr": result_stderr, "timestamp": int(time.time())}
        known = self._state.get(_RESULTS_KEY, {})
        self._state[_RESULTS_KEY] = {**known, invocation_id: [*known.get(invocation_id, []), result]}
