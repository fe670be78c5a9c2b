"""Which engine runs an agent."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from inspector_app.engines.code_files import code_files
from inspector_app.engines.environments import Decision, find_environment
from inspector_app.engines.samples import is_bundled
from runtime.errors import KnownError
from runtime.support.linkless import open_named

EngineKind = Literal["adk", "embedded", "embedded-process"]
ENGINE_KINDS: tuple[EngineKind, ...] = get_args(EngineKind)

_NO_ADK = "because no environment has google-adk. Name one with --python"

MAX_TEXT = 200_000  # bytes of a file that are searched for imports; these are near its top

_IMPORTS_ADK = re.compile(rb"^[ \t]*(?:from|import)[ \t]+google\.adk\b|^[ \t]*from[ \t]+google[ \t]+import[ \t]+adk\b", re.MULTILINE)
_IMPORTS_RUNTIME = re.compile(rb"^[ \t]*(?:from|import)[ \t]+runtime\b", re.MULTILINE)


class NoEngineError(KnownError):
    """The engine that the user chose cannot run the agent."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What the user chose for an agent.

    Attributes:
        kind: the engine; None leaves it to `plan_engine`.
        python: the Python, or the folder of its environment, for google-adk; None searches for it.
        debugpy: the port where a debugger may attach to the agent's process; None: none may.
    """

    kind: EngineKind | None = None
    python: str | None = None
    debugpy: int | None = None


@dataclass(frozen=True, slots=True)
class EnginePlan:
    """Which engine runs an agent, and why.

    Attributes:
        kind: the engine.
        decision: the environments that were found.
        reason: why, as the end of a sentence.
        debugpy: the port where a debugger may attach to the agent's process; None: none may.
        lacks_adk: whether the agent would run on google-adk if one of its environments had it.
    """

    kind: EngineKind
    decision: Decision
    reason: str
    debugpy: int | None = None
    lacks_adk: bool = False

    @property
    def sentence(self) -> str:
        """The engine as a sentence, for the question whether to trust the agent."""
        if self.kind == "adk":
            return f"It runs on {self.decision.environment}, in a process of its own."
        where = "in a process of its own" if self.kind == "embedded-process" else "in this process"
        return f"It runs on the embedded runtime, {where}." + (" None of its environments has google-adk." if self.lacks_adk else "")

    def lines(self) -> list[str]:
        """Return the whole decision as lines."""
        chosen = self.decision.environment if self.kind == "adk" else "the embedded runtime"
        return [*self.decision.lines(f"Chosen: {chosen}, {self.reason}."), *([] if self.kind == "adk" else [self.sentence])]


def plan_engine(path: str | Path, choice: EngineChoice) -> EnginePlan:
    """Choose the engine of an agent. No code runs.

    google-adk is chosen if the agent's environment has it, unless the agent imports `runtime` and not `google.adk`. On Windows, where an
    engine's process cannot be guarded, the embedded runtime runs each agent.

    Raises:
        NoEngineError: google-adk was chosen, and the Python does not have it; or debugpy for an agent in this process; or, on Windows, an
            engine with a process of its own.
        EnvironmentNotFoundError: the chosen Python does not exist.
    """
    has_processes = sys.platform != "win32"
    if not has_processes and (choice.kind not in (None, "embedded") or choice.debugpy is not None):
        raise NoEngineError("On Windows, agents run in the inspector's own process. Choose the engine embedded, without debugpy.")
    decision = find_environment(path, python=choice.python)
    if choice.kind == "adk" and not decision.has_adk:
        raise NoEngineError(f"{decision.environment.python} has no google-adk. Install it there, or name another Python with --python.")
    folder = decision.agent if decision.agent.is_dir() else decision.agent.parent
    reason = _why_embedded(choice, decision, folder) if has_processes else "because it runs every agent on Windows"
    if not reason:
        source = "as given" if choice.python is not None else f"from {decision.source}"
        return EnginePlan("adk", decision, source, choice.debugpy)
    lacks_adk = reason == _NO_ADK
    if choice.debugpy is None:
        return EnginePlan(choice.kind or "embedded", decision, reason, lacks_adk=lacks_adk)
    if choice.kind == "embedded":
        raise NoEngineError("debugpy needs an agent in a process of its own. Choose the engine adk or embedded-process.")
    return EnginePlan("embedded-process", decision, reason, choice.debugpy, lacks_adk)


def _why_embedded(choice: EngineChoice, decision: Decision, folder: Path) -> str:
    """Return why an agent runs on the embedded runtime; empty if it runs on google-adk."""
    if choice.kind in ("embedded", "embedded-process"):
        return f"because the engine {choice.kind} was named"
    if choice.kind is None and is_bundled(folder):
        return "because the agent is one of Agent Inspector's own"
    if choice.kind is None and _is_for_embedded_runtime(folder):
        return "because the agent imports runtime, and not google.adk"
    if decision.has_adk:
        return ""
    return _NO_ADK if choice.python is None else f"because {decision.environment} was named"


def _is_for_embedded_runtime(folder: Path) -> bool:
    imports_runtime = False
    for name in code_files(folder, (".py",)).files:
        try:
            with open_named(folder / name) as opened:
                text = opened.read(MAX_TEXT)
        except OSError:
            continue
        if _IMPORTS_ADK.search(text):
            return False
        imports_runtime = imports_runtime or bool(_IMPORTS_RUNTIME.search(text))
    return imports_runtime
