"""A model request as a document: whole, and what is new since the agent's previous one. No Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from typing import TYPE_CHECKING, Any

from inspector_app.detail.fields_html import Fields, event_link, text_html
from inspector_app.detail.prompt_events import PromptEvent, events_of_contents, told_by
from inspector_app.detail.view_data import RequestDocument, Section
from inspector_app.documents.instruction_sources import placed_values
from inspector_app.documents.request_json import instruction_text, plain_tools, settings_of
from inspector_app.presentation.event_summary import text_of
from inspector_app.presentation.values import counted, preview, visible
from runtime.storage.recordings.recorded_call import RecordedModelRequest

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_MESSAGES = 80  # of a conversation, the last ones; the JSON has all
MOST_TEXT = 2_500  # characters of a message; of each of many, no more than its share of `MOST_TOGETHER`
MOST_TOGETHER = 32_000  # characters of a conversation, which take 30 ms to lay out
MOST_INSTRUCTION = 12_000  # characters of an instruction, and of all tools' descriptions
_MOST_WORDS = 3_000  # of a paragraph that are compared one by one
_MOST_COMPARED = 4_000  # messages or paragraphs of one side that are aligned; more would take seconds
_MOST_LINKS = 40
_MOST_TOOLS = 100
_CONTEXT = "For context:"


@dataclass(slots=True)
class Sources:
    """What a document is made of.

    Attributes:
        request: the request.
        answer: the event that the answer became.
        before: the agent's previous request; None if it is not known.
        events: the session's events before the call, and why each is not in the request.
        facts: what is known of the answer, in words.
        role_of: returns an author's colour role.
    """

    request: RecordedModelRequest
    answer: Event
    before: RecordedModelRequest | None = None
    events: Sequence[PromptEvent] = ()
    facts: str = ""
    role_of: Callable[[str], str] = field(default=lambda author: "text")


def request_document(sources: Sources) -> RequestDocument:
    """Return a request as a document. It may take long: call it on a thread."""
    request, before = sources.request, sources.before
    messages = _Messages(sources)
    answer = Section("Answer", sources.facts, _answer_html(sources.answer))
    whole = {
        "instruction": Section("Instruction", "", _instruction_html(sources)),
        "tools": Section("Tools", "", _tools_html(plain_tools(request.config.get("tools")))),
        "settings": Section("Settings", request.model or "", _settings_html(settings_of(request.config))),
        "conversation": messages.whole(),
        "answer": answer,
    }
    if before is None:
        return RequestDocument(_known(whole))
    tools = [plain_tools(one.config.get("tools")) for one in (before, request)]
    settings = [settings_of(one.config) for one in (before, request)]
    since = {
        "instruction": Section("Instruction", "", _changed_text(instruction_text(before.config), instruction_text(request.config))),
        "tools": Section("Tools", "", "".join(_changed(tools[0], tools[1], _tool_html))),
        "settings": Section("Settings", "", "".join(_changed(settings[0], settings[1], lambda name, value: _settings_html({name: value})))),
        "conversation": messages.since(before),
        "answer": answer,
    }
    is_same = (before.config, before.contents) == (request.config, request.contents)
    return RequestDocument(_known(whole), _known(since), is_same)


def _known(sections: Mapping[str, Section]) -> dict[str, Section]:
    return {name: section for name, section in sections.items() if section.html}


def _answer_html(event: Event) -> str:
    text = text_html(_cut(text_of(event), MOST_TEXT))
    calls = [_call_html(call.name, call.args) for call in event.get_function_calls()[:_MOST_LINKS]]
    problem = event.error_message or event.error_code
    failed = [f'<span class="bad">{text_html(_cut(problem, MOST_TEXT))}</span>'] if problem else []
    return "<br>".join(filter(None, (text, *calls, *failed))) or '<span class="dim">no content</span>'


def _settings_html(settings: Mapping[str, Any]) -> str:
    return Fields().html(settings) if settings else ""


# the instruction


def _instruction_html(sources: Sources) -> str:
    """Return the instruction, with the values that were put in marked and linked to the events that wrote them."""
    text = instruction_text(sources.request.config)
    shown, place, found = text[:MOST_INSTRUCTION], 0, []
    for start, end, key in placed_values(text, sources.request.agent_texts, lambda key: _values_of(sources.events, key)):
        if end > len(shown):
            break
        at = _written_at(sources.events, key, text[start:end])
        name = f"{{{visible(key[:60])}}}" + (f" event {at + 1:,}" if at is not None else "")
        label = event_link(at, name) if at is not None else f'<span class="dim">{escape(name)}</span>'
        value = text_html(text[start:end])
        found.append(f'{text_html(shown[place:start])}<span class="selected">{value}</span> <span class="small">{label}</span>')
        place = end
    found.append(text_html(shown[place:]))
    if len(text) > len(shown):
        found.append(f'<br><span class="dim">… {len(text) - len(shown):,} more characters, see JSON</span>')
    return "".join(found)


def _values_of(events: Sequence[PromptEvent], key: str) -> Iterator[str]:
    """Yield the values that a state key was given, the last one first, as an instruction has them."""
    return (str(entry.event.actions.state_delta[key]) for entry in reversed(events) if key in entry.event.actions.state_delta)


def _written_at(events: Sequence[PromptEvent], key: str, value: str) -> int | None:
    """Return the position of the event that wrote a state key or a file with this value; otherwise of the last one that wrote it."""
    kind, _, name = key.partition(".")
    last = None
    for entry in reversed(events):
        actions = entry.event.actions
        if kind == "artifact" and name in actions.artifact_delta:
            return entry.index
        if key in actions.state_delta:
            if str(actions.state_delta[key]) == value:
                return entry.index
            last = entry.index if last is None else last
    return last


def _changed_text(before: str, now: str) -> str:
    """Return a text with what was added and removed since an earlier form; nothing if they are equal."""
    if before == now:
        return ""
    old, new = (text[:MOST_INSTRUCTION].split("\n\n") for text in (before, now))
    pieces: list[str] = []
    for kind, old_start, old_end, new_start, new_end in _steps_between(old, new):
        if kind == "equal":
            count = old_end - old_start
            pieces.append(f'<p class="dim">··· {counted(count, "unchanged paragraph")}</p>')
        elif old_end - old_start == new_end - new_start:
            pairs = zip(old[old_start:old_end], new[new_start:new_end], strict=True)
            pieces += [f"<p>{_changed_words(one, other)}</p>" for one, other in pairs]
        else:
            pieces += [f"<p>{_gone(text_html(one))}</p>" for one in old[old_start:old_end]]
            pieces += [f"<p>{_added(text_html(one))}</p>" for one in new[new_start:new_end]]
    return "".join(pieces)


def _changed_words(before: str, now: str) -> str:
    old, new = (re.findall(r"\s+|\w+|[^\w\s]+", text) for text in (before, now))
    if max(len(old), len(new)) > _MOST_WORDS:
        return f"{_gone(text_html(before))}<br>{_added(text_html(now))}"
    pieces = []
    for kind, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(text_html("".join(new[new_start:new_end])))
            continue
        pieces += [_gone(text_html("".join(old[old_start:old_end])))] if old_end > old_start else []
        pieces += [_added(text_html("".join(new[new_start:new_end])))] if new_end > new_start else []
    return "".join(pieces)


def _gone(html: str) -> str:
    return f'<span class="removed gone">{html}</span>'


def _added(html: str) -> str:
    return f'<span class="added">{html}</span>'


def _changed(before: Mapping[str, Any], now: Mapping[str, Any], shown: Callable[[str, Any], str]) -> Iterator[str]:
    """Yield the items that only one of two mappings has, or that differ."""
    for name in {**before, **now}:
        if before.get(name) != now.get(name):
            if name in before:
                yield f'<div class="removed gone">{shown(name, before[name])}</div>'
            if name in now:
                yield f'<div class="added">{shown(name, now[name])}</div>'


# tools


def _tools_html(tools: Mapping[str, Any]) -> str:
    most = max(MOST_INSTRUCTION // max(len(tools), 1), 80)
    shown = [_tool_html(name, tool, most) for name, tool in list(tools.items())[:_MOST_TOOLS]]
    if len(tools) > _MOST_TOOLS:
        shown.append(f'<p class="dim">… {len(tools) - _MOST_TOOLS:,} more, see JSON</p>')
    return "".join(shown)


def _tool_html(name: str, declaration: Any, most: int = 600) -> str:
    description = declaration.get("description") if isinstance(declaration, Mapping) else None
    about = f'<br><span class="dim">{text_html(_cut(description.strip(), min(most, 600)))}</span>' if isinstance(description, str) else ""
    return f'<p><span class="mono">{escape(visible(signature(name, declaration)))}</span>{about}</p>'


def signature(name: str, declaration: Any) -> str:
    """Return a tool's declaration as a signature, such as `book(flight: string, seats?: integer)`."""
    if not isinstance(declaration, Mapping):
        return name
    schema = declaration.get("parameters") or declaration.get("parameters_json_schema") or {}
    fields = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Mapping):
        known = bool({"description", "response", "response_json_schema", "behavior"} & declaration.keys()) or not declaration
        return f"{name}()" if known else f"{name} {preview(declaration, 200)}"
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    shown = (f"{field}{'' if field in required else '?'}: {_type(form)}" for field, form in fields.items())
    answered = declaration.get("response") or declaration.get("response_json_schema")
    return f"{name}({', '.join(shown)})" + (f" → {_type(answered)}" if answered else "")


