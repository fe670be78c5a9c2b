"""What fills the requests to a model, and what made a model's cache useless."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.documents.instruction_sources import placed_values
from inspector_app.documents.request_json import instruction_text, plain_tools, settings_of
from inspector_app.presentation.costs import dollars
from inspector_app.presentation.tokens import Tokens, file_tokens, tokens_of
from inspector_app.presentation.values import preview, visible
from runtime.errors import StorageError
from runtime.storage.recordings.recorded_call import RecordedModelCall, RecordedModelRequest
from runtime.support.context_window import context_window

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events import Event

NEARLY_FULL = 0.8  # of a model's window
LARGE = 8_000  # characters, about 2,000 tokens: a smaller result costs little
_LEAST_REQUESTS = 2  # that have a result for it to be "every later one"
_CACHE_KEPT = 300  # seconds that providers keep a prefix at least; later, it may be lost without a change
_LEAST_CACHED = 1_024  # tokens; providers cache no shorter requests
_MOST_COMPARED = 200  # requests of a session; each is read whole
_LONGEST = 60  # characters of a value in a sentence
_Agent = tuple[str, str]


def near_the_window(facts: SessionFacts) -> Iterator[Finding]:
    """Find agents whose requests fill more than 80 % of their model's window; the first of these requests for each agent."""
    reported: set[_Agent] = set()
    for event in facts.events:
        tokens, agent = _tokens(event), _agent(event)
        if tokens is None or agent in reported or event.invocation_id in facts.rewound:
            continue
        model = facts.model(event)
        window = context_window(model)
        if window and tokens.input > NEARLY_FULL * window:
            reported.add(agent)
            yield facts.finding(
                "context nearly full",
                "warning",
                event.id,
                f"The request has {tokens.input:,} tokens, {tokens.input / window:.0%} of the {window:,} of {visible(model or '')}.",
                f"Beyond its window, a model refuses the request or loses its beginning.{facts.paid([event])}",
                "Summarise earlier events (events_compaction_config), start a new session, or let tools return less.",
            )


def filled_by_one(facts: SessionFacts) -> Iterator[Finding]:
    """Find a result, or a text of a person, that is more than half of every later request of its agent.

    Characters of the conversation tell which one may be. Where models report tokens, these decide: what a request grew by, less the answer
    and all else that came in between.
    """
    sizes = [_sizes(event) if event.invocation_id not in facts.rewound and not event.partial else [] for event in facts.events]
    before = [0, *accumulate(sum(size for _, size in parts) for parts in sizes)]  # characters of all events before a place
    ends = [place for place, event in enumerate(facts.events) if event.actions.compaction]
    for place, (event, parts) in enumerate(zip(facts.events, sizes, strict=True)):
        for name, size in parts:
            if size < LARGE or 2 * size <= before[place + 1]:
                continue
            end = next((one for one in ends if one > place), len(facts.events))
            later = _requests_after(facts, place, end)
            if len(later) < _LEAST_REQUESTS or any(2 * size <= before[at] for at in later):
                continue
            tokens = _tokens_of(facts, place, size, before, later[0])
            prompts = [found.input for at in later if (found := _tokens(facts.events[at]))]
            if prompts and (tokens is None or 2 * tokens <= max(prompts)):
                continue
            known = f" They are about {tokens:,} tokens of each request, up to {max(prompts):,} in all." if tokens else ""
            yield facts.finding(
                "fills the context",
                "warning" if tokens else "note",
                event.id,
                f"{name} has {size:,} characters, more than half of the conversation in each of the {len(later)} later requests.{known}",
                f"It is sent and paid for again with each of them.{_carried(facts, tokens, later)}",
                "Let the tool return only what is asked for, or store the rest as an artifact that the agent loads when it needs it.",
            )


def filled_by_files(facts: SessionFacts) -> Iterator[Finding]:
    """Find files that are more than half of each of an agent's later requests, by the tokens that the model reports for them."""
    requests: dict[_Agent, list[int]] = {}
    for place, event in enumerate(facts.events):
        if _tokens(event) is not None and event.invocation_id not in facts.rewound:
            requests.setdefault(_agent(event), []).append(place)
    for places in requests.values():
        later = list(takewhile(lambda place: _is_mostly_files(facts.events[place]), reversed(places)))
        sent = next((event for event in reversed(facts.events[: min(later, default=0)]) if _has_file(event)), None)
        if len(later) < _LEAST_REQUESTS or sent is None:
            continue
        tokens = min(file_tokens(facts.events[place].usage_metadata) for place in later)
        yield facts.finding(
            "fills the context",
            "warning",
            sent.id,
            f"Files are at least {tokens:,} tokens, more than half, of each of the {len(later)} later requests.",
            f"They are sent and paid for again with each of them.{_carried(facts, tokens, later)}",
            "Save files as artifacts, which an agent loads when it needs them, or send smaller ones.",
        )


