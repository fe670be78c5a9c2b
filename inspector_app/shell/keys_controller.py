"""Connects the settings' page of keys to the system's keyring, which may take its time: it may ask the user to unlock it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from shiboken6 import isValid

from inspector_app.engines.env_file import own_variables
from inspector_app.shell.keys_page import PROPOSED, KeysPage
from inspector_app.support.agent_keys import AgentKeys, KeyringError
from inspector_app.support.tasks import Tasks
from runtime.support.worker_threads import run_in_thread


class KeysController(QObject):
    """A controller of one page of keys, which is its parent.

    Args:
        page: the page.
        tasks: runs what the keyring may delay.
    """

    def __init__(self, page: KeysPage, tasks: Tasks) -> None:
        super().__init__(page)
        self._page = page
        self._tasks = tasks
        self._keys = AgentKeys()
        page.key_entered.connect(self._on_entered)
        page.removal_requested.connect(self._on_removal)
        self._run(self._keys.names, "Reading the keyring")

    def _on_entered(self, name: str, key: str) -> None:
        self._run(self._keys.store, "Storing a key", name, key)

    def _on_removal(self, name: str) -> None:
        self._run(self._keys.remove, "Removing a key", name)

    def _run(self, work: Callable[..., object], doing: str, *given: str) -> None:
        self._tasks.spawn(self._work(work, given), doing)

    async def _work(self, work: Callable[..., object], given: tuple[str, ...]) -> None:
        why_not = await run_in_thread(self._keys.why_not)
        problem = why_not or ""
        if why_not is None:
            try:
                await run_in_thread(work, *given)
            except KeyringError as error:
                problem = str(error)
        if isValid(self._page):  # the settings may have been closed meanwhile
            kept = self._keys.names()
            in_environment = [name for name in (*PROPOSED, *kept) if name in own_variables()]
            self._page.show_keys(kept, in_environment, problem, can_store=why_not is None)