def _type(form: Any, depth: int = 0) -> str:
    if not isinstance(form, Mapping) or depth > 3:
        return "any"
    choices = form.get("anyOf") or form.get("any_of")
    if isinstance(choices, list):
        return " | ".join(dict.fromkeys(_type(one, depth + 1) for one in choices[:6]))
    if isinstance(form.get("enum"), list):
        return " | ".join(preview(one, 40) for one in form["enum"][:6]) + (" | …" if len(form["enum"]) > 6 else "")
    kind = form.get("type")
    kind = "any" if kind is None else " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    if kind.lower() == "array":
        return f"list of {_type(form.get('items'), depth + 1)}"
    return kind.lower()


# the conversation


def _steps_between(before: Sequence[Any], now: Sequence[Any]) -> list[tuple[str, int, int, int, int]]:
    """Return what leads from one sequence to another, as `SequenceMatcher.get_opcodes` does; very long rests are not aligned."""
    first = next((place for place, (one, other) in enumerate(zip(before, now, strict=False)) if one != other), min(len(before), len(now)))
    old, new = before[first:], now[first:]
    steps = [("equal", 0, first, 0, first)] if first else []
    if old and max(len(old), len(new)) <= _MOST_COMPARED:
        found = SequenceMatcher(None, [repr(item) for item in old], [repr(item) for item in new], autojunk=False).get_opcodes()
        return steps + [(kind, one + first, other + first, third + first, last + first) for kind, one, other, third, last in found]
    return steps + ([("replace", first, len(before), first, len(now))] if old or new else [])


