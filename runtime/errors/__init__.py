"""The runtime's error classes.

A `KnownError` has a cause outside the runtime: a file that is not a database, a session that does not exist, a value that
cannot be stored. Its message is shown to the user and says what to do. A `BugError` is a defect of the runtime itself.
Errors that google-adk raises as `ValueError` are also `ValueError`s here.
"""

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.engine_needed_error import EngineNeededError
from runtime.errors.input_validation_error import InputValidationError
from runtime.errors.known_error import BugError, KnownError
from runtime.errors.llm_error import LlmError, UnknownLlmError
from runtime.errors.not_found_error import InvocationNotFoundError, NotFoundError, SessionNotFoundError
from runtime.errors.resume_error import ResumeError
from runtime.errors.storage_error import EmptyDatabaseError, NotASessionDatabaseError, StaleSessionError, StorageError
from runtime.errors.unstorable_value_error import UnstorableValueError

__all__ = [
    "AlreadyExistsError",
    "BugError",
    "EmptyDatabaseError",
    "EngineNeededError",
    "InputValidationError",
    "InvocationNotFoundError",
    "KnownError",
    "LlmError",
    "NotASessionDatabaseError",
    "NotFoundError",
    "ResumeError",
    "SessionNotFoundError",
    "StaleSessionError",
    "StorageError",
    "UnknownLlmError",
    "UnstorableValueError",
]
