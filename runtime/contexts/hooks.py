"""The plugin hooks that a context calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.support.texts import text_of


class Hooks:
    """The plugins of a run, as contexts, agents and flows see them: here none; see `PluginManager`."""

    plugins: Sequence[Any] = ()

    def takes(self, hook: str) -> bool:
        """Return whether a plugin has a hook."""
        return False

    def changes(self, hook: str) -> bool:
        """Return whether a plugin may change a hook's arguments."""
        return False

    async def run_hook(self, hook: str, **arguments: Any) -> Any:
        """Call a hook of every plugin until one returns a value."""
        return None

    async def notify(self, hook: str, **arguments: Any) -> None:
        """Call a hook of every plugin."""


NO_HOOKS = Hooks()


class CallFailure(Exception):  # carries an error and is not one itself
    """Raised by a plugin's `before_tool_callback` to make the call fail as if the tool had raised.

    Attributes:
        error: what the agent sees.
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(text_of(error))
        self.error = error


class NoResult(Exception):  # not an error either
    """Raised by a plugin's `before_tool_callback` when the call returns nothing, as a long-running tool may."""
