"""The window's actions, each with a name, an icon, a shortcut, and a tooltip that explains why it is disabled."""

from __future__ import annotations

from dataclasses import dataclass, fields

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from inspector_app.widgets import theme
from inspector_app.widgets.tooltips import action_tooltip, set_action_tooltip

BLOCKED = "blocked"  # property of an action: why it is disabled; empty if it is enabled


@dataclass(frozen=True, slots=True)
class Actions:
    """The window's actions. Menus, buttons and shortcuts all trigger these."""

    run: QAction
    pause: QAction
    step: QAction
    step_over: QAction
    step_into: QAction
    step_out: QAction
    run_to: QAction
    toggle_breakpoint: QAction
    stop: QAction
    resume: QAction
    fork: QAction
    rewind: QAction
    compare: QAction
    run_again: QAction
    repeated_runs: QAction
    replay: QAction
    evals: QAction
    open_eval_set: QAction
    who_wrote: QAction
    new_session: QAction
    open_agent: QAction
    open_database: QAction
    open_url: QAction
    attach: QAction
    choose_engine: QAction
    open_code: QAction
    choose_editor: QAction
    record_requests: QAction
    allow_writing: QAction
    work_on_copy: QAction
    reload: QAction
    save_as: QAction
    close_database: QAction
    follow_newest: QAction
    start_page: QAction
    find_session: QAction
    search_all: QAction
    inspect_database: QAction
    export_session: QAction
    export_capsule: QAction
    import_sessions: QAction
    find_event: QAction
    condition_help: QAction
    next_hit: QAction
    previous_hit: QAction
    mark_hits: QAction
    saved_filters: QAction
    go_to_event: QAction
    matching_call: QAction
    compare_states: QAction
    toggle_bookmark: QAction
    edit_note: QAction
    next_note: QAction
    previous_note: QAction
    find_in_state: QAction
    write_message: QAction
    answer_pending: QAction
    next_pane: QAction
    previous_pane: QAction
    read_messages: QAction
    perspective_browse: QAction
    perspective_debug: QAction
    reset_layout: QAction
    theme_system: QAction
    theme_light: QAction
    theme_dark: QAction
    theme_contrast: QAction
    save_picture: QAction
    print_pane: QAction
    settings: QAction
    tour: QAction
    larger_text: QAction
    smaller_text: QAction
    normal_text: QAction
    compact_rows: QAction
    palette: QAction
    quit: QAction

    @property
    def all(self) -> list[QAction]:
        """All actions, in the order of the fields."""
        return [getattr(self, entry.name) for entry in fields(self)]

    @property
    def themes(self) -> dict[str, QAction]:
        """The theme action of each choice: `system`, `light`, `dark`, `contrast`."""
        return {"system": self.theme_system, "light": self.theme_light, "dark": self.theme_dark, "contrast": self.theme_contrast}


