"""The code behind the selected event, opened in the user's editor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector_app.detail.commands import DetailCommands
from inspector_app.detail.editor_dialog import EditorDialog
from inspector_app.detail.event_detail import EventDetail
from inspector_app.support.editor import NoEditorError, open_in_editor
from inspector_app.widgets.actions import allow
from inspector_app.workspace.code_places import links_of_event, links_of_tracebacks
from inspector_app.workspace.workspace import Workspace
from inspector_app.workspace.written_output import WrittenLine
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event


class CodeController(QObject):
    """A controller that names the code behind the selected event, and opens code.

    Args:
        work: the owners.
        commands: the commands of the details.
        detail: the view with the button.
    """

    def __init__(self, work: Workspace, commands: DetailCommands, detail: EventDetail) -> None:
        super().__init__(detail)
        self._work = work
        self._commands = commands
        self._detail = detail
        detail.event_shown.connect(self._show)
        detail.code.code_requested.connect(self.open)
        work.agents.agent_loaded.connect(self._on_agent_loaded)
        work.output.attributed.connect(self._on_attributed)
        commands.open_code.triggered.connect(self._on_open_code)
        commands.choose_editor.triggered.connect(self._on_choose_editor)
        self._allow()

    def open(self, file: str, line: int) -> None:
        """Open a file in the user's editor."""
        self._work.tasks.spawn(self._open(file, line), "Opening the code")

    async def _open(self, file: str, line: int) -> None:
        try:
            await run_in_thread(open_in_editor, file, line, self._work.preferences.editor)
        except NoEditorError as error:
            self._work.messages.warning(f"{error} The code is at {file}, line {line}.")

    def _show(self, event: Event) -> None:
        loaded = self._work.agents.loaded
        links = []
        if loaded is not None:
            tracebacks = (line.text for line in self._work.output.of_event(event.id) if line.stream == "traceback")
            links = [*links_of_tracebacks(tracebacks, loaded.folder), *links_of_event(event, loaded.places)]
        self._detail.code.set_links(links)
        self._allow()

    def _on_attributed(self, _address: object, found: Sequence[WrittenLine]) -> None:
        shown = self._detail.shown_event
        if shown is not None and any(written.event_id == shown.id and written.line.stream == "traceback" for written in found):
            self._show(shown)

    def _on_agent_loaded(self) -> None:
        if self._detail.shown_event is not None:
            self._show(self._detail.shown_event)

    def _allow(self) -> None:
        missing = (
            "Load the agent of this session first."
            if self._work.agents.loaded is None
            else "No code of the loaded agent is behind this event."
        )
        allow(self._commands.open_code, None if self._detail.code.links else missing, "Open the file and line in your editor")

    def _on_open_code(self) -> None:
        if links := self._detail.code.links:
            self.open(links[0].file, links[0].line)

    def _on_choose_editor(self) -> None:
        dialog = EditorDialog(self._work.preferences.editor, self._detail.window())
        dialog.textValueSelected.connect(self._on_editor_chosen)
        dialog.open()

    def _on_editor_chosen(self, command: str) -> None:
        self._work.preferences.editor = command.strip()
