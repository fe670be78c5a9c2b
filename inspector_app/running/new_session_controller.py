"""Creation of a session whose id, user and first state a person chooses."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.engines.child_process import ChildError
from inspector_app.presentation.json_text import parse_json_object
from inspector_app.running.composer import Composer
from inspector_app.running.new_session_dialog import Field, NewSession, NewSessionDialog, Start
from inspector_app.workspace.workspace import Workspace
from runtime.errors import AlreadyExistsError, KnownError
from runtime.support.bounded import read_file
from runtime.support.linkless import LinkError
from runtime.support.worker_threads import run_in_thread

MOST_BYTES = 10_000_000  # of a state file; a real one has some KB
MOST_SESSIONS = 1_000  # newest ones, among which the agent's last session is looked for


class _StateError(KnownError):
    """A first state that cannot be used.

    Attributes:
        field: where the dialog says so.
    """

    def __init__(self, field: Field, reason: str) -> None:
        super().__init__(reason)
        self.field: Field = field


class NewSessionController(QObject):
    """A controller of the dialog *New session…*. What is chosen is remembered for each agent.

    Args:
        work: the owners.
        composer: has the focus once the session is created.
    """

    def __init__(self, work: Workspace, composer: Composer) -> None:
        super().__init__(composer)
        self._work = work
        self._composer = composer
        self._dialog: NewSessionDialog | None = None

    def ask(self) -> None:
        """Ask with what a session begins, and create it."""
        reason, loaded = self._work.run.blocked("new_session"), self._work.agents.loaded
        if reason is not None or loaded is None:
            self._work.messages.info(reason or "Open an agent first (Ctrl+O).")
            return
        kept = self._work.preferences.new_session(loaded.name)
        selected, index = self._work.cursor.session, self._work.cursor.event_index
        newest = self._work.catalog.newest(MOST_SESSIONS)
        last = next((address for address in newest if address.key.app_name == loaded.name), None)
        starts: dict[Start, str] = {"empty": "Empty"}
        if last is not None:
            starts["last"] = f"Like the last session, “{self._work.titles.title(last)}”"
        starts["file"] = "From a file"
        if selected is not None and index is not None:
            starts["event"] = f"As it was at event {index + 1:,} of “{self._work.titles.title(selected)}”"
        start: Start = next((each for each in starts if each == kept.get("start")), "empty")
        chosen = NewSession("", str(kept.get("user") or ""), start, str(kept.get("file") or ""))
        dialog = NewSessionDialog(loaded.name, self._work.run.sessions.usual_user(), chosen, starts, self._composer.window())
        self._dialog = dialog
        dialog.finished.connect(self._on_closed)
        dialog.wanted.connect(
            lambda wanted: self._work.tasks.spawn(self._create(wanted, loaded.name, selected, index, last), "Creating a session")
        )
        dialog.open()

    def _on_closed(self) -> None:
        self._dialog = None

    async def _create(
        self, wanted: NewSession, agent: str, selected: SessionAddress | None, index: int | None, last: SessionAddress | None
    ) -> None:
        run, dialog = self._work.run, self._dialog
        try:
            if wanted.start == "file":
                state = await run_in_thread(_state_of_file, wanted.file)
            else:
                state = await self._state(selected if wanted.start == "event" else last, index, wanted.start)
            if self._dialog is not dialog or dialog is None:  # cancelled meanwhile
                return
            if reason := run.blocked("new_session"):
                raise KnownError(reason)
            await run.create_new(state, wanted.user_id, wanted.session_id or None)
        except KnownError as error:
            if dialog is not None and self._dialog is dialog:
                self._refuse(dialog, wanted, error)
            else:
                self._work.messages.error("Creating a session", error)
            return
        kept = {"user": wanted.user_id, "start": wanted.start, "file": wanted.file}
        self._work.preferences.keep_new_session(agent, kept)
        if dialog is not None and self._dialog is dialog:
            dialog.accept()
        self._composer.focus()

    def _refuse(self, dialog: NewSessionDialog, wanted: NewSession, error: KnownError) -> None:
        if isinstance(error, AlreadyExistsError) or (isinstance(error, ChildError) and error.kind == AlreadyExistsError.__name__):
            taken = f"There is a session {wanted.session_id} of this user: write another id, or leave the field empty."
            dialog.refuse("id", taken)
        else:
            dialog.refuse(error.field if isinstance(error, _StateError) else "start", str(error))

    async def _state(self, address: SessionAddress | None, index: int | None, start: Start) -> dict[str, Any]:
        if start == "empty":
            return {}
        source = self._work.databases.source(address.database) if address is not None else None
        if source is None or address is None:
            raise _StateError("start", "The database of that session was closed meanwhile: choose another first state.")
        history = await source.history(address.key)
        if start == "last":
            if history.baseline is None:
                raise _StateError("start", "What the last session began with is not recorded: choose another first state.")
            return dict(history.baseline)
        if index is None or index >= len(history.events):
            raise _StateError("start", "That event was deleted meanwhile: choose another first state.")
        found = await run_in_thread(history.state_at, index)
        if found.unknown:
            self._work.messages.warning(f"Not set, as not recorded: {', '.join(found.unknown)}.")
        return found.merged()


def _state_of_file(name: str) -> dict[str, Any]:
    try:
        place = Path(os.path.expanduser(name))  # noqa: PTH111 - of an unknown user, that of pathlib raises RuntimeError
        return parse_json_object(read_file(place, MOST_BYTES).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _StateError("file", f"{name} is not a state: it is not UTF-8 text.") from None
    except LinkError as error:
        raise _StateError("file", f"{name} cannot be read: {error.what}, not a file.") from None
    except OSError as error:
        raise _StateError("file", f"{name} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise _StateError("file", f"{name} is not a state. {error}") from None
