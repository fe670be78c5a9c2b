"""Errors, split by whose fault they are.

`KnownError` is the world's: a file that is not a database, a session that does not exist, a value that cannot be stored.
Its text is written for the person who reads it and says what to do. `BugError` is ours: it should never be seen.
Errors that google-adk raises as `ValueError` are `ValueError`s here too.
"""

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.input_validation_error import InputValidationError
from runtime.errors.known_error import BugError, KnownError
from runtime.errors.llm_error import LlmError, UnknownLlmError
from runtime.errors.not_found_error import InvocationNotFoundError, NotFoundError, SessionNotFoundError
from runtime.errors.resume_error import ResumeError
from runtime.errors.storage_error import NotASessionDatabaseError, StaleSessionError, StorageError
from runtime.errors.unstorable_value_error import UnstorableValueError

__all__ = [
    "AlreadyExistsError",
    "BugError",
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
