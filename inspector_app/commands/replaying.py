"""`run --replay`: a stored session runs again, with recorded answers in place of its models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspector_app.commands import stdout
from inspector_app.commands.driven import DrivenAgent, open_driven
from inspector_app.commands.driving import drive, then
from inspector_app.commands.options.running import Run
from inspector_app.commands.output import counted, print_json, print_line
from inspector_app.commands.reading import opened
from inspector_app.commands.selection import session_key
from inspector_app.presentation.values import visible
from runtime.forks.recording import Recording, RecordingError
from runtime.forks.session_replay import Repeat, SessionReplay, recordings_of
from runtime.sessions.session_key import SessionKey

DIFFERENT = 1


async def replay(options: Run) -> int:
    """Run a stored session again in a new session; the exit status is 1 if it does not go as recorded."""
    assert options.replay is not None  # it is what runs
    with opened(options.replay) as database:
        key = session_key([each.key for each in database.listing()], options.app, None, options.replay_session, options.replay)
        recordings = recordings_of(database.events(key))
        state = {**(database.first_state(key) or {}), **(options.state or {})}
    async with open_driven(options) as agent:
        if reason := agent.why_not("rerun"):
            raise RecordingError(reason)
        made = await agent.new_session(options.user, state, options.session)
        return await _drive(
            recordings,
            lambda one: agent.rerun(made, one, runs_tools=options.run_tools, strict=not options.go_on),
            agent,
            made,
            options,
        )


async def _drive(
    recordings: Sequence[Recording], repeat: Callable[[Recording], Repeat], agent: DrivenAgent, key: SessionKey, options: Run
) -> int:
    run = SessionReplay(recordings, repeat, goes_on=options.go_on)
    status = await drive(then(run.events(), lambda: _report(run, options)), agent, key, options, set())
    return DIFFERENT if run.divergences and status == 0 else status


def _report(run: SessionReplay, options: Run) -> None:
    if options.json:
        counts = {"model_calls": run.model_calls, "tool_calls": run.tool_calls}
        print_json({"replay": {**counts, "divergences": [*map(str, run.divergences)]}})
    else:
        if run.model_calls or run.tool_calls:  # a capsule's stand-in agent calls neither
            print_line(f"From the recording: {counted(run.model_calls, 'model answer')}, {counted(run.tool_calls, 'tool result')}.")
        for each in run.divergences:
            text = str(each) if options.go_on else f"No longer as recorded: {each.what}. --go-on continues live."
            stdout.complain(f"agent-inspector: {visible(text)}\n")