class _Messages:
    """The conversation of a request, message by message."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._contents = sources.request.contents
        self._events = events_of_contents(sources.request, sources.events)
        self._most = MOST_TEXT

    def whole(self) -> Section:
        first = max(len(self._contents) - MOST_MESSAGES, 0)
        self._most = _share(len(self._contents) - first)
        rows = [_note_row(f"… {counted(first, 'earlier message')}, see JSON")] if first else []
        rows += [self._row(number) for number in range(first, len(self._contents))]
        return Section("Conversation", counted(len(self._contents), "message"), _table([*rows, *self._left_out()]))

    def since(self, before: RecordedModelRequest) -> Section:
        old, new = before.contents, self._contents
        rows: list[str] = []
        added = 0
        steps = _steps_between(old, new)
        self._most = _share(sum(step[2] - step[1] + step[4] - step[3] for step in steps if step[0] != "equal"))
        for kind, old_start, old_end, new_start, new_end in steps:
            if kind == "equal":
                rows.append(_note_row(f"··· {counted(new_end - new_start, 'unchanged message')}"))
                continue
            for start, end, row in ((old_start, old_end, self._old_row), (new_start, new_end, self._new_row)):
                rows += [row(place) for place in range(start, min(end, start + MOST_MESSAGES // 2))]
                if end - start > MOST_MESSAGES // 2:
                    rows.append(_note_row(f"… {counted(end - start - MOST_MESSAGES // 2, 'more message')}, see JSON"))
            added += new_end - new_start
        return Section("Conversation", f"{counted(len(new), 'message')} · {added:,} new", _table([*rows, *self._left_out()]))

    def _row(self, number: int, ground: str = "") -> str:
        entry = self._events[number]
        text, author = _message(self._contents[number], entry, self._most)
        role = self._sources.role_of(author) if entry is not None else "dim"
        link = f"<br>{event_link(entry.index, f'event {entry.index + 1:,}')}" if entry is not None else ""
        right = f'<span class="{role}">{escape(visible(author[:30]))}</span><span class="small">{link}</span>'
        return _row_html(f"{number + 1:,}", text, right, ground)

    def _new_row(self, number: int) -> str:
        return self._row(number, "added")

    def _old_row(self, number: int) -> str:
        assert self._sources.before is not None
        text, author = _message(self._sources.before.contents[number], None, self._most)
        return _row_html("", f'<span class="gone">{text}</span>', f'<span class="dim">{escape(visible(author[:30]))}</span>', "removed")

    def _left_out(self) -> Iterator[str]:
        """Yield a row for each reason why events, or parts of them, are not in the request."""
        places: dict[tuple[str, str], list[int]] = {}
        for entry in self._sources.events:
            if entry.reason or entry.partly:
                places.setdefault(("" if entry.reason else "part of ", entry.reason or entry.partly), []).append(entry.index)
        for (part, reason), found in places.items():
            links = ", ".join(event_link(place) for place in found[:_MOST_LINKS])
            more = f" and {len(found) - _MOST_LINKS:,} more" if len(found) > _MOST_LINKS else ""
            noun = "event" if len(found) == 1 else "events"
            yield _row_html("", f'<span class="dim">Left out: {part}{noun} {links}{more} · {escape(visible(reason))}</span>', "")


def _table(rows: Sequence[str]) -> str:
    return f'<table width="100%" cellspacing="0" cellpadding="4">{"".join(rows)}</table>' if rows else ""


def _row_html(number: str, text: str, right: str, ground: str = "") -> str:
    return (
        f'<tr class="{ground}"><td class="dim small" align="right" width="1" style="white-space: nowrap">{number}</td><td>{text}</td>'
        f'<td align="right" width="1" style="white-space: nowrap">{right}</td></tr>'
    )


def _note_row(text: str) -> str:
    return _row_html("", f'<span class="dim">{escape(text)}</span>', "")


def _message(content: Any, entry: PromptEvent | None, most: int) -> tuple[str, str]:
    """Return a content as HTML, without the preface of other agents' texts, and who it is from."""
    if not isinstance(content, Mapping):
        return text_html(_cut(str(content), most)), ""
    parts = [part for part in content.get("parts") or () if isinstance(part, Mapping)]
    author = entry.event.author if entry is not None else str(content.get("role") or "user")
    texts = [part.get("text") for part in parts]
    is_told = len(parts) > 1 and isinstance(texts[0], str) and texts[0].startswith(_CONTEXT) and isinstance(texts[1], str)
    told = [told_by(text) if isinstance(text, str) else ("", "") for text in texts]
    if is_told and entry is None and told[1][0]:
        author = told[1][0]
    pieces = []
    for place, part in enumerate(parts):
        if is_told and place == 0 and told[1][0] == author:
            continue
        by, said = told[place]
        pieces.append(text_html(_cut(said, most)) if is_told and by == author else _part_html(part, most))
        if sum(map(len, pieces)) > most and place + 1 < len(parts):
            pieces.append(f'<span class="dim">… {counted(len(parts) - place - 1, "more part")}, see JSON</span>')
            break
    return "<br>".join(pieces) or '<span class="dim">no content</span>', author


