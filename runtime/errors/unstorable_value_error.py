"""A state value that would not survive a round trip through storage."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class UnstorableValueError(KnownError, ValueError):
    """A value was refused before anything was committed.

    Attributes:
        path: where the value stands, such as `state['cart'][0]['price']`.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be stored: {reason}")
        self.path = path
