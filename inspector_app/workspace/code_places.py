"""Which code is behind an event or a hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from inspector_app.engines.protocol import Agent, CodePlace
from inspector_app.presentation.code_link import CodeLink
from runtime.debugger.calls import ToolCall
from runtime.debugger.hold import Hold
from runtime.events.kinds import node_path
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.engines import child_calls
    from inspector_app.engines.adk_worker import errors, frames
    from runtime.events.event import Event
else:
    child_calls = lazy_module("inspector_app.engines.child_calls")
    errors = lazy_module("inspector_app.engines.adk_worker.errors")
    frames = lazy_module("inspector_app.engines.adk_worker.frames")

_FRAME = re.compile(r'^ *File "(.+)", line (\d+)', re.MULTILINE)


def links_of_event(event: Event, places: Sequence[CodePlace]) -> list[CodeLink]:
    """Return the code behind an event: of the tools that it calls or answers, its agent, and the agent's callbacks."""
    names = [call.name for call in event.get_function_calls()] + [answer.name for answer in event.get_function_responses()]
    return _links(names, list(dict.fromkeys([*reversed(node_path(event)), event.author])), places)


def links_of_tracebacks(texts: Iterable[str], folder: Path) -> list[CodeLink]:
    """Return where errors were raised: the last line of the agent's own code in each traceback."""
    found = ([frame for frame in _FRAME.findall(text) if frames.is_agents(frame[0], folder)] for text in texts)
    return list(dict.fromkeys(CodeLink("raised here", own[-1][0], int(own[-1][1])) for own in found if own))


def links_of_hold(hold: Hold, agent: Agent) -> list[CodeLink]:
    """Return the code behind a hold: where an error was raised, the tool, the agent, and the agent's callbacks."""
    names = [hold.call.name] if isinstance(hold.call, ToolCall) else []
    if hold.event is not None:
        return links_of_event(hold.event, agent.places)
    links = _links(names, [hold.agent or ""], agent.places)
    if hold.error is not None:
        if isinstance(hold.error, child_calls.AgentCodeError):
            found = hold.error.file, hold.error.line
        else:
            found = errors.place_of(hold.error, agent.folder)
        if found[0] is not None:
            links.insert(0, CodeLink("raised here", found[0], found[1] or 1))
    return links


def _links(tools: Iterable[str | None], agents: Sequence[str], places: Sequence[CodePlace]) -> list[CodeLink]:
    found: dict[tuple[str, int], CodeLink] = {}
    for name in tools:
        near = [place for place in places if place.kind == "tool" and place.name == name]
        for place in sorted(near, key=lambda place: place.agent not in agents)[:1]:
            found.setdefault((place.file, place.line), CodeLink(f"tool {place.name}", place.file, place.line))
    for kind in ("agent", "callback"):
        for place in (place for agent in agents for place in places if place.agent == agent):
            if place.kind == kind:
                what = f"agent {place.name}" if kind == "agent" else place.name
                found.setdefault((place.file, place.line), CodeLink(what, place.file, place.line))
    return [link for link in found.values() if Path(link.file).is_absolute()]
