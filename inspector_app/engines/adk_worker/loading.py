"""Loading of an agent: runs its code."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from . import google_adk
from .errors import WorkerError
from .finding import AGENT_FILES, RELATIVE, agents_in, has_text, several_agents

FACTORIES = (
    "app",
    "root_agent",
    *(f"{verb}_{what}" for what in ("app", "root_agent", "agent") for verb in ("create", "make", "build", "get")),
)
"""Functions that make an app or agent, where a module defines neither `app` nor `root_agent`."""


class Agent:
    """A loaded agent.

    Attributes:
        root: the App, agent or node that its code defines.
        name: the folder's or module's name.
        folder: the agent's folder; that of the file, for a single file.
        agents_dir: the folder that is on `sys.path`.
    """

    def __init__(self, root: Any, name: str, folder: Path, agents_dir: Path) -> None:
        self.root = root
        self.name = name
        self.folder = folder
        self.agents_dir = agents_dir

    @property
    def root_agent(self) -> Any:
        """The root agent or node; an App's, or the root itself."""
        return getattr(self.root, "root_agent", self.root)


def load_agent(path: str) -> Agent:
    """Load the agent at `path`, in the order in which google-adk's AgentLoader searches.

    Raises:
        WorkerError: there is no agent; with `choices` if the path is a folder of agents.
        Exception: the agent's own code failed.
    """
    place = Path(path).absolute()
    if place.is_file() and place.name in (*AGENT_FILES, "__init__.py"):
        place = place.parent
    is_in_package = False
    if place.is_dir():
        agents_dir, name, folder = place.parent, place.name, place
    elif place.is_file() and place.suffix == ".py":
        agents_dir, name, folder = place.parent, place.stem, place.parent
        if (folder / "__init__.py").is_file() or has_text(place, RELATIVE):
            agents_dir, is_in_package = folder.parent, True
    else:
        raise WorkerError(f"There is no agent at {path}: name a folder with an agent.py, or a Python file.")
    choices = agents_in(place) if place.is_dir() else []
    is_agent = not place.is_dir() or any((place / file).is_file() for file in (*AGENT_FILES, "__init__.py"))
    if is_agent:
        if str(agents_dir) not in sys.path:
            sys.path.insert(0, str(agents_dir))
        load_env_file(folder)
        if google_adk.is_embedded():
            importlib.import_module("inspector_app.engines.google_adk_imports").resolve_google_adk(folder)
        importlib.invalidate_caches()
        module = _module_name(place, f"{_module_name(folder)}." if is_in_package else "")
        modules = [module, *([f"{module}.agent"] if place.is_dir() else [])]
        root = _first(_from_module, modules) or _from_yaml(folder / "root_agent.yaml", place.is_dir()) or _first(_from_function, modules)
        if root is not None:
            return Agent(root, name, folder, agents_dir)
    if choices:
        raise WorkerError(several_agents(path, choices), path=path, choices=choices)
    raise WorkerError(f"{path} defines neither `root_agent` nor `app`, and has no root_agent.yaml.")


def load_on_own_thread(path: str) -> Agent:
    """Load an agent on the thread that makes its synchronous calls on the embedded runtime, so that its connections belong to it.

    Raises:
        Exception: see `load_agent`.
    """
    threads = importlib.import_module("runtime.support.agent_thread")
    thread = threads.AgentThread(Path(path).stem)
    agent: Agent = thread.call_and_wait(load_agent, path)
    threads.adopt_thread(agent.root_agent, thread)
    return agent


def is_blocked(root: Any) -> bool:
    """Return whether the agent's own thread, which only the embedded runtime has, still runs a function of a stopped run."""
    if not google_adk.is_embedded():
        return False
    blocked: bool = importlib.import_module("runtime.support.agent_thread").is_blocked(root)
    return blocked


def load_env_file(folder: Path) -> None:
    """Set what the nearest `.env` sets, unless it is set already."""
    if os.environ.get("ADK_DISABLE_LOAD_DOTENV", "").lower() in ("1", "true"):
        return
    file = next((place / ".env" for place in (folder, *folder.parents) if (place / ".env").is_file()), None)
    if file is not None:
        importlib.import_module("dotenv").load_dotenv(file, override=False, verbose=True)


