"""Packages whose names are loaded when they are first asked for.

Importing `runtime.events` must not pay for SQLAlchemy or the Gemini client, and packages that name each other's classes must not import
each other in a circle. So the packages export names, and the modules behind them load on first use (PEP 562).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def lazy_exports(package: str, modules: dict[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package.

    Args:
        package: the package's `__name__`.
        modules: exported name → full name of the module that defines it; with `:name` if it is defined under another name.
    """

    def load(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, defined_as = module.partition(":")
        return getattr(importlib.import_module(module), defined_as or name)

    return load
