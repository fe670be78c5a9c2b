"""Imports of google-adk inside a loaded agent, on the embedded runtime: `google.adk.x` is `runtime.x`, and no file needs a change.

Only the agent's own modules see it: those in its folder, and those next to the folder that it imports. Each gets an `__import__` of its
own, with its `__builtins__`. `sys.modules` has no `google.adk`, and other code, the real google-adk included, is not affected.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from runtime.errors.missing_package_error import is_installed

PREFIX = "google.adk"

# google-adk 1 installs FastAPI and takes its security schemes. Ours have the same names and fields.
_FASTAPI_SCHEMES = "fastapi.openapi.models"

_OUR_FOLDER = Path(__file__).resolve().parents[2]
_NOT_THE_AGENTS = ("site-packages", "dist-packages")
_IMPORTLIB = ("<frozen importlib", importlib.__file__)
_INSTALL = "install google-adk in the agent's environment, or name a Python that has it with --python."


class MissingNameError(ModuleNotFoundError):
    """An agent imports from google-adk what the embedded runtime does not give it; the message says where.

    Args:
        fact: where which name is missing, as a sentence without its full stop.
        name: the name.
        advice: what to do, as sentences.
        installing_helps: whether google-adk may have the name.
    """

    def __init__(self, fact: str, name: str, advice: str, *, installing_helps: bool = True) -> None:
        super().__init__(f"{fact}. {advice}", name=name)
        self.fact, self.installing_helps = fact, installing_helps


def resolve_google_adk(folder: Path) -> None:
    """Let the modules of an agent's folder import google-adk's names from the embedded runtime, from now on."""
    _FINDER.folders.add(str(folder.parent))
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def for_agent(spec: ModuleSpec) -> ModuleSpec:
    """Return the spec of an agent's module, changed so that the module imports google-adk's names from the embedded runtime."""
    if type(spec.loader) is SourceFileLoader:
        spec.loader = _AgentLoader(spec.loader.name, spec.loader.path)
    return spec


class _AgentLoader(SourceFileLoader):
    """Loads a module of an agent."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, with an `__import__` of its own; its functions keep it."""
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)


class _AgentFinder(MetaPathFinder):
    """Finds the modules of loaded agents.

    Attributes:
        folders: the folders that agents' folders are in.
    """

    def __init__(self) -> None:
        self.folders: set[str] = set()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See `MetaPathFinder`. Returns None for all modules that are no agent's."""
        if path is not None and not any(self._is_below(entry) for entry in path):
            return None
        if path is None and fullname.partition(".")[0] in sys.builtin_module_names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not self._is_below(spec.origin) or not _is_agents(Path(spec.origin)):
            return None
        return for_agent(spec)

    def _is_below(self, place: str) -> bool:
        return any(place == folder or place.startswith(folder + os.sep) for folder in self.folders)


_FINDER = _AgentFinder()


def _is_agents(file: Path) -> bool:
    """Return whether a file below an agents' folder is theirs, and neither installed nor part of this program."""
    if any(part in _NOT_THE_AGENTS for part in file.parts):
        return False
    return not any(file.resolve().is_relative_to(_OUR_FOLDER / package) for package in ("runtime", "inspector_app"))


class _Google(ModuleType):
    """`google` as an agent sees it: the real one, with `adk`."""

    def __getattr__(self, name: str) -> Any:
        return _ADK if name == "adk" else getattr(importlib.import_module("google"), name)


class _Adk(ModuleType):
    """`google.adk` as an agent sees it: the runtime, whose parts are loaded when they are named, as google-adk's are at its import."""

    def __getattr__(self, name: str) -> Any:
        runtime = importlib.import_module("runtime")
        try:
            return getattr(runtime, name)
        except AttributeError:
            if name.startswith("_"):
                raise
        try:
            return importlib.import_module(f"runtime.{name}")
        except ModuleNotFoundError:
            raise AttributeError(f"The embedded runtime has no {PREFIX}.{name}.") from None


_GOOGLE = _Google("google")
_ADK = _Adk(PREFIX)


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Import as the built-in function does, but google-adk's names from the runtime. The parameters are those of `__import__`."""
    if name == _FASTAPI_SCHEMES and fromlist and not _has_fastapi():
        return importlib.import_module("runtime.auth.auth_schemes")
    if level or not (name == "google" or name.startswith("google.")):
        try:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        except ImportError as error:
            if (outside := _outside(error)) is not None:
                raise outside from error
            raise
    wanted = tuple(fromlist or ())
    if name == PREFIX or name.startswith(PREFIX + "."):
        module = _module(name)
        for one in wanted:
            _check(module, name, one)
        return module if wanted else _GOOGLE
    if name == "google" and "adk" in wanted:
        others = tuple(one for one in wanted if one != "adk")
        if others:
            builtins.__import__(name, globals, locals, others, 0)
        return _GOOGLE
    found = builtins.__import__(name, globals, locals, wanted, 0)
    return found if wanted else _GOOGLE


def _has_fastapi() -> bool:
    try:
        return importlib.util.find_spec("fastapi") is not None
    except ValueError:  # forbidden in `sys.modules`
        return False


def _module(name: str) -> ModuleType:
    if name == PREFIX:
        return _ADK
    try:
        return importlib.import_module("runtime" + name.removeprefix(PREFIX))
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("runtime"):
            raise
    raise _missing(name) from None


def _check(module: ModuleType, name: str, wanted: str) -> None:
    """Make sure that a module has a name, or a module of that name below it."""
    if wanted == "*" or hasattr(module, wanted):
        return
    try:
        importlib.import_module(f"{module.__name__.replace(PREFIX, 'runtime')}.{wanted}")
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("runtime"):
            raise
        raise _missing(f"{name}.{wanted}") from None


def _missing(name: str) -> MissingNameError:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    where = f"{Path(*Path(frame.f_code.co_filename).parts[-2:])}, line {frame.f_lineno}"  # an agent's file is often called agent.py
    fact = f"{where}: the embedded runtime has no {name}"
    if any(part.startswith("_") for part in name.split(".")):  # `runtime.border` knows the public names only
        return MissingNameError(fact, name, f"To run the agent on google-adk, {_INSTALL}")
    advice = f"Check its spelling. If another version has it, {_INSTALL.replace('google-adk', 'that version')}"
    return MissingNameError(f"{fact}, and google-adk 1.25 and 2.13 have no such public name", name, advice, installing_helps=False)


def _outside(error: ImportError) -> MissingNameError | None:
    """Return the error to raise for a module outside the agent's files that imports google-adk, which is not installed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_IMPORTLIB)]
    place, name = frames[-1], error.name or ""
    if name == "google" and not re.match(r"from\s+google\s+import\b.*\badk\b", place.line or ""):
        return None
    if isinstance(error, MissingNameError) or not (name == "google" or f"{name}.".startswith(f"{PREFIX}.")) or is_installed(PREFIX):
        return None
    fact = f"{place.filename} (line {place.lineno}) imports google.adk, which is not installed here"
    advice = (
        f"Only files in the agent's folder and next to it get the embedded runtime in its place. To run the agent on google-adk, {_INSTALL}"
    )
    return MissingNameError(fact, PREFIX, advice)
