"""Loading of an agent from a folder or a file, by google-adk's convention.

The folder's `agent.py`, or the package itself, defines `app` or `root_agent`, or its `root_agent.yaml` describes the agent. Loading runs
that code, so ask for trust first.

The folder becomes a package: relative imports work, and so do absolute imports of the folder's own name and of modules next to the folder.
The package has the folder's name if that is free, otherwise a private name: a folder called `json` or `my agent` must not replace a module
of that name, or fail because of it. No bytecode is written: the folder is the user's, and after two edits within one second the bytecode of
the first would be loaded.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from pydantic import ValidationError

from inspector_app.engines.adk_worker.code_places import code_places
from inspector_app.engines.adk_worker.errors import WorkerError, place_of
from inspector_app.engines.adk_worker.finding import agents_in, is_agent_folder, several_agents
from inspector_app.engines.adk_worker.loading import factories, private_name
from inspector_app.engines.adk_worker.model_requests import ask_model
from inspector_app.engines.adk_worker.plugin_file import plugin
from inspector_app.engines.agent_output import OnOutput, OutputSources, captured
from inspector_app.engines.code_files import code_files
from inspector_app.engines.embedded import TITLE, EmbeddedEngine
from inspector_app.engines.env_file import ENV_FILE_NAME, AgentEnvironment, EnvFileError, find_env_file
from inspector_app.engines.google_adk_imports import MissingNameError, for_agent, resolve_google_adk
from inspector_app.engines.name_clash import name_clash
from inspector_app.engines.protocol import Capability, CodePlace, OnCommit, Store, places_from_json
from inspector_app.engines.recorder_file import recorder_plugin
from inspector_app.engines.tracebacks import traceback_of
from runtime.agents.base_agent import BaseAgent
from runtime.apps.app import App
from runtime.debugger.request_recorder import RequestRecorder
from runtime.errors import EngineNeededError, KnownError
from runtime.models.llm_request import LlmRequest
from runtime.plugins.base_plugin import BasePlugin
from runtime.support.agent_thread import AgentThread, adopt_thread, is_blocked
from runtime.support.file_names import unusable_name
from runtime.support.texts import error_text, repr_of, text_of

YAML_AGENT = "root_agent.yaml"

_OF_A_FOLDER: tuple[list[str], ...] = ([], [""], ["agent"], ["", "agent"])  # the modules of a folder; a single file has another


class AgentLoadError(KnownError):
    """There is no agent at the path, or its code failed.

    Attributes:
        traceback: the traceback from the agent's own first line on; None if the code raised no exception.
        file, line: the place in the agent's code, if known.
        path: the path as the user wrote it, if it holds agents and is none.
        choices: the names of these agents.
        missing: what the embedded runtime lacks that the agent imports from google-adk, without the remedy; empty for other errors.
    """

    def __init__(
        self,
        message: str,
        traceback: str | None = None,
        *,
        place: tuple[str | None, int | None] = (None, None),
        path: str = "",
        choices: tuple[str, ...] = (),
        missing: str = "",
    ) -> None:
        super().__init__(message)
        self.traceback = traceback
        self.file, self.line = place
        self.path = path
        self.choices = choices
        self.missing = missing


@dataclass(frozen=True, slots=True)
class LoadedAgent:
    """An agent that is ready to run.

    Attributes:
        app: the App that its code defines, or one for its `root_agent`.
        name: the app's name.
        folder: the folder it was loaded from.
        environment: its own environment variables; active while its code runs.
        code: where the code of its agents, tools and callbacks is.
        on_output: called with what its code writes in a run; None: that is not captured.
        engine_title, records_ends, needs_file: see `Agent`.
    """

    app: App
    name: str
    folder: Path
    environment: AgentEnvironment
    code: tuple[CodePlace, ...] = ()
    on_output: OnOutput | None = None

    engine_title = TITLE
    records_ends = True
    needs_file = False

    @property
    def is_blocked(self) -> bool:
        """Whether its thread still runs a function that a stopped run called; load the agent again before the next run."""
        return is_blocked(self.app.root_agent)

    @property
    def root(self) -> BaseAgent:
        """The root agent."""
        return self.app.root_agent

    @property
    def described(self) -> dict[str, Any]:
        """The root agent and those below it as data."""
        return plugin.describe_agent(self.app.root_agent)

    @property
    def places(self) -> tuple[CodePlace, ...]:
        """Where the code of its agents, tools and callbacks is."""
        return self.code

    def why_not(self, capability: Capability) -> str | None:
        """Return a sentence that says why it cannot do something; None if it can."""
        config = self.app.resumability_config
        if capability == "resume" and (config is None or not config.is_resumable):
            return f"{self.name} is not resumable: give its App ResumabilityConfig(is_resumable=True)."
        return None

    @contextmanager
    def active(self) -> Iterator[None]:
        """Set its environment variables in this process, and capture its output."""
        with ExitStack() as both:
            if self.on_output is not None:
                both.enter_context(captured(self.on_output, self.folder))
            both.enter_context(self.environment.active())
            yield

    async def open_engine(
        self, store: Store, on_commit: OnCommit, requests: RequestRecorder | None = None, recording: Path | None = None
    ) -> EmbeddedEngine:
        """See `Agent.open_engine`."""
        plugins: list[BasePlugin] = [requests] if requests is not None else []
        recorder = recorder_plugin(recording) if recording is not None else None
        if recorder is not None and all(plugin.name != recorder.name for plugin in self.app.plugins):
            plugins.append(recorder)  # unless the app has a recorder of its own
        if self.on_output is not None:
            plugins.append(OutputSources(self.on_output, self.folder))
        return EmbeddedEngine(self.app, await store.service(), store.files, on_commit, plugins, memory=store.memory)

    async def ask_model(self, agent_name: str, request: dict[str, Any]) -> dict[str, Any]:
        """See `Agent.ask_model`."""
        with self.active():
            try:
                return await ask_model(self.app.root_agent, agent_name, request, LlmRequest)
            except WorkerError as error:
                raise KnownError(str(error)) from None

    async def close(self) -> None:
        """Do nothing: its modules stay loaded, and its thread ends by itself."""


def load_agent(path: str) -> LoadedAgent:
    """Load or reload the agent at `path`.

    The code is imported on a new thread, which later makes the agent's synchronous calls: `runtime/support/agent_thread.py`.

    Args:
        path: a folder whose `agent.py` or `__init__.py` defines `app` or `root_agent`, or such a `.py` file.

    Raises:
        AgentLoadError: there is no agent, or its code failed. Modules that were loaded from there before stay loaded.
    """
    folder, modules = _find_modules(path)
    if clash := name_clash(folder, path):
        raise AgentLoadError(clash)
    thread = AgentThread(folder.name)
    loaded = thread.call_and_wait(_load, path, folder, modules)
    adopt_thread(loaded.app.root_agent, thread)
    return loaded


def _load(path: str, folder: Path, modules: list[str]) -> LoadedAgent:
    package = _package_name(folder)
    resolve_google_adk(folder)
    environment = AgentEnvironment(folder)
    try:
        with environment.active(), _fresh_modules(package), _importable(folder.parent):
            app = _first_app(package, folder, modules, path)
    except EnvFileError as error:
        raise AgentLoadError(str(error)) from None
    except EngineNeededError as error:
        raise _failure(folder, path, error) from error
    except (KnownError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _failure(folder, path, error) from error
    return LoadedAgent(app, app.name, folder, environment, places_from_json(code_places(app.root_agent, folder)))


def agents_to_choose_from(path: str) -> tuple[str, ...]:
    """Return the names of the agents in a folder that is no agent itself; empty for everything else. No code runs."""
    place = _place(path)
    return () if is_agent_folder(place) else tuple(agents_in(place))


def check_agent_path(path: str) -> None:
    """Check that there may be an agent at a path, without loading it.

    Args:
        path: as the user wrote it.

    Raises:
        AgentLoadError: there is none.
    """
    _find_modules(path)


def check_names(path: Path) -> None:
    """Check that an agent needs no package of its own that has the name of one of ours; it could not be loaded beside ours.

    Raises:
        AgentLoadError: it does.
    """
    folder = path if path.is_dir() else path.parent
    if clash := name_clash(folder, str(path)):
        raise AgentLoadError(clash)


def agent_folders(path: str) -> dict[str, Path]:
    """Return the folders of the agents at `path`, by name, without loading the agents.

    Args:
        path: an agent's folder, or a folder of such folders.

    Raises:
        AgentLoadError: there is no agent.
    """
    folder = _place(path)
    if not folder.is_dir():
        raise AgentLoadError(f"{path} is not a folder." if folder.exists() else f"There is no folder {path}.")
    inside = [] if _has_agent(folder) else [child for child in _children(folder, path) if _has_agent(child)]
    inside = [child for child in inside if not child.name.startswith(".")]
    if not inside:
        _find_modules(path)
    return {child.name: child for child in inside or [folder]}


def files_of_agent(path: str) -> list[Path]:
    """Return the files that loading an agent read, and the files that loading begins with, existing or not.

    Args:
        path: as given to `load_agent`; loading may have failed.
    """
    place = Path(path).expanduser().absolute()
    folder = place if place.is_dir() else place.parent
    package = _package_name(folder)
    modules = [module for name, module in list(sys.modules.items()) if name == package or name.startswith(package + ".")]
    env_file = find_env_file(folder) or folder / ENV_FILE_NAME
    begun = [folder / "agent.py", folder / "__init__.py", env_file, *([] if place == folder else [place])]
    if (folder / YAML_AGENT).is_file():
        begun += [folder / name for name in code_files(folder, (".yaml", ".yml")).files]
    return sorted({*begun, *(Path(file) for module in modules if (file := getattr(module, "__file__", None)))})


def _has_agent(folder: Path) -> bool:
    return _has_agent_module(folder) or (folder / YAML_AGENT).is_file()


def _has_agent_module(folder: Path) -> bool:
    return (folder / "agent.py").is_file() or (folder / "agent" / "__init__.py").is_file()


def _place(path: str) -> Path:
    """Return the absolute path of what a user named.

    Raises:
        AgentLoadError: no file can have the name.
    """
    place = Path(path).expanduser()
    if reason := unusable_name(place):
        raise AgentLoadError(f"{path} {reason}.")
    return place.absolute()


def _children(folder: Path, name: str) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise AgentLoadError(f"{name} cannot be read: {error.strerror or error}.") from error


def not_there(name: str) -> AgentLoadError:
    """Return the error for what is neither a file nor a folder."""
    if _place(name).exists():
        return AgentLoadError(f"{name} is no agent: it is a special file, which is not opened here.")
    return AgentLoadError(f"There is no file or folder {name}.")


def _find_modules(name: str) -> tuple[Path, list[str]]:
    """Return the agent's folder and the modules in it that may define the agent. "" is the package itself.

    Args:
        name: the folder or file, as the user wrote it.
    """
    path = _place(name)
    if path.is_file():
        if path.suffix != ".py" and path.name != YAML_AGENT:
            raise AgentLoadError(f"{name} is no agent: an agent is a folder with an agent.py, or a .py file.")
        if path.stem not in {"agent", "__init__", "root_agent"} or path.name == "root_agent.py":
            return path.parent, [path.stem]
        path = path.parent
    if not path.is_dir():
        raise not_there(name)
    modules = [*([""] if (path / "__init__.py").is_file() else []), *(["agent"] if _has_agent_module(path) else [])]
    if not modules and not _has_agent(path):
        _children(path, name)
        if inside := agents_in(path):
            raise AgentLoadError(several_agents(name, inside), path=name, choices=tuple(inside))
        raise AgentLoadError(f"{name} has no agent: it needs an agent.py that defines `root_agent` or `app`, or a {YAML_AGENT}.")
    return path, modules


def _package_name(folder: Path) -> str:
    """Return the folder's name if no other module has it, otherwise a private name."""
    name = folder.name
    if name.isidentifier() and name not in sys.stdlib_module_names and _is_free(name, folder):
        return name
    return "agent_" + hashlib.blake2s(os.fsencode(folder), digest_size=6).hexdigest()


