"""Problems of a command line itself."""

from __future__ import annotations

from runtime.errors import KnownError


class UsageError(KnownError):
    """The command line lacks something or contradicts itself. The exit status is 2."""
