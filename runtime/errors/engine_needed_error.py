"""Features that only google-adk itself has."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class EngineNeededError(KnownError, NotImplementedError):
    """Raised where a program uses a feature of google-adk that the embedded runtime does not have.

    Args:
        what: the feature, as the subject of a sentence, such as `Live audio`.
    """

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs the google-adk engine: run the agent with google-adk installed in its environment.")
