"""Where the code of agents, tools and callbacks is."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import sys
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

from .frames import is_agents
from .plugin_file import plugin

MAX_FILES = 200  # of an agent's code that are searched for the places of its agents

CALLBACKS = (
    "before_agent_callback",
    "after_agent_callback",
    "before_model_callback",
    "after_model_callback",
    "on_model_error_callback",
    "before_tool_callback",
    "after_tool_callback",
    "on_tool_error_callback",
    "instruction",
    "global_instruction",
)


def code_places(root: Any, folder: Path) -> list[dict[str, Any]]:
    """Return where the code of agents, tools and callbacks is: `kind`, `agent`, `name`, `file`, `line`.

    An agent's place is the call that names it, found in the source; of an agent whose name is computed, its class in the agent's folder.
    """
    named = _named_calls(folder)
    places: list[dict[str, Any]] = []
    remaining, seen = [root], set()
    while remaining:
        agent = remaining.pop(0)
        if id(agent) in seen:
            continue
        seen.add(id(agent))
        name = str(getattr(agent, "name", "") or type(agent).__name__)
        place = _place_of_code(getattr(agent, "_func", None)) or named.get(name) or _place_of_class(type(agent), folder)
        places += _entry("agent", name, name, place)
        for tool in getattr(agent, "tools", None) or ():
            inner = getattr(tool, "agent", None)
            if inner is not None:
                remaining.append(inner)
                inner_name = str(getattr(inner, "name", ""))
                places += _entry("tool", name, plugin.tool_name(tool), named.get(inner_name) or _place_of_class(type(inner), folder))
            else:
                code = _place_of_code(getattr(tool, "func", None)) or _place_of_code(tool)
                places += _entry("tool", name, plugin.tool_name(tool), code or _place_of_class(type(tool), folder))
        for hook in CALLBACKS:
            found = getattr(agent, hook, None)
            for function in found if isinstance(found, (list, tuple)) else [found]:
                places += _entry("callback", name, hook, _place_of_code(function))
        remaining += list(getattr(agent, "sub_agents", None) or ()) + plugin.graph_nodes(agent)
    return places


def _entry(kind: str, agent: str, name: str, place: tuple[str, int] | None) -> list[dict[str, Any]]:
    return [{"kind": kind, "agent": agent, "name": name, "file": place[0], "line": place[1]}] if place is not None else []


def _place_of_code(function: Any) -> tuple[str, int] | None:
    for _ in range(20):
        if not isinstance(function, functools.partial):
            break
        function = function.func
    if not isinstance(function, (FunctionType, MethodType)):
        return None
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else None


def _place_of_class(kind: type, folder: Path) -> tuple[str, int] | None:
    """Return where a class of the agent's own code begins."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not isinstance(file, str) or not is_agents(file, folder):
        return None
    with contextlib.suppress(OSError, TypeError, SyntaxError):
        return file, inspect.getsourcelines(kind)[1]
    return None


def loaded_files(folder: Path) -> list[str]:
    """Return the files of the agent's own code that are loaded, and its YAML files."""
    modules = {file for module in list(sys.modules.values()) if isinstance(file := getattr(module, "__file__", None), str)}
    return sorted({*(file for file in modules if is_agents(file, folder)), *map(str, folder.glob("*.yaml"))})


def _named_calls(folder: Path) -> dict[str, tuple[str, int]]:
    """Return the places of the calls in the agent's loaded files whose argument `name` is a constant, by name; and of YAML agents."""
    found: dict[str, tuple[str, int]] = {}
    for file in [one for one in loaded_files(folder) if one.endswith(".py")][:MAX_FILES]:
        with contextlib.suppress(OSError, SyntaxError, ValueError, RecursionError):
            for node in ast.walk(ast.parse(Path(file).read_bytes())):
                if not isinstance(node, ast.Call):
                    continue
                for keyword in node.keywords:
                    if keyword.arg == "name" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str):
                        found.setdefault(keyword.value.value, (file, node.lineno))
    for yaml in sorted(folder.glob("*.yaml"))[:MAX_FILES]:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            for number, line in enumerate(yaml.read_text("utf-8").splitlines(), 1):
                if line.startswith("name:"):
                    found.setdefault(line[5:].strip().strip("'\""), (str(yaml), number))
    return found
