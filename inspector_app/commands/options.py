"""The options of a command line, as the commands receive them."""

from __future__ import annotations

from types import SimpleNamespace


class Options(SimpleNamespace):
    """One attribute for each argument and option; an option that was not given has its default."""
