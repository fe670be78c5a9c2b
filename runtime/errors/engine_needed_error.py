"""Features that only google-adk itself has."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class EngineNeededError(KnownError, NotImplementedError):
    """Raised where a program uses a feature of google-adk that the embedded runtime does not have.

    Attributes:
        what: the feature, as the subject of a sentence, such as `Live audio`.
        remedy: what to do.

    Args:
        what: see above.
        instead: what the embedded runtime has in its place, to follow "On the embedded runtime, use".
    """

    def __init__(self, what: str, instead: str = "") -> None:
        self.what = what
        self.remedy = "install it in the agent's environment, and the agent runs on it."
        if instead:
            self.remedy += f" On the embedded runtime, use {instead}."
        super().__init__(f"{what} needs google-adk: {self.remedy}")
