"""Offers to install google-adk for an agent that lacks it, installs it, and loads the agent again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.engines.engine_choice import EngineChoice, plan_engine
from inspector_app.engines.google_adk_imports import MissingNameError
from inspector_app.engines.installation import Installation, InstallError, InstallPlan, plan_installation
from inspector_app.opening.install_page import InstallPage
from inspector_app.opening.problem_page import ProblemPage
from inspector_app.opening.trust_page import TrustPage
from inspector_app.presentation.trust_question import TrustQuestion
from inspector_app.workspace.workspace import Workspace
from runtime.errors import EngineNeededError, KnownError
from runtime.support.worker_threads import run_in_thread


class InstallController(QObject):
    """A controller of the page that installs google-adk.

    Signals:
        page_requested(QWidget): a page should be displayed.
        printed(str): the installer has printed a line; on any thread.

    Args:
        work: the owners.
        trust: asks whether to run an agent's code, and offers the installation.
        problem: shows why an agent could not be loaded, and offers the installation.
        page: asks for the installation and shows it.
    """

    page_requested = Signal(object)
    printed = Signal(str)

    def __init__(
        self,
        work: Workspace,
        trust: TrustPage,
        problem: ProblemPage,
        page: InstallPage,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._problem = problem
        self._page = page
        self._path = self._failed = ""
        self._trusted: tuple[TrustQuestion, bool] | None = None
        self._plan: InstallPlan | None = None
        self._running: Installation | None = None
        self.printed.connect(page.add_line)
        trust.install_requested.connect(self._on_trusted)
        problem.install.clicked.connect(self._on_refused)
        work.agents.agent_failed.connect(self._on_agent_failed)
        page.accepted.connect(self._on_accepted)
        page.cancelled.connect(self._on_cancelled)
        page.declined.connect(self._on_declined)

    def _on_agent_failed(self, path: str, error: Exception) -> None:
        """Offer the installation if the agent failed for a name that google-adk has, or for a package that the agent requires."""
        self._failed = path
        cause = error.__cause__
        helps = cause.installing_helps if isinstance(cause, MissingNameError) else isinstance(cause, (ImportError, EngineNeededError))
        if self._work.agents.lacks_adk and helps:
            self._problem.offer_install()

    def _on_trusted(self, question: TrustQuestion, changes: bool) -> None:
        self._ask(question.path, (question, changes))

    def _on_refused(self) -> None:
        self._ask(self._failed, None)

    def _ask(self, path: str, trusted: tuple[TrustQuestion, bool] | None) -> None:
        if self._running is not None:
            self.page_requested.emit(self._page)
            return
        self._path, self._trusted = path, trusted
        self._work.tasks.spawn(self._show_plan(), f"Asking about {Path(path).name}")

    async def _show_plan(self) -> None:
        decline = "Back" if self._trusted is None else "Load without google-adk"
        try:
            self._plan = plan = await run_in_thread(_planned, self._path)
            text, commands, required = plan.sentence, plan.lines(), plan.text
        except KnownError as error:
            text, commands, required = str(error), [], ""
        self._page.ask(Path(self._path).name, text, commands, required, decline)
        self.page_requested.emit(self._page)

    def _on_accepted(self) -> None:
        if self._running is None:
            self._work.tasks.spawn(self._install(), "Installing google-adk")

    async def _install(self) -> None:
        plan = self._plan
        assert plan is not None
        self._page.show_running()
        try:
            if await run_in_thread(_planned, self._path) != plan:
                raise InstallError("What would be installed has changed meanwhile. Go back, and look at it again.")
            self._running = Installation(plan, self.printed.emit)
            made = await run_in_thread(self._running.run)
        except KnownError as error:
            self._page.show_end(str(error))
            return
        except asyncio.CancelledError:  # the window is closed
            if self._running is not None:
                await run_in_thread(self._running.cancel)
            raise
        finally:
            self._running = None
        self._work.messages.info(f"google-adk {made.adk_version} was installed into {made.prefix}.")
        await self._load()

    def _on_cancelled(self) -> None:
        if self._running is not None:
            self._page.show_cancelling()
            self._work.tasks.spawn(run_in_thread(self._running.cancel), "Cancelling the installation")

    def _on_declined(self) -> None:
        if self._trusted is None:
            self.page_requested.emit(self._problem)
        else:
            self._work.tasks.spawn(self._load(), f"Loading {Path(self._path).name}")

    def _load(self) -> Coroutine[Any, Any, None]:
        if self._trusted is None:
            return self._work.agents.open(self._path)
        question, changes = self._trusted
        return self._work.agents.trust_and_load(question, changes=changes)


def _planned(path: str) -> InstallPlan:
    return plan_installation(plan_engine(path, EngineChoice()).decision)