def _is_mostly_files(event: Event) -> bool:
    found = _tokens(event)
    return found is not None and 2 * file_tokens(event.usage_metadata) > found.input


def _has_file(event: Event) -> bool:
    return any(part.inline_data or part.file_data for part in (event.content.parts if event.content else None) or ())


def lost_caches(facts: SessionFacts) -> Iterator[Finding]:
    """Find requests whose beginning differs from the agent's previous one, so that the provider's cache of it could not be used."""
    before: dict[_Agent, RecordedModelCall] = {}
    caching = {facts.model(event) for event in facts.events if (found := _tokens(event)) and found.cached}
    compared = 0
    for call in facts.recorded.models:
        if call.event_id not in facts.places or call.invocation_id in facts.rewound:
            continue
        agent, event = (call.agent, call.branch or ""), facts.events[facts.places[call.event_id]]
        previous, before[agent] = before.get(agent), call
        if previous is None or call.started - previous.started - (previous.ended or 0.0) > _CACHE_KEPT:
            continue
        asked = facts.events[facts.places[previous.event_id or ""]]
        had, has = _tokens(asked), _tokens(event)
        if had is None or has is None or facts.model(asked) not in caching or compared == _MOST_COMPARED:
            continue
        lost = had.cached - has.cached if had.cached else 0 if has.cached else had.input
        if lost < (1 if had.cached else _LEAST_CACHED):
            continue
        compared += 1
        if causes := _causes(facts, previous, call, event):
            most = "" if had.cached else "up to "
            known = f"{lost:,} cached tokens were not used again" if had.cached else f"Up to {lost:,} tokens could not be cached"
            cost = _price(facts, facts.model(event), lost, event.timestamp)
            yield facts.finding(
                "cache lost",
                "warning" if had.cached else "note",
                event.id,
                f"{known}: {' and '.join(causes)}.",
                f"A cache holds the beginning of a request, up to the first change.{f' The loss cost {most}{cost}.' if cost else ''}",
                "Put what changes at the end: in the message or a tool's result, and not in the instruction or the tools.",
            )


def _causes(facts: SessionFacts, before: RecordedModelCall, now: RecordedModelCall, event: Event) -> list[str]:
    if facts.recording is None:
        return []
    try:
        return _changed(facts, facts.recording.request(before.number), facts.recording.request(now.number), event)
    except StorageError:  # the request's tab reports it
        return []


def _changed(facts: SessionFacts, before: RecordedModelRequest, now: RecordedModelRequest, event: Event) -> list[str]:
    """Return which parts of a request's beginning differ from the previous one's; empty if it only continues it."""
    if before.model != now.model:
        return [f"the model was {visible(str(before.model))} and is {visible(str(now.model))}"]
    found = [*_changed_tools(before.config, now.config), *_changed_instruction(facts, before, now, event)]
    old, new = settings_of(before.config), settings_of(now.config)
    if not found:
        found = [f"the setting {visible(name)} differs" for name in sorted({*old, *new}) if old.get(name) != new.get(name)][:1]
    if not found and now.contents[: len(before.contents)] != before.contents:
        pairs = zip(before.contents, now.contents, strict=False)
        first = next((place for place, (one, other) in enumerate(pairs) if one != other), len(now.contents))
        found = [f"the conversation differs from its content {first + 1} of {len(before.contents)} on"]
    return found


