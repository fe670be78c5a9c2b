"""A session document together with the source it was read from."""

from __future__ import annotations

from collections.abc import Sequence

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.long_session import LongSession
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import SessionDocument
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.sources import Source
from runtime.history.invocations import Invocation
from runtime.history.state_at import History


class OpenSession(SessionDocument):
    """The displayed session and its source. Views know the document alone.

    Attributes:
        source: where the session is stored.
    """

    pages: LongSession | None

    def __init__(
        self,
        address: SessionAddress,
        source: Source,
        events: SessionEvents,
        history: History | None = None,
        invocations: Sequence[Invocation] = (),
        pages: LongSession | None = None,
        groups: InvocationGroups | None = None,
    ) -> None:
        super().__init__(address, events, history, invocations, pages, groups)
        self.source = source
