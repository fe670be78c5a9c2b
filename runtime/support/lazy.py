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
    """
    return _LazyModule(name)


def lazy_exports(package: str, modules: dict[str, str]) -> tuple[Callable[[str], Any], list[str]]:
    """Return the `__getattr__` and the `__all__` of a package.

    Args:
        package: the package's `__name__`.
        modules: full name of a module → the names that it exports, separated by spaces; `name=other` if it has another name there.
    """
    places: dict[str, tuple[str, str]] = {}
    for module, names in modules.items():
        for each in names.split():
            name, _, defined_as = each.partition("=")
            places[name] = module, defined_as or name

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, defined_as = places[name]
        return getattr(importlib.import_module(module), defined_as)

    return load, list(places)
