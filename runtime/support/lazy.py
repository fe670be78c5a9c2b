"""Modules and package exports that are imported on first use.

Importing `runtime.events` must not load SQLAlchemy or the Gemini client, and packages that export each other's classes must not import
each other in a cycle. The window and the commands that read must not wait for google-genai's types and what is made of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    """A stand-in for a module; asking for any of its names imports it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def lazy_module(name: str) -> Any:
    """Return a stand-in for a module that is imported when one of its names is used.

    Imports that only annotations need are under `TYPE_CHECKING`. Where code of a module that loads with the window also runs with such
    a name, it reaches it through the module, so that type checkers and import contracts see an import:

        if TYPE_CHECKING:
            from google.genai import types
        else:
            types = lazy_module("google.genai.types")

    Args:
        name: the module's full name.
    """
    return _LazyModule(name)


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
