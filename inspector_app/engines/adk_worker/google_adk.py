"""The modules and classes of google-adk, or the embedded runtime's in their place."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import WorkerError, install_command
from .frames import hide_frames_of_ours

_ADK = "google.adk"
_root = _ADK  # the package that has google-adk's names


def use_embedded_runtime() -> None:
    """Run agents on the embedded runtime, which is installed with the inspector."""
    global _root
    _root = "runtime"
    sys.path.append(str(Path(__file__).resolve().parents[3]))
    hide_frames_of_ours()


def package() -> str:
    """Return the package that has google-adk's names."""
    return _root


def is_embedded() -> bool:
    """Return whether the embedded runtime runs the agent."""
    return _root != _ADK


def version() -> str | None:
    """Return the version of the installed google-adk; None if there is none."""
    try:
        return importlib.metadata.version("google-adk")
    except importlib.metadata.PackageNotFoundError:
        return None


def engine_name() -> str:
    """Return google-adk with its version, for sentences; or the embedded runtime."""
    return "the embedded runtime" if is_embedded() else f"google-adk {version()}"


def engine_name_first() -> str:
    """Return `engine_name` as a sentence begins with it."""
    return "The embedded runtime" if is_embedded() else engine_name()


def module(name: str) -> ModuleType:
    """Import a module; its name is google-adk's.

    Raises:
        ModuleNotFoundError: this version, or the embedded runtime, has none of that name.
    """
    place = _root + name[len(_ADK) :]
    if is_embedded() and importlib.import_module("runtime.border").is_across(name[len(_ADK) + 1 :]):
        raise ModuleNotFoundError(f"The embedded runtime has no {name}.", name=place)
    return importlib.import_module(place)


def _member(module_name: str, name: str) -> Any:
    found = getattr(module(module_name), name, None)
    return None if is_embedded() and importlib.import_module("runtime.border").is_stand_in(found) else found


def find_class(module_name: str, name: str) -> Any:
    """Return a class; None if this version has none of that name."""
    try:
        return _member(module_name, name)
    except ModuleNotFoundError as error:
        if _is_engines(error.name):
            return None
        raise


def required(module_name: str, name: str) -> Any:
    """Return a class.

    Raises:
        WorkerError: this version has none of that name, or a package that it needs is not installed.
    """
    try:
        found = _member(module_name, name)
    except ImportError as error:
        missing = error.name or str(error)
        if _is_engines(missing):
            raise WorkerError(f"{engine_name_first()} has no {name}.") from None
        raise WorkerError(f"{name} needs {missing}, which is not installed in {sys.prefix}: {install_command(missing)}") from None
    if found is None:
        raise WorkerError(f"{engine_name_first()} has no {name}.")
    return found


def _is_engines(name: str | None) -> bool:
    return (name or "").startswith(_root)