def _module_name(place: Path, package: str = "") -> str:
    """Return the name to import a folder or a file by: its own, unless it has a dot or another module has it.

    Args:
        place: the folder or file.
        package: the name of its package and a dot; empty for none.
    """
    name = place.name if place.is_dir() else place.stem
    if "." not in name and (package or _is_own(name, place)):
        return package + name
    if google_adk.is_embedded():
        return private_name(place, package, importlib.import_module("inspector_app.engines.google_adk_imports").for_agent)
    return private_name(place, package, lambda spec: spec)


def private_name(place: Path, package: str, prepared: Callable[[ModuleSpec], ModuleSpec]) -> str:
    """Return a name of our own, by which a folder or a file can be imported from now on.

    Args:
        place, package: as for `_module_name`.
        prepared: called with how to load it; returns how to load an agent's module.
    """
    name = f"{package}agent_{hashlib.blake2s(os.fsencode(place), digest_size=6).hexdigest()}"
    if not any(isinstance(finder, _PrivateModule) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _PrivateModule(name, place, prepared))
    return name


def _is_own(name: str, place: Path) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a module without a spec, such as __main__
        return False
    return spec is None or spec.origin == str(place) or str(place) in (spec.submodule_search_locations or ())


class _PrivateModule(MetaPathFinder):
    """Finds a folder or file under a name of our own.

    Args:
        name: the whole name.
        place: the folder or file.
        prepared: see `private_name`.
    """

    def __init__(self, name: str, place: Path, prepared: Callable[[ModuleSpec], ModuleSpec]) -> None:
        self.name = name
        self._place = place
        self._prepared = prepared

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Return how to load it; None for another module."""
        if fullname != self.name:
            return None
        inside = [str(self._place)] if self._place.is_dir() else None
        file = self._place / "__init__.py" if inside else self._place
        if file.is_file():
            spec = importlib.util.spec_from_file_location(fullname, file, submodule_search_locations=inside)
            return spec and self._prepared(spec)
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = inside
        return spec


def _first(find: Any, modules: list[str]) -> Any:
    return next((found for name in modules if (found := find(name)) is not None), None)


def _from_module(name: str) -> Any:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (error.name == name or name.startswith(error.name + ".")):
            return None
        raise
    app, root = getattr(module, "app", None), getattr(module, "root_agent", None)
    if app is not None and isinstance(app, google_adk.find_class("google.adk.apps.app", "App")):
        return app
    if root is None or isinstance(root, (ModuleType, FunctionType)):
        return None
    if isinstance(root, _root_kinds()):
        return root
    kind = f"{type(root).__module__}.{type(root).__qualname__}"
    raise WorkerError(f"{getattr(module, '__file__', None) or name} defines a `root_agent` that is no agent, but a {kind}.")


def _from_function(name: str) -> Any:
    """Return what a function of a loaded module makes; see `FACTORIES`."""
    module = sys.modules.get(name)
    for function in factories(module) if module is not None else ():
        made = function()
        if isinstance(made, _root_kinds()):
            return made
    return None


def factories(module: ModuleType) -> list[Any]:
    """Return the functions of a module that make its agent or app: those with a name of FACTORIES that need no arguments.

    Raises:
        WorkerError: one of them is asynchronous.
    """
    found = []
    for name in FACTORIES:
        function = getattr(module, name, None)
        if not isinstance(function, FunctionType):
            continue
        needed = [one for one in inspect.signature(function).parameters.values() if one.default is one.empty and one.kind not in (2, 4)]
        if inspect.iscoroutinefunction(function) and not needed:
            place = f"{function.__code__.co_filename}, line {function.__code__.co_firstlineno}"
            raise WorkerError(f"{place}: {name} is asynchronous, so it cannot make the agent while it is loaded. Make it a plain function.")
        if not needed:
            found.append(function)
    return found


def _root_kinds() -> tuple[type, ...]:
    names = (("google.adk.apps.app", "App"), ("google.adk.agents.base_agent", "BaseAgent"), ("google.adk.workflow", "BaseNode"))
    return tuple(kind for kind in (google_adk.find_class(*name) for name in names) if kind is not None)


def _from_yaml(file: Path, is_folder: bool) -> Any:
    if not is_folder or not file.is_file():
        return None
    try:
        utils = google_adk.module("google.adk.agents.config_agent_utils")
    except ModuleNotFoundError:
        raise WorkerError(f"{google_adk.engine_name_first()} loads no YAML agents, so {file} cannot be loaded.") from None
    return utils.from_config(str(file))
