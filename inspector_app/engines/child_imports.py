"""Tells a long import from one that is stuck."""

from __future__ import annotations

from inspector_app.engines.child_process import ChildProcess


class Imports:
    """The imports of a child that loads an agent.

    Args:
        child: the child.
        seconds: between two looks.

    Attributes:
        passed: seconds until the last look.
    """

    def __init__(self, child: ChildProcess, seconds: float) -> None:
        self.seconds = seconds
        self.passed = 0.0
        self._child = child
        self._modules = 0

    async def proceed(self) -> bool:
        """Return whether a module was imported since the last look. To be called after `seconds`."""
        self.passed += self.seconds
        before, self._modules = self._modules, await self._child.modules(self.seconds)
        return self._modules > before
