"""Every link between features, and between them and the window, from top to bottom."""

from __future__ import annotations

from inspector_app.shell.features import Features
from inspector_app.shell.main_window import MainWindow
from inspector_app.shell.window_status import WindowStatus
from inspector_app.widgets.places import Places
from inspector_app.workspace.workspace import Workspace


def start(work: Workspace, places: Places, features: Features, window: MainWindow) -> None:
    """Start the features of a window, which is made of what they have placed, and connect them."""
    for feature in features.all:
        feature.start(work)
    _connect_pages(places, features, window)
    _connect_stream(features)
    _connect_run(features, window)
    WindowStatus(work, places, window, features)


def _connect_pages(places: Places, features: Features, window: MainWindow) -> None:
    """Connect what opens, shows and leaves pages, and the session list."""
    opening, foreign = features.opening.opening, features.databases.foreign
    branches, evals, shell = features.branches, features.evals, features.shell
    commands = features.running.commands
    keys = (commands.run, "Run, or continue a held run"), (commands.step, "Run to the next event and hold there")
    more = (features.stream.find_event, "Filter the events by words or a condition"), (shell.palette, "Find any command by a few letters")
    features.opening.welcome.show_keys((*keys, *more))

    def show_work() -> None:
        if window.page is not window.workbench:
            opening.show_home()

    shell.chosen.recording_chosen.connect(commands.record_requests.setChecked)
    places.work_requested.connect(show_work)
    opening.engine_changed.connect(window.status.show_engine)
    window.status.engine_requested.connect(features.opening.choose_engine.trigger)
    foreign.open_paths = opening.open_paths
    opening.foreign_database_found.connect(foreign.show)
    foreign.left.connect(opening.show_home)
    for comparing in (evals.repeats, evals.evals, features.capsules.replays):
        comparing.compare_requested.connect(branches.compare.compare)
    for eval_set_found in (opening.eval_set_found, features.sessions.exchange.eval_set_requested):
        eval_set_found.connect(evals.evals.open)
    evals.page.agent_requested.connect(features.opening.open_agent.trigger)
    evals.page.set_requested.connect(features.opening.open_eval_set.trigger)
    features.databases.reload.triggered.connect(features.opening.changes.load_again)
    features.stream.filter_bar.help_requested.connect(shell.condition_help.trigger)
    features.running.breakpoints_pane.form.help_requested.connect(shell.condition_help.trigger)
    remedies = {"reload": features.databases.reload.trigger, "keys": shell.chosen.ask_for_keys}
    window.message_bar.remedy_requested.connect(lambda remedy: remedies[remedy]())
    sessions = features.sessions.pane
    for ready in (opening.agent_ready, features.opening.servers.agent_ready):
        ready.connect(features.running.composer.focus)
    sessions.replay_requested.connect(features.capsules.replays.ask)
    sessions.capsule_requested.connect(features.capsules.capsules.ask)
    sessions.run_again_requested.connect(features.evals.repeats.ask)
    sessions.compare_requested.connect(branches.compare.compare_session)
    sessions.row_chosen.connect(features.databases.page.show_row)
    features.opening.session_problem.retry.connect(features.databases.read_again)


def _connect_stream(features: Features) -> None:
    """Connect what goes to an event, and what the details say about it."""
    stream, detail, view = features.stream.controller, features.detail.view, features.stream.view

    commands = features.detail.commands
    features.findings.controller.found.connect(detail.set_findings)
    detail.filter_requested.connect(features.stream.filter_bar.set_text)
    features.stream.tool_agent_events.tool_agent_event_selected.connect(detail.show_tool_agent_event)
    view.curl_requested.connect(features.detail.requests.copy_as_curl)
    view.bookmark_requested.connect(commands.toggle_bookmark.trigger)
    view.note_requested.connect(commands.edit_note.trigger)
    commands.next_note.triggered.connect(stream.next_note)
    commands.previous_note.triggered.connect(stream.previous_note)
    features.detail.notes.editing_began.connect(lambda: view.set_following(False))  # else the next event of a run would be selected
    for place in (features.running.held_card.code, features.graph.graph, features.opening.problem.code):
        place.code_requested.connect(features.detail.code.open)


def _connect_run(features: Features, window: MainWindow) -> None:
    """Connect the run with the stream and the branches."""
    running, view, forks, rewind = features.running, features.stream.view, features.branches.forks, features.branches.rewind
    view.breakpoint_requested.connect(running.breakpoints.toggle_at)
    view.fork_requested.connect(forks.ask)
    view.rewind_requested.connect(rewind.ask)
    running.availability.is_drafting_fork = lambda: forks.is_drafting
    running.availability.is_covered = lambda: window.page is features.databases.foreign_page
    running.availability.session_is_in_sight = lambda: window.session_is_in_sight
    running.run_commands.message_handlers.append(forks.take_message)
    forks.draft_begun.connect(running.run_commands.begin_draft)
    forks.draft_cancelled.connect(running.composer.clear)
    forks.draft_dropped.connect(running.drafts.clear_unedited)
    for offer in (forks, rewind):  # one offer at a time
        offer.asked.connect(running.resume.hide_offer)
        offer.cancelled.connect(running.resume.show_hints)