def _part_html(part: Mapping[str, Any], most: int) -> str:
    if isinstance(part.get("text"), str):
        html = text_html(_cut(part["text"], most))
        return f'<span class="dim">Thought: {html}</span>' if part.get("thought") else html
    if isinstance(call := part.get("function_call"), Mapping):
        return _call_html(call.get("name"), call.get("args"))
    if isinstance(response := part.get("function_response"), Mapping):
        name = escape(visible(str(response.get("name"))[:200]))
        return f'<span class="mono">{name} → {escape(preview(response.get("response"), 600))}</span>'
    if isinstance(blob := part.get("inline_data") or part.get("file_data"), Mapping):
        return f'<span class="dim">[{escape(visible(str(blob.get("mime_type"))[:80]))}]</span>'
    return f'<span class="mono">{escape(preview(part, 600))}</span>'


def _call_html(name: Any, args: Any) -> str:
    shown = ", ".join(f"{visible(str(key)[:60])}={preview(value, 200)}" for key, value in args.items()) if isinstance(args, Mapping) else ""
    return f'<span class="mono">{escape(visible(str(name)[:200]))}({escape(_cut(shown, 600))})</span>'


def _share(count: int) -> int:
    """Return how many characters of each of that many messages are shown."""
    return max(min(MOST_TEXT, MOST_TOGETHER // max(min(count, MOST_MESSAGES), 1)), 200)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit:,} more characters, see JSON)"