def make_actions(parent: QObject) -> Actions:
    """Make the actions, all enabled and unconnected."""

    def action(name: str, text: str, icon: str = "", key: str = "", role: str = "text") -> QAction:
        made = QAction(text, parent)
        made.setObjectName(f"action_{name}")
        if icon:
            made.setIcon(theme.icon(icon, role))
        if key:
            made.setShortcut(QKeySequence(key))
        allow(made, None)
        return made

    actions = Actions(
        run=action("run", "Run", "play", "F5", "accent"),
        pause=action("pause", "Pause", "pause", "F6"),
        step=action("step", "Step", "forward-step", "F10", "accent"),
        step_over=action("step_over", "Step over", "share", "Shift+F10", "accent"),
        step_into=action("step_into", "Step into", "arrow-turn-down", "F11", "accent"),
        step_out=action("step_out", "Step out", "arrow-up-from-bracket", "Shift+F11", "accent"),
        run_to=action("run_to", "Run to an event like this", "forward-fast", "Ctrl+F10", "accent"),
        toggle_breakpoint=action("toggle_breakpoint", "Breakpoint…", "circle", "F9", "bad"),
        stop=action("stop", "Stop", "stop", "Shift+F5", "bad"),
        resume=action("resume", "Resume", "clock-rotate-left", "Ctrl+Shift+R", "warn"),
        fork=action("fork", "Fork at this event…", "code-branch", "Ctrl+Shift+K"),
        rewind=action("rewind", "Rewind to before this invocation…", "backward", "Ctrl+Shift+Backspace", "warn"),
        compare=action("compare", "Compare with another session…", "code-compare", "Ctrl+Shift+D"),
        run_again=action("run_again", "Run again several times…", "repeat"),
        repeated_runs=action("repeated_runs", "Runs side by side", "table-list"),
        replay=action("replay", "Replay with recorded answers…", "clapperboard"),
        evals=action("evals", "Evals", "list-check"),
        open_eval_set=action("open_eval_set", "Open an eval set…", "list-check"),
        who_wrote=action("who_wrote", "Who wrote this key", "user-pen", "Ctrl+Shift+W"),
        new_session=action("new_session", "New session", "plus", "Ctrl+N"),
        open_agent=action("open_agent", "Open agent…", "robot", "Ctrl+O"),
        open_database=action("open_database", "Open database…", "database", "Ctrl+Shift+O"),
        open_url=action("open_url", "Open a server…", "server"),
        attach=action("attach", "Attach to a running app…", "plug", "Ctrl+Shift+A"),
        choose_engine=action("choose_engine", "Engine of the agent…", "gears"),
        open_code=action("open_code", "Open the code of this event", "code", "Ctrl+E"),
        choose_editor=action("choose_editor", "Editor for code…", "pen-to-square"),
        allow_writing=action("allow_writing", "Allow writing… (backup)", "lock-open"),
        work_on_copy=action("work_on_copy", "Work on a copy", "copy"),
        reload=action("reload", "Reload", "rotate", "Ctrl+R"),
        save_as=action("save_as", "Save as…", "floppy-disk", "Ctrl+S"),
        close_database=action("close_database", "Close the database", "xmark", "Ctrl+W"),
        record_requests=action("record_requests", "Record model requests", "circle-dot"),
        follow_newest=action("follow_newest", "Follow the newest session", "tower-broadcast"),
        start_page=action("start_page", "Start page", "house", "Ctrl+Home"),
        find_session=action("find_session", "Find a session", "magnifying-glass", "Ctrl+Shift+F"),
        search_all=action("search_all", "Search all sessions…", "book-open", "Ctrl+Alt+F"),
        inspect_database=action("inspect_database", "User and app state, tables", "table", "Ctrl+I"),
        export_session=action("export_session", "Export the session…", "file-export"),
        export_capsule=action("export_capsule", "Export as a capsule…", "box-archive"),
        import_sessions=action("import_sessions", "Import sessions…", "file-import"),
        find_event=action("find_event", "Filter the events", "filter", "Ctrl+F"),
        condition_help=action("condition_help", "How conditions are written", "circle-question", "F1"),
        next_hit=action("next_hit", "Next hit", "arrow-down", "F3"),
        previous_hit=action("previous_hit", "Previous hit", "arrow-up", "Shift+F3"),
        mark_hits=action("mark_hits", "Show all events, hits marked", "highlighter", "Ctrl+Shift+H"),
        saved_filters=action("saved_filters", "Saved filters…", "bookmark", "Ctrl+D"),
        go_to_event=action("go_to_event", "Go to event…", "arrow-right-to-bracket", "Ctrl+G"),
        matching_call=action("matching_call", "Go to the call or its response", "arrow-right-arrow-left", "Ctrl+J"),
        compare_states=action("compare_states", "Compare states with this one", "code-compare", "Ctrl+B"),
        toggle_bookmark=action("toggle_bookmark", "Bookmark this event", "bookmark", "Ctrl+Shift+B"),
        edit_note=action("edit_note", "Write a note on this event…", "note-sticky", "Ctrl+Shift+N"),
        next_note=action("next_note", "Next bookmark or note", "arrow-down", "F4"),
        previous_note=action("previous_note", "Previous bookmark or note", "arrow-up", "Shift+F4"),
        find_in_state=action("find_in_state", "Find in the state", "magnifying-glass", "Ctrl+K"),
        answer_pending=action("answer_pending", "Answer pending item", "hand", "Ctrl+P", "warn"),
        write_message=action("write_message", "Write a message", "pen", "Ctrl+L"),
        next_pane=action("next_pane", "Next pane", "arrow-right", "F7"),
        previous_pane=action("previous_pane", "Previous pane", "arrow-left", "Shift+F7"),
        read_messages=action("read_messages", "Go to the newest message", "circle-info", "Ctrl+Shift+M"),
        perspective_browse=action("perspective_browse", "Perspective: browse", "folder-tree", "Ctrl+1"),
        perspective_debug=action("perspective_debug", "Perspective: debug", "bug", "Ctrl+2"),
        reset_layout=action("reset_layout", "Reset the layout", "table-columns"),
        theme_system=action("theme_system", "Follow the system"),
        theme_light=action("theme_light", "Light"),
        theme_dark=action("theme_dark", "Dark"),
        theme_contrast=action("theme_contrast", "High contrast"),
        save_picture=action("save_picture", "Save the pane as a picture…", "image"),
        print_pane=action("print_pane", "Print the pane…", "print"),
        settings=action("settings", "Settings…", "gear", "Ctrl+,"),
        tour=action("tour", "Guided tour", "signs-post"),
        larger_text=action("larger_text", "Larger text", "magnifying-glass-plus", "Ctrl++"),
        smaller_text=action("smaller_text", "Smaller text", "magnifying-glass-minus", "Ctrl+-"),
        normal_text=action("normal_text", "Normal text size", "text-height", "Ctrl+0"),
        compact_rows=action("compact_rows", "Compact rows", "bars"),
        palette=action("palette", "Find a command…", "terminal", "Ctrl+Shift+P"),
        quit=action("quit", "Quit", "", "Ctrl+Q"),
    )
    actions.find_event.setShortcuts([QKeySequence("Ctrl+F"), QKeySequence("/")])
    actions.larger_text.setShortcuts([QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")])  # + is on = without Shift on many keyboards
    actions.step_into.setIconText("Into")  # the tool bar has less room than the menus
    actions.step_out.setIconText("Out")
    actions.record_requests.setCheckable(True)
    allow(actions.record_requests, None, "Keep what models are asked in NAME.rec.db beside the database, without passwords and keys")
    actions.compact_rows.setCheckable(True)
    actions.compact_rows.setChecked(theme.current().is_compact)
    allow(actions.compact_rows, None, "Lower rows in lists, trees and tables: more of them at a time")
    actions.follow_newest.setCheckable(True)
    allow(actions.follow_newest, None, "When another process starts a session in this database, show that session")
    allow(actions.perspective_browse, None, "For browsing databases: shows the events, the session list and the inspector")
    allow(actions.perspective_debug, None, "For debugging a run: shows the inspector and the lower panes, and hides the session list")
    group = QActionGroup(parent)
    for choice in actions.themes.values():
        choice.setCheckable(True)
        group.addAction(choice)
    return actions


def allow(action: QAction, blocked: str | None, does: str = "") -> None:
    """Enable an action, or disable it and explain why in its tooltip.

    Args:
        action: the action to change.
        blocked: why the action is unavailable; None to enable it.
        does: what the action does, if its name does not say it.
    """
    key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    name = action.text() + (f" ({key})" if key else "")
    tooltip = "\n".join(filter(None, (name, blocked or does)))
    if action.isEnabled() == (blocked is None) and action.property(BLOCKED) == (blocked or "") and action_tooltip(action) == tooltip:
        return  # asked with each selected event, and setting a property reports a change to all buttons of the action
    action.setEnabled(blocked is None)
    action.setProperty(BLOCKED, blocked or "")
    set_action_tooltip(action, tooltip)
