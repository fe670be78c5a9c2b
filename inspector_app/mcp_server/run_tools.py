"""Orders that run an agent: begin, continue, resume, and run again with a changed result. Only with `--allow-runs`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from google.genai import types

from inspector_app.engines.protocol import Engine
from inspector_app.mcp_server.answers import LINE, ROWS, cut, event_row, short
from inspector_app.mcp_server.places import Places, whole_event_id
from inspector_app.mcp_server.reading_tools import DATABASE, EVENT, SESSION
from inspector_app.mcp_server.runs import Run, Runs, RunStateError, breakpoints_of
from inspector_app.mcp_server.tool import Parameter, Tool, WrongArgumentError
from inspector_app.presentation.result_override import changed_in, overridden_content
from runtime.debugger.calls import ModelCall, ToolCall
from runtime.errors import NotFoundError
from runtime.events.event import Event
from runtime.events.marks import CONFIRMATION_CALL, CREDENTIAL_CALL
from runtime.forks.fork import Cut, fork_session
from runtime.forks.recording import RecordingError, overridable_part, recording_until
from runtime.history.invocations import PendingItem
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.worker_threads import run_in_thread

_AGENT = Parameter("The agent's folder. Leave it out if the server was started on one only.")
_UNTIL = Parameter(
    "Hold there: step (the next event) · before tool NAME · before tool · before model · error · or a condition over committed events,"
    " such as response.pay.status == 'failed'. Default: run to the end."
)
_SECONDS = Parameter("How long to wait for it. Default: 60.", "integer")
_HOW = ("continue", "step", "over", "into", "out", "stop")
_ANSWER_NAMES = {"confirmation": CONFIRMATION_CALL, "credential": CREDENTIAL_CALL}


def run_tools(places: Places, runs: Runs) -> list[Tool]:
    """Return the tools that run agents."""
    orders = _Orders(places, runs)
    common = {"agent": _AGENT, "until": _UNTIL, "seconds": _SECONDS}
    where = {"session": SESSION, "database": DATABASE}
    return [
        Tool(
            "run_agent",
            "Send an agent a message in a new session, or in one that this server ran before, and hold it where you say.",
            {
                "message": Parameter("The user's message.", is_needed=True),
                "session": Parameter("A session of this server's runs to continue. Default: a new one."),
                **common,
            },
            orders.run_agent,
            changes=True,
        ),
        Tool(
            "continue_run",
            "Continue a held run, perhaps with a change: other arguments, a result or an error in place of the tool's, an answer in"
            " place of the model's.",
            {
                "how": Parameter("Default: continue.", choices=_HOW),
                "args": Parameter("Before a tool call: the arguments to call it with.", "object"),
                "result": Parameter("Before a tool call: a result; the tool does not run.", "object"),
                "error": Parameter("Before a tool call: the message of an exception; the tool does not run."),
                "answer": Parameter("Before a model call: a text; the model is not called."),
                "until": _UNTIL,
                "seconds": _SECONDS,
            },
            orders.continue_run,
            changes=True,
        ),
        Tool(
            "resume_run",
            "Resume an interrupted or waiting invocation in a copy of its session; the original is not changed.",
            {
                **where,
                "response": Parameter(
                    'The answer to the call that waits, such as {"confirmed": true} or {"status": "approved"}.', "object"
                ),
                **common,
            },
            orders.resume_run,
            changes=True,
        ),
        Tool(
            "rerun_with_change",
            "Repeat an invocation in a copy of its session: as recorded up to an event, with that event's tool result or model answer"
            " replaced, and live from there on. Then what_differs compares the two.",
            {
                **where,
                "event": Parameter(f"{EVENT} A tool's result, or a model's answer.", is_needed=True),
                "result": Parameter("The result in place of the tool's.", "object"),
                "answer": Parameter("The text in place of the model's."),
                **common,
            },
            orders.rerun_with_change,
            changes=True,
        ),
    ]


class _Orders:
    """Carries out the orders."""

    def __init__(self, places: Places, runs: Runs) -> None:
        self._places = places
        self._runs = runs

    async def run_agent(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        breakpoints_of(given["until"])
        path = self._agent(given["agent"])
        key = None
        if given["session"] is not None:
            if self._runs.store.target not in self._places.databases:
                raise RunStateError("There is no session of this server's runs yet. Leave `session` out.")
            _, key = self._places.session(self._runs.store.target, given["session"])
        agent = await self._runs.agent(path)
        message = types.Content(role="user", parts=[types.Part(text=given["message"])])

        def begin(engine: Engine, session: SessionKey) -> AsyncGenerator[Event, None]:
            return engine.run(session, message)

        run = await self._runs.start(path, agent, key, "user", begin, given["until"])
        return await self._report(run, given["seconds"])

    async def continue_run(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        run = self._runs.held()
        changes = {name: given[name] for name in ("args", "result", "error", "answer") if given[name] is not None}
        if len(changes) > 1:
            raise WrongArgumentError(f"Give one change, not {' and '.join(changes)}.")
        how = given["how"] or "continue"
        if changes:
            _change(run, changes)
        if given["until"] is not None:
            wanted = breakpoints_of(given["until"])
            for known in run.debugger.breakpoints:
                run.debugger.breakpoints.remove(known.id)
            for one in wanted:
                run.debugger.breakpoints.add(one.condition, when=one.when, tool=one.tool)
        step = "step" if given["until"] == "step" and how == "continue" else how
        debugger = run.debugger
        orders = {
            "continue": debugger.resume,
            "step": debugger.step,
            "over": debugger.step_over,
            "into": debugger.step_into,
            "out": debugger.step_out,
            "stop": debugger.stop,
        }
        if run.hold is not None or step == "stop":
            orders[step]()
        return await self._report(run, given["seconds"])

    async def resume_run(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        breakpoints_of(given["until"])
        target, key = self._places.session(given["database"], given["session"])
        path = self._agent(given["agent"])
        with StoredDatabase.open(target) as database:
            pending = [item for each in database.invocations(key) for item in each.pending]
        if not pending:
            raise NotFoundError("No invocation of this session waits or was interrupted. Ask what_happened.")
        item = pending[-1]
        if given["response"] is not None and item.call_id is None:
            raise WrongArgumentError("The invocation was interrupted and waits for no answer: leave `response` out.")
        if given["response"] is None and item.call_id is not None:
            raise WrongArgumentError(f"{item.name} waits for an answer ({item.kind}): give `response`.")
        agent = await self._runs.agent(path)
        made = key if target == self._runs.store.target else await self._copy(target, key, Cut())
        answer = _answer_to(item, given["response"]) if given["response"] is not None else None
        run = await self._runs.start(
            path, agent, made, key.user_id, lambda engine, session: engine.run(session, answer, item.invocation_id), given["until"]
        )
        return await self._report(run, given["seconds"])

    async def rerun_with_change(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        breakpoints_of(given["until"])
        target, key = self._places.session(given["database"], given["session"])
        path = self._agent(given["agent"])
        with StoredDatabase.open(target) as database:
            events = database.events(key)
        event = events[whole_event_id([event.id for event in events], given["event"])]
        recording = recording_until(events, event.id)
        if (given["result"] is None) == (given["answer"] is None):
            raise WrongArgumentError("Give either `result` or `answer`.")
        wanted = "result" if given["result"] is not None else "answer"
        if overridable_part(event) != wanted:
            raise RecordingError(f"Event {event.id} is not {'a tool result' if wanted == 'result' else 'a model answer'}.")
        text = given["answer"] if wanted == "answer" else json.dumps(given["result"])
        recording = recording.with_override(overridden_content(event, text))
        agent = await self._runs.agent(path)
        if reason := agent.why_not("rerun"):
            raise RecordingError(reason)
        cut_at = Cut(before=recording.first_event_id, files_at=event.id, changed=changed_in(events, recording))
        made = await self._copy(target, key, cut_at)
        answers: list[Any] = []

        def begin(engine: Engine, session: SessionKey) -> AsyncGenerator[Event, None]:
            repeated = engine.rerun(session, recording)
            answers.append(repeated.answers)
            return repeated.events()

        run = await self._runs.start(path, agent, made, key.user_id, begin, given["until"])
        run.notes = lambda: [str(one) for each in answers for one in each.divergences]
        report = await self._report(run, given["seconds"])
        compare = (
            f"what_differs(session={key.session_id!r}, database={target!r}, other_session={made.session_id!r}, other_database=<database>)"
        )
        return {**report, "next": f"{report['next']} Then {compare}."}

    async def _copy(self, target: str, key: SessionKey, cut_at: Cut) -> SessionKey:
        made = await fork_session(target, key, cut_at, into=self._runs.store.target)
        self._places.add(self._runs.store.target)
        return made.key

    def _agent(self, named: str | None) -> str:
        known = self._places.agents
        if named is not None:
            return named
        if len(known) == 1:
            return known[0]
        raise WrongArgumentError("Give `agent`, the agent's folder." + (f" The server knows: {', '.join(known)}." if known else ""))

    async def _report(self, run: Run, seconds: int | None) -> dict[str, Any]:
        """Return where a run is, and its events since the last answer."""
        await self._runs.wait(run, seconds)
        self._places.add(self._runs.store.target)
        events = run.events
        first, run.told = run.told, len(events)
        shown = [event_row(None, event) for event in events[first:]]
        report: dict[str, Any] = {"session": run.key.session_id, "database": self._runs.store.target, "events_of_this_run": shown[-ROWS:]}
        if len(shown) > ROWS:
            report["left_out"] = f"{len(shown) - ROWS} earlier events: what_happened"
        hold = run.hold
        if hold is not None:
            report |= {"run": "held", "where": hold.text, **_held(hold.call)}
            report["next"] = "continue_run, with a change or how=step; what_was_the_state(session=…) shows the state now."
        elif not run.is_over:
            report |= {"run": "still running", "next": "continue_run() waits for it; continue_run(how='stop') ends it."}
        elif run.error is not None:
            first_line = str(run.error).splitlines()[0] if str(run.error) else ""
            report |= {"run": "failed", "error": cut(f"{type(run.error).__name__}: {first_line}", 4 * LINE)}
            report["next"] = "what_happened(session=…) shows how far it came; what_is_wrong(session=…)."
        else:
            report |= await run_in_thread(self._end, run)
            report["next"] = "what_happened(session=…), what_was_the_state(session=…)."
        if run.is_over and (notes := run.notes()):
            report["diverged"] = [cut(note, 2 * LINE) for note in notes[:3]]
        return report

    def _end(self, run: Run) -> dict[str, Any]:
        with StoredDatabase.open(self._runs.store.target) as database:
            found = database.invocations(run.key)
        driven = run.events[-1].invocation_id if run.events else None
        last = next((each for each in reversed(found) if driven in (None, each.invocation_id)), None)
        waits = [f"{item.kind} {item.name}: {short(item.args)}" for each in found for item in each.pending if item.name]
        return {"run": last.status if last else "ended", "reason": last.reason if last else "", "waits_for": waits}


def _change(run: Run, changes: Mapping[str, Any]) -> None:
    """Change the held call."""
    hold = run.hold
    call = hold.call if hold is not None else None
    name, value = next(iter(changes.items()))
    if isinstance(call, ToolCall) and name in ("args", "result", "error"):
        edits: dict[str, Callable[[Any], None]] = {"args": call.edit_args, "result": call.give_result, "error": call.fail}
        edits[name](value)
    elif isinstance(call, ModelCall) and name == "answer":
        call.answer(value)
    else:
        place = hold.text if hold is not None else "The run is not held"
        raise RunStateError(f"`{name}` cannot be changed here. {place} Use until='before tool NAME' or until='before model'.")


def _held(call: ModelCall | ToolCall | None) -> dict[str, Any]:
    if isinstance(call, ToolCall):
        return {"tool": call.name, "args": {name: short(value) for name, value in call.args.items()}}
    if isinstance(call, ModelCall):
        request = call.json()
        contents = request.get("contents") or []
        instruction = (request.get("config") or {}).get("system_instruction")
        return {"model": request.get("model"), "instruction": cut(str(instruction or ""), 2 * LINE), "last_content": short(contents[-1:])}
    return {}


def _answer_to(item: PendingItem, response: Mapping[str, Any]) -> types.Content:
    name = _ANSWER_NAMES.get(item.kind, item.name)
    return types.Content(
        role="user", parts=[types.Part(function_response=types.FunctionResponse(id=item.call_id, name=name, response=dict(response)))]
    )
