"""The door of databases: what they hold beside sessions, permission to write, reading again and closing."""

from __future__ import annotations

from inspector_app.databases.database_page import DatabasePage
from inspector_app.databases.database_page_controller import DatabasePageController
from inspector_app.databases.foreign_database_controller import ForeignDatabaseController
from inspector_app.databases.foreign_database_page import ForeignDatabasePage
from inspector_app.widgets.actions import allow
from inspector_app.widgets.places import Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Databases(Feature):
    """The open databases.

    Attributes:
        reload: the command that reads them again.
        foreign_page: the page of a database without sessions.
        page, foreign: the controllers of both pages; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        add = places.command
        inspect = "User and app state, tables"
        self._inspect = add("inspect_database", inspect, "table", "Ctrl+I", menu="Session", at=13, needs="open")
        self.reload = add("reload", "Reload", "rotate", "Ctrl+R", menu="Session", at=15)
        self._allow_writing = add("allow_writing", "Allow writing… (backup)", "lock-open", menu="Session", at=31)
        self._work_on_copy = add("work_on_copy", "Work on a copy", "copy", menu="Session", at=32)
        self._close = add("close_database", "Close the database", "xmark", "Ctrl+W", menu="Session", at=34)
        self._view = places.in_the_middle("database", DatabasePage(), hides_filter=True)
        self.foreign_page = places.page("foreign_database", ForeignDatabasePage())

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        self._work = work
        self.foreign = ForeignDatabaseController(work.tasks, work.messages, self.foreign_page)
        self.page = DatabasePageController(work, self._view)
        self.foreign.opened.connect(self._on_foreign_opened)
        self.page.opened.connect(self._on_page_opened)
        self.page.closed.connect(self.places.events_requested)
        self.page.left.connect(self.places.events_requested)
        self.page.left.connect(self.places.focus_requested)
        self._inspect.triggered.connect(self.page.inspect)
        for read_again in (self.foreign.read_again, self.page.read_again, self.read_again):
            self.reload.triggered.connect(read_again)
        self._allow_writing.triggered.connect(work.write_access.request)
        self._work_on_copy.triggered.connect(work.working_copy.request)
        self._close.triggered.connect(self._on_close)
        self.places.availability_changed.connect(self._allow)

    def close(self) -> None:
        """Release the files."""
        self.page.close()
        self.foreign.close()

    def read_again(self) -> None:
        """Read the open databases and the displayed session again."""
        self._work.tasks.spawn(self._read_again(), "Reading again")

    async def _read_again(self) -> None:
        await self._work.databases.reload()
        await self._work.current.reload()

    def _on_close(self) -> None:
        selected = self._work.cursor.session
        if selected is not None:
            self._work.tasks.spawn(self._work.databases.close_database(selected.database), "Closing the database")

    def _on_foreign_opened(self) -> None:
        self.places.page_requested.emit(self.foreign_page)

    def _on_page_opened(self) -> None:
        self.places.middle_requested.emit(self._view)

    def _allow(self) -> None:
        run, selected, session = self._work.run, self._work.cursor.session, self._work.current.session
        read_only = session is not None and not session.source.writing_allowed
        own = session.source.read_only_because if session is not None else ""
        writable = None if read_only else "The session's database can be written already." if session else "No session is selected."
        writable = own or writable
        is_refused = session is not None and not session.source.can_write
        allow(self._allow_writing, writable or ("This layout is read-only here: work on a copy." if is_refused else None))
        no_copy = "It is on a server; only files are copied." if session is not None and not session.source.can_copy else None
        allow(self._work_on_copy, writable or no_copy, "The original does not change")
        attached_here = run.attached is not None and session is not None and session.source is run.attached.source
        running_here = run.phase != "idle" and selected is not None and run.address == selected
        closing = "The agent is running in it: stop it first (Shift+F5)." if running_here else None
        is_own = session is not None and session.source.is_unsaved and not session.source.is_left
        closing = closing or ("Its sessions are not saved: save them first (Ctrl+S), or delete them." if is_own else None)
        closing = "The window watches its app: stop watching first (Shift+F5)." if attached_here else closing
        allow(self._close, closing if selected else "No session is selected.", "Nothing in it is changed")
