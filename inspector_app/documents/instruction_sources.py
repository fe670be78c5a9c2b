"""Where each stretch of a system instruction comes from. No Qt.

A request holds one text. What the agent's author wrote is recorded beside it, with its placeholders, so its stretch is found by the text
between these. The other stretches are known by how the runtimes begin them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"(?<!\{)\{+[^{}]*\}+")
_OWN = (("static_instruction", "static instruction"), ("global_instruction", "global instruction"), ("instruction", "instruction"))
_BEGINNINGS = (
    ("You are an agent. Your internal name is", "name and description"),
    ("You are a part of a multi-agent system", "name and description"),
    (" The description about you is", "name and description"),
    ("These other agents can take over the conversation", "transfer"),
    ("You have a list of other agents to transfer to", "transfer"),
    ("When answering the question, try to leverage the available tools", "planner"),
    ("Find out what you need with the tools that you have", "planner"),
    ("Answer in these steps, each under its mark", "planner"),
    ("You remember earlier conversations", "memory"),
    ("There are these files", "tools: artifacts"),
    ("The following content is from your previous conversations", "memory"),
    ("You have a list of artifacts", "tools: artifacts"),
    ("<EXAMPLES>", "examples"),
)
OTHER = "tools, plugins or callbacks"


def instruction_sources(text: str, agent_texts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the stretches of a system instruction in order, each with its source.

    Args:
        text: the system instruction.
        agent_texts: see `RecordedModelRequest.agent_texts`; without them, only what the runtimes add is recognised.
    """
    spans = sorted(_own_spans(text, agent_texts))
    found: list[tuple[str, str]] = []
    place = 0
    for start, end, source in spans:
        if start >= place:
            found += _between(text[place:start], agent_texts)
            found.append((source, text[start:end]))
            place = end
    found += _between(text[place:], agent_texts)
    return _joined(found)


def placed_values(
    text: str, agent_texts: Mapping[str, Any], known: Callable[[str], Iterable[str]] = lambda key: ()
) -> list[tuple[int, int, str]]:
    """Return where values were put into the texts of the agent's author: begin, end and the placeholder's key, in order.

    Args:
        text, agent_texts: as in `instruction_sources`.
        known: returns values that a key may have had. A value that is not among them ends where the author's next words begin.
    """
    found: list[tuple[int, int, str]] = []
    for start, end, source in sorted(_own_spans(text, agent_texts)):
        written = _plain(agent_texts.get(next(name for name, title in _OWN if title == source)))
        pieces, keys = _PLACEHOLDER.split(written), [one.strip("{}? ") for one in _PLACEHOLDER.findall(written)]
        place = start + (len(pieces[0]) if text.startswith(pieces[0], start) else 0)
        for key, piece in zip(keys, pieces[1:], strict=True):
            ends = (place + len(value) for value in known(key) if value and text.startswith(value + piece, place))
            following = next(ends, text.find(piece, place, end) if piece else end)
            if following < 0:
                break
            if following > place:
                found.append((place, following, key))
            place = following + len(piece)
    return found


def _own_spans(text: str, agent_texts: Mapping[str, Any]) -> Iterator[tuple[int, int, str]]:
    for name, source in _OWN:
        written = _plain(agent_texts.get(name))
        span = _span(text, written) if written else None
        if span is not None:
            yield *span, source


def _plain(written: Any) -> str:
    """Return an author's text; the text of a content's parts; nothing for a function."""
    if isinstance(written, str):
        return written.strip()
    parts = written.get("parts") if isinstance(written, Mapping) else None
    texts = [part["text"] for part in parts or () if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "\n\n".join(texts).strip()


def _span(text: str, written: str) -> tuple[int, int] | None:
    """Return where a text with placeholders is, or None. A placeholder at its begin or end reaches to the next empty line."""
    pieces = _PLACEHOLDER.split(written)
    place: int | None = None
    start = 0
    for piece in pieces:
        if not piece:
            continue
        found = text.find(piece, place or 0)
        if found < 0:
            return None
        if place is None:
            start = found
        place = found + len(piece)
    if place is None:
        return None
    if not pieces[0]:
        start = text.rfind("\n\n", 0, start) + 2 if "\n\n" in text[:start] else 0
    if not pieces[-1]:
        following = text.find("\n\n", place)
        place = following if following >= 0 else len(text)
    return start, place


def _between(text: str, agent_texts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs that the author did not write, or whose text a function made."""
    source = ""
    for paragraph in text.split("\n\n"):
        if paragraph.strip():
            source = _source(paragraph, source, agent_texts)
            yield source, paragraph.strip("\n")


def _source(paragraph: str, before: str, agent_texts: Mapping[str, Any]) -> str:
    for begin, source in _BEGINNINGS:
        if paragraph.lstrip("\n").startswith(begin):
            return source
    if "set_model_response" in paragraph:
        return "output schema"
    if "<PAST_CONVERSATIONS>" in paragraph:
        return "memory"
    if before in ("transfer", "planner", "memory", "examples"):  # they have several paragraphs
        return before
    functions = [source for name, source in _OWN if isinstance(agent_texts.get(name), Mapping) and "function" in agent_texts[name]]
    return f"{functions[0]} (a function)" if functions else OTHER


def _joined(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    joined: list[tuple[str, str]] = []
    for source, text in found:
        if joined and joined[-1][0] == source:
            joined[-1] = (source, f"{joined[-1][1]}\n\n{text}")
        elif text:
            joined.append((source, text))
    return joined