def _is_free(name: str, folder: Path) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a module without a spec, such as __main__
        return False
    return spec is None or str(folder) in (spec.submodule_search_locations or ())


@contextmanager
def _fresh_modules(package: str) -> Iterator[None]:
    """Remove the package's modules from `sys.modules`. If loading fails, remove the new ones and restore the old ones."""
    before = _take_modules(package)
    writes_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        _take_modules(package)
        sys.modules.update(before)
        raise
    finally:
        sys.dont_write_bytecode = writes_bytecode


def _take_modules(package: str) -> dict[str, ModuleType]:
    known = list(sys.modules)  # at once: other threads import meanwhile
    names = [name for name in known if name == package or name.startswith(package + ".")]
    return {name: sys.modules.pop(name) for name in names}


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let the agent import modules next to its folder. The path comes last, so that it hides no installed module."""
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _first_app(package: str, folder: Path, modules: list[str], written: str) -> App:
    """Import the modules in turn until one defines the app or its root agent.

    Args:
        package: the package's name.
        folder: the agent's folder.
        modules: the modules.
        written: the folder or file, as the user wrote it.
    """
    _import_package(package, folder)
    wrong = ""
    imported = []
    for name in modules:
        # A file's name may have dots.
        whole = private_name(folder / f"{name}.py", f"{package}.", for_agent) if "." in name else f"{package}.{name}"
        module = importlib.import_module(whole) if name else sys.modules[package]
        imported.append(module)
        app, root_agent = getattr(module, "app", None), getattr(module, "root_agent", None)
        if isinstance(app, App):
            return app
        if isinstance(root_agent, BaseAgent):
            return App(name=_app_name(folder), root_agent=root_agent)
        wrong = wrong or _foreign("root_agent", root_agent) or _foreign("app", app)
    if modules in _OF_A_FOLDER and (folder / YAML_AGENT).is_file():
        raise EngineNeededError(f"An agent that {YAML_AGENT} describes")
    for made in (function() for module in imported for function in _factories(module)):
        if isinstance(made, (App, BaseAgent)):
            return made if isinstance(made, App) else App(name=_app_name(folder), root_agent=made)
    subject = written if _place(written).is_file() else f"{written} has no agent: its {modules[-1] or '__init__'}.py"
    if modules == [""] and (inside := agents_in(folder)):
        raise AgentLoadError(several_agents(written, inside), path=written, choices=tuple(inside))
    raise AgentLoadError(f"{subject} defines neither `root_agent` nor `app`.{wrong}")


def _factories(module: ModuleType) -> list[Any]:
    try:
        return factories(module)
    except WorkerError as error:
        raise AgentLoadError(str(error)) from None


def _app_name(folder: Path) -> str:
    """Return the folder's name, with the characters replaced that an app's name may not have."""
    name = re.sub(r"[^\w-]+", "_", folder.name)
    return name if name != "user" and re.match(r"[^\W\d]", name) else f"agent_{name}"


def _import_package(package: str, folder: Path) -> None:
    """Make the folder a package and run its `__init__.py` if there is one."""
    init = folder / "__init__.py"
    if init.is_file():
        spec = importlib.util.spec_from_file_location(package, init, submodule_search_locations=[str(folder)])
    else:
        spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
    assert spec is not None
    module = importlib.util.module_from_spec(for_agent(spec))
    sys.modules[package] = module
    if init.is_file() and spec.loader is not None:
        spec.loader.exec_module(module)


def _foreign(name: str, value: object) -> str:
    if value is None or isinstance(value, (ModuleType, FunctionType)):
        return ""
    return f" (Its `{name}` is a {type(value).__module__}.{type(value).__qualname__}, which this runtime does not know.)"


def _failure(folder: Path, name: str, error: BaseException) -> AgentLoadError:
    place = place_of(error, folder)
    where = _written_place(folder, place)
    if isinstance(error, SystemExit):
        what = f"it calls sys.exit({repr_of(error.code)}) while it is imported{where}"
        frames = traceback.extract_tb(error.__traceback__)
        is_called_there = bool(frames) and (frames[-1].filename, frames[-1].lineno) == place  # the sentence says it all
        details = None if is_called_there else traceback_of(error, folder)
        return AgentLoadError(f"The agent in {name} could not be loaded: {what}.", details, place=place)
    what = f"{type(error).__name__}: {_said(error)}" if isinstance(error, ValidationError) else error_text(error)
    hint = missing = ""
    if isinstance(error, MissingNameError):
        what, where = text_of(error).removesuffix("."), ""
        missing = f"The agent in {name} could not be loaded. {error.fact}."
    elif isinstance(error, EngineNeededError):
        needs = f"{error.what} needs google-adk{where}"
        missing = f"The agent in {name} could not be loaded. {needs}."
        what, where = f"{needs}: {error.remedy.removesuffix('.')}", ""
    elif isinstance(error, ImportError) and (error.name or "").split(".")[0] == "runtime":
        hint = " This runtime has much of google-adk, but not that: leave it out, or write a tool that does it."
    if f"line {place[1]}" in what:
        where = ""
    text = f"The agent in {name} could not be loaded. {what}{where}.{hint}"
    return AgentLoadError(text, traceback_of(error, folder), place=place, missing=missing)


def _written_place(folder: Path, place: tuple[str | None, int | None]) -> str:
    """Return a place in the agent's code as ` (agent.py, line 3)`; empty if it is not known."""
    file, line = place
    if file is None:
        return ""
    return f" ({Path(file).relative_to(folder) if Path(file).is_relative_to(folder) else file}, line {line})"


def _said(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)
    problems = (": ".join(filter(None, (".".join(map(str, one["loc"])), one["msg"]))) for one in found)
    return f"{error.title}: {'; '.join(problems).removesuffix('.')}"
