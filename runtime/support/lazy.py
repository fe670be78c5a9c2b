"""Package exports that are imported on first use (PEP 562).

Importing `runtime.events` must not load SQLAlchemy or the Gemini client, and packages that export each other's classes must not import
each other in a cycle.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def lazy_exports(package: str, modules: dict[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package.

    Args:
        package: the package's `__name__`.
        modules: exported name → full name of its module, followed by `:name` if it has another name there.
    """

    def load(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, defined_as = module.partition(":")
        return getattr(importlib.import_module(module), defined_as or name)

    return load