def _changed_tools(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    old, new = plain_tools(before.get("tools")), plain_tools(now.get("tools"))
    added, gone = [name for name in new if name not in old], [name for name in old if name not in new]
    texts = [name for name in new if name in old and new[name] != old[name]]
    found = [
        f"{words}: {visible(', '.join(names))}"
        for words, names in (("there is a new tool", added), ("a tool was removed", gone), ("a tool's declaration differs", texts))
        if names
    ]
    return found or (["the tools are in another order"] if [*old] != [*new] else [])


def _changed_instruction(facts: SessionFacts, before: RecordedModelRequest, now: RecordedModelRequest, event: Event) -> list[str]:
    old, new = instruction_text(before.config), instruction_text(now.config)
    if old == new:
        return []
    was, values = placed_values(old, before.agent_texts), placed_values(new, now.agent_texts)
    if [key for *_, key in was] == [key for *_, key in values]:
        for (start, end, key), (first, last, _) in zip(was, values, strict=True):
            if old[start:end] != new[first:last]:
                shown = f"{preview(old[start:end], _LONGEST)} and is {preview(new[first:last], _LONGEST)}"
                return [f"the value of {{{visible(key)}}} in the instruction was {shown}{_writer(facts, key, event)}"]
    pairs = zip(old.split("\n\n"), new.split("\n\n"), strict=False)
    place = next((number for number, (one, other) in enumerate(pairs, 1) if one != other), None)
    return [f"paragraph {place} of the instruction differs" if place else "the instruction has another end"]


def _writer(facts: SessionFacts, key: str, event: Event) -> str:
    earlier = facts.events[: facts.places[event.id]]
    places = (place for place, one in reversed([*enumerate(earlier, 1)]) if key in one.actions.state_delta)
    place = next(places, None)
    return f", written by event {place}" if place is not None else ""


def _price(facts: SessionFacts, model: str | None, tokens: int, time: float) -> str:
    """Return what tokens cost more that are not read from a cache; empty if unknown."""
    dear, cheap = (facts.prices.cost(model, Tokens(input=tokens, cached=cached), time) for cached in (0, tokens))
    return dollars(dear - cheap) if dear is not None and cheap is not None and dear > cheap else ""


def _carried(facts: SessionFacts, tokens: int | None, later: Sequence[int]) -> str:
    """Return what a part of some requests cost, as a sentence after a blank: cached as far as the request was."""
    total = Decimal(0)
    for place in later:
        event = facts.events[place]
        found = _tokens(event)
        if not tokens or found is None:
            return ""
        cost = facts.prices.cost(facts.model(event), Tokens(input=tokens, cached=min(tokens, found.cached)), event.timestamp)
        if cost is None:
            return ""
        total += cost
    return f" This cost about {dollars(total)}."


def _tokens(event: Event) -> Tokens | None:
    return None if event.partial or event.author == "user" else tokens_of(event.usage_metadata)


def _agent(event: Event) -> _Agent:
    return event.author, event.branch or ""


def _requests_after(facts: SessionFacts, place: int, end: int) -> list[int]:
    """Return the places of the later answers of the agent that answers next."""
    answers = [at for at in range(place + 1, end) if _is_answer(facts.events[at]) and facts.events[at].invocation_id not in facts.rewound]
    return [at for at in answers if _agent(facts.events[at]) == _agent(facts.events[answers[0]])]


def _is_answer(event: Event) -> bool:
    return event.author != "user" and not event.partial and event.content is not None and event.content.role == "model"


def _tokens_of(facts: SessionFacts, place: int, size: int, before: Sequence[int], first: int) -> int | None:
    """Return the tokens that the first request with a part grew by, None if unknown; the other characters in between count one each."""
    now = _tokens(facts.events[first])
    agent = _agent(facts.events[first])
    earlier = (at for at in range(place - 1, -1, -1) if _agent(facts.events[at]) == agent and _tokens(facts.events[at]))
    last = next(earlier, None)
    if now is None or last is None:
        return None
    had = _tokens(facts.events[last])
    assert had is not None
    return max(now.input - had.input - had.output - (before[first] - before[last + 1] - size), 0)


def _sizes(event: Event) -> list[tuple[str, int]]:
    """Return the parts of an event that requests hold, in words, and their characters. Files have no size that tells their tokens."""
    return [named for part in (event.content.parts if event.content else None) or () if (named := _size(event, part)) is not None]


def _size(event: Event, part: types.Part) -> tuple[str, int] | None:
    if part.function_response is not None:
        written = json.dumps(part.function_response.response, default=str, ensure_ascii=False)
        return f"The result of {visible(part.function_response.name or '?')}", len(written)
    if part.function_call is not None:
        return f"The call of {visible(part.function_call.name or '?')}", len(json.dumps(part.function_call.args, default=str))
    if part.text and not part.thought:
        return ("The message" if event.author == "user" else f"The answer of {visible(event.author)}"), len(part.text)
    return None
