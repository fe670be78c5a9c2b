"""Reads the commands, loads the agent and opens its services."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from . import google_adk
from .capabilities import capabilities
from .channel import Channel, Commands
from .code_places import code_places, loaded_files
from .current_run import CurrentRun
from .driving import Driver
from .errors import WorkerError, of_command
from .finding import folder_of
from .guard import start_guarded
from .loading import Agent, load_agent, load_on_own_thread
from .model_requests import ask_model
from .output import MarkedStream
from .plugin_file import plugin
from .remote_debugger import start_debugpy
from .services import close, make_other_services, make_runner, make_session_service
from .sessions import Sessions
from .stack import where_is_agent

if TYPE_CHECKING:  # an old Python must get as far as the sentence about its age
    Command = dict[str, Any]


class Worker:
    """Does what the commands say.

    Attributes:
        at_once: commands that count even while the agent blocks the event loop.
        commands: all that have no answer, or answer themselves.
        requests: those that are answered by what the function returns.
    """

    def __init__(self, channel: Channel, descriptor: int) -> None:
        self._channel = channel
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._agent: Agent | None = None
        self._runner: Any = None
        self._service: Any = None
        self._sessions: Sessions | None = None
        self._recorders: dict[str, Any] = {}  # by file
        self._run = CurrentRun(channel, self._look)
        self._driver = Driver(self._run, channel)
        self.at_once: dict[str, Callable[[Command], None]] = {
            "policy": self._on_policy,
            "where": self._on_where,
            "modules": self._on_modules,
        }
        self.commands: dict[str, Callable[[Command], None]] = {
            **self.at_once,
            "run": self._on_run,
            "next": lambda command: self._driver.pull(),
            "go": self._run.answer,
            "stop": lambda command: self._driver.stop(),
            "quit": lambda command: self._ended.set(),
        }
        self.requests: dict[str, Callable[[Command], Awaitable[Any]]] = {
            "load": self._load,
            "open": self._open,
            "ask_model": self._ask_model,
            "create_session": lambda command: self._opened().create(command),
            "get_session": lambda command: self._opened().get(command),
            "append_event": lambda command: self._opened().append_event(command),
            "rewind": lambda command: self._opened().rewind(command),
        }
        self._descriptor = descriptor
        self._input: Commands | None = None

    async def serve(self) -> None:
        """Read commands until `quit` or the end of the input."""
        version = {"protocol": plugin.PROTOCOL, "pid": os.getpid(), "python": sys.version.split()[0], "adk": google_adk.version()}
        self._channel.send("hello", **version, prefix=sys.prefix, engine=google_adk.engine_name())
        self._input = Commands(self._descriptor, self._take, self._take_at_once, self._in_between, self._ended.set)
        await self._ended.wait()
        self._driver.cancel()
        try:
            await close(self._runner)
        finally:
            await close(self._service)  # otherwise all events may be in the database's write-ahead log alone

    def mark_output(self) -> None:
        """Mark in the agent's output what was running when it was written."""
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None:
                setattr(sys, name, MarkedStream(stream, lambda: self._run.run.source()))
        if logging.lastResort is not None:
            logging.lastResort.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    # Reading

    def _look(self) -> None:
        if self._input is not None:
            self._input.look()

    def _take_at_once(self, line: bytes) -> bool:
        """Take a command that counts even while the agent blocks the loop; return whether it was one. Called on any thread."""
        if not any(name in line for name in (b'"policy"', b'"where"', b'"modules"')):
            return False
        try:
            command = json.loads(line)
            take = self.at_once.get(command["type"])
            if take is None:
                return False
            take(command)
        except Exception:  # `_take` finds it again, and reports it
            return False
        return True

    def _in_between(self) -> bool:
        """Write what the loop has not written, because the agent blocks it; return whether a run is active."""
        self._channel.flush()
        return self._run.is_active

    def _take(self, line: bytes) -> None:
        command: Any = None
        try:
            command = json.loads(line)
            if not isinstance(command, dict):
                raise WorkerError("A command must be a JSON object.")
            kind = command.get("type")
            if kind in self.commands:
                self.commands[kind](command)
                return
            if kind not in self.requests:
                raise WorkerError(f"There is no command {kind!r}.")
        except Exception as error:
            number = command.get("id") if isinstance(command, dict) else None
            is_known = isinstance(command, dict) and isinstance(command.get("type"), str) and command["type"] in self.commands
            if is_known:
                fields = of_command(command["type"], error, self._run.folder)
            else:
                reason = f"This is not JSON: {plugin.text_of(error)}" if isinstance(error, ValueError) else plugin.text_of(error)
                fields = {"type": "ProtocolError", "message": reason}
            self._channel.send("error", id=number, error=fields)
            return
        task = self._loop.create_task(self._answer(kind, command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, kind: str, command: Command) -> None:
        number = command.get("id")
        try:
            value = await self.requests[kind](command)
        except BaseException as error:  # the agent's code may raise any
            self._channel.send("error", id=number, error=of_command(kind, error, self._run.folder))
        else:
            self._channel.send("answer", id=number, value=value)

    # Commands

    def _on_policy(self, command: Command) -> None:
        self._run.policy = plugin.Policy.of(command)

    def _on_where(self, command: Command) -> None:
        self._channel.send("answer", id=command.get("id"), value=where_is_agent())

    def _on_modules(self, command: Command) -> None:
        self._channel.send("answer", id=command.get("id"), value=len(sys.modules))

    def _on_run(self, command: Command) -> None:
        self._opened()
        self._driver.check_idle()
        self._driver.start(command, self._runner, self._loaded().root_agent)

    async def _load(self, command: Command) -> dict[str, Any]:
        if command.get("protocol") != plugin.PROTOCOL:
            raise WorkerError(f"The worker speaks version {plugin.PROTOCOL} of the protocol, not {command.get('protocol')!r}.")
        if sys.version_info < (3, 10):  # noqa: UP036  # any Python may be given
            raise WorkerError(f"Python 3.10 or newer is needed; {sys.executable} is {sys.version.split()[0]}.")
        if not google_adk.is_embedded() and google_adk.version() is None:
            raise WorkerError(f"google-adk is not installed in {sys.prefix}.")
        if command.get("debugpy"):
            start_debugpy(command["debugpy"], bool(command.get("wait")))
        self._run.folder = folder_of(command["path"])
        load = load_on_own_thread if google_adk.is_embedded() else load_agent
        self._agent = agent = load(command["path"])
        resumability = getattr(agent.root, "resumability_config", None)
        resumable = bool(resumability is not None and resumability.is_resumable)
        return {
            "app_name": agent.root.name if agent.root_agent is not agent.root else agent.name,
            "folder": str(agent.folder),
            "resumable": resumable,
            "root": plugin.describe_agent(agent.root_agent),
            "places": code_places(agent.root_agent, agent.folder),
            "files": loaded_files(agent.folder),
            "capabilities": capabilities(resumable),
        }

    async def _open(self, command: Command) -> dict[str, Any]:
        """Make the services and the Runner."""
        self._driver.check_idle()
        agent = self._loaded()
        app_class = google_adk.find_class("google.adk.apps.app", "App")
        is_app = app_class is not None and isinstance(agent.root, app_class)
        app_name = agent.root.name if is_app else agent.name
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of services that the agent's author did not choose
            await close(self._service)
            self._service = service = make_session_service(command["sessions"], agent)
            services = {"session_service": service, **make_other_services(agent, app_name)}
        self._runner = make_runner(agent, is_app, app_name, services)
        self._sessions = Sessions(service, self._runner, self._run, self._driver)
        plugin.observe(self._run, service)
        manager = getattr(self._runner, "plugin_manager", None)
        if manager is not None:
            hooks = plugin.hooks_of(self._run, google_adk.package())
            try:
                manager.register_plugin(hooks, first=True)
            except TypeError:  # google-adk: at the end only
                manager.plugins.insert(0, hooks)
            recorder = self._recorder(**command["recorder"]) if command.get("recorder") else None
            if recorder is not None and all(getattr(other, "name", None) != recorder.name for other in manager.plugins):
                manager.plugins.insert(1, recorder)  # unless the app has a recorder of its own
        names = {name.removesuffix("_service"): type(one).__name__ for name, one in services.items()}
        return {"app_name": app_name, "services": names}

    def _recorder(self, plugin: str, file: str) -> Any:
        """Return the plugin that records model and tool calls in a file: one for each file, as it remembers what the file holds."""
        if file not in self._recorders:
            spec = importlib.util.spec_from_file_location("inspector_recorder_plugin", plugin)
            assert spec is not None and spec.loader is not None
            module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self._recorders[file] = module.RecorderPlugin(file)
        return self._recorders[file]

    async def _ask_model(self, command: Command) -> dict[str, Any]:
        kind = google_adk.required("google.adk.models.llm_request", "LlmRequest")
        return await ask_model(self._loaded().root_agent, command["agent"], command["request"], kind)

    def _loaded(self) -> Agent:
        if self._agent is None:
            raise WorkerError("No agent is loaded.")
        return self._agent

    def _opened(self) -> Sessions:
        if self._sessions is None:
            raise WorkerError("The services are not open.")
        return self._sessions


async def _serve(commands: int, messages: int) -> None:
    worker = Worker(Channel(messages), commands)
    worker.mark_output()
    await worker.serve()


def main() -> None:
    """Run the worker; the arguments are the three descriptors, and `embedded` for the embedded runtime."""
    is_embedded = "embedded" in sys.argv[4:]
    commands, messages, lifeline = (int(argument) for argument in sys.argv[1:4])
    for descriptor in (commands, messages, lifeline):
        os.set_inheritable(descriptor, False)
    start_guarded(lifeline, commands, messages)
    if is_embedded:
        google_adk.use_embedded_runtime()
    sys.argv[:] = [sys.argv[0]]
    sys.dont_write_bytecode = True  # the folder is the user's
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    asyncio.run(_serve(commands, messages))
