"""The error for values that storage cannot represent."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class UnstorableValueError(KnownError, ValueError):
    """Raised before anything is committed, for a value that would not survive a round trip through storage.

    Attributes:
        path: the value's place, such as `state['cart'][0]['price']`.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path} cannot be stored: {reason}")
        self.path = path
