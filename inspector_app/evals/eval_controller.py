"""Opens eval sets, runs their cases on the loaded agent, and shows each beside what was expected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from inspector_app.analysis.eval_criteria import Criterion, criteria_for
from inspector_app.analysis.evals import CaseResult, Evaluation
from inspector_app.analysis.judging import judge_of
from inspector_app.documents.session_address import SessionAddress
from inspector_app.evals.eval_page import EvalPage
from inspector_app.exchange.eval_cases import expected_copy
from inspector_app.exchange.eval_sets import EvalCase, EvalSet, read_eval_set
from inspector_app.presentation.values import counted
from inspector_app.workspace.agent_runs import QuietRuns
from inspector_app.workspace.workspace import Workspace
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

BUSY = "An eval is running: cancel it first, or wait for its end."
EXPECTED = " expected"  # ends the id of the session with what a case expects


class EvalController(QObject):
    """A controller of the page of evals.

    Signals:
        opened: the page is to be displayed.
        left: the user left the page.
        compare_requested(SessionAddress, SessionAddress): what was expected and what the agent did are to be compared.

    Args:
        work: the owners.
        page: the page to fill.
    """

    opened = Signal()
    left = Signal()
    compare_requested = Signal(object, object)

    def __init__(self, work: Workspace, page: EvalPage) -> None:
        super().__init__(page)
        self._work = work
        self._page = page
        self._file: Path | None = None
        self._set = EvalSet("", ())
        self._criteria: tuple[Criterion, ...] = ()
        self._agent: QuietRuns | None = None
        self._results: dict[str, CaseResult] = {}
        self._addresses: dict[SessionKey, SessionAddress] = {}
        self._waits_for_agent = False
        page.head.left.connect(self._on_left)
        page.head.cancelled.connect(self._on_cancelled)
        page.agent_requested.connect(self._on_agent_requested)
        page.run_requested.connect(self._on_run_requested)
        page.session_requested.connect(self._on_session_requested)
        page.compare_requested.connect(self._on_compare_requested)
        work.agents.agent_loaded.connect(self._on_agent_loaded)
        for signal in (work.agents.agent_loaded, work.agents.busy_changed, work.run.changed):
            signal.connect(self._show_agent)
        self._show_agent()

    def open(self, path: str) -> None:
        """Open an eval set, and show the page."""
        self._work.tasks.spawn(self._open(Path(path)), f"Opening {Path(path).name}")

    async def _open(self, file: Path) -> None:
        await self._read(file)
        self._results, self._addresses = {}, {}
        self._page.show_set(self._set.cases, [one.metric for one in self._criteria])
        self._page.head.show_progress("", 0, 0)
        self._show_agent()
        self.opened.emit()

    async def _read(self, file: Path) -> None:
        """Read the eval set and what it measures; see `read_eval_set` and `criteria_for` for the errors."""
        eval_set = await run_in_thread(read_eval_set, file)
        criteria = await run_in_thread(criteria_for, None, [file])
        self._file, self._set, self._criteria = file, eval_set, criteria

    def _on_run_requested(self, ids: Sequence[str]) -> None:
        self._work.tasks.spawn(self._run(list(ids)), "Running the eval")

    async def _run(self, ids: Sequence[str]) -> None:
        if self._file is None:
            return
        await self._read_again(self._file)
        cases = [case for case in self._set.cases if case.id in ids]
        async with self._work.runs.begin(BUSY, unsaved=True) as agent:
            evaluation = Evaluation(self._criteria, judge_of(agent.plan))
            evaluation.check()
            self._agent = agent
            done = 0
            try:
                for number, case in enumerate(cases, 1):
                    if agent.is_stopped:
                        break
                    self._page.head.show_progress(f"Case {number} of {len(cases)}", number - 1, len(cases))
                    self._page.show_running(case.id)
                    done += await self._run_one(evaluation, agent, case)
            finally:
                self._agent = None
                self._page.show_running("")
                self._show_end(done, len(cases), agent.is_stopped)

    async def _read_again(self, file: Path) -> None:
        """Read the file again: cases may have been added to it."""
        before = self._set.cases, self._criteria
        await self._read(file)
        if (self._set.cases, self._criteria) != before:
            known = {case.id: case for case in before[0]}
            unchanged = {case.id for case in self._set.cases if known.get(case.id) == case} if self._criteria == before[1] else set()
            self._results = {name: result for name, result in self._results.items() if name in unchanged}
            self._page.show_set(self._set.cases, [one.metric for one in self._criteria])
            self._page.show_results(self._results)
            self._show_agent()

    async def _run_one(self, evaluation: Evaluation, agent: QuietRuns, case: EvalCase) -> bool:
        """Run a case; return whether it was run to its end."""
        result = await evaluation.run(agent, self._set.id, case)
        if result.key is not None:
            self._addresses[result.key] = agent.address(result.key)
        if agent.is_stopped:
            return False
        self._results[case.id] = result
        self._page.show_results(self._results)
        return True

    def _show_end(self, done: int, of: int, stopped: bool) -> None:
        passed = sum(result.status == "passed" for result in self._results.values())
        failed = sum(result.status == "failed" for result in self._results.values())
        words = f"{passed} of {counted(len(self._results), 'case')} passed, {failed} failed."
        ended = "" if done == of else f"{'Cancelled' if stopped else 'Ended by an error'} after {done} of {counted(of, 'case')}. "
        self._page.head.show_progress(ended + words, 1, 1)

    def _on_cancelled(self) -> None:
        if self._agent is not None:
            self._page.head.show_progress("Stopping the run…", 0, 0)
            self._agent.stop()

    def _on_session_requested(self, case_id: str) -> None:
        address = self._address(case_id)
        if address is not None:
            self._work.cursor.select_session(address)
            self._on_left()

    def _on_compare_requested(self, case_id: str) -> None:
        result, address = self._results.get(case_id), self._address(case_id)
        if result is not None and address is not None:
            self._work.tasks.spawn(self._compare(result.case, address), "Comparing with what was expected")

    async def _compare(self, case: EvalCase, address: SessionAddress) -> None:
        """Store what a case expects as a session beside the real one, and compare the two."""
        source = self._work.databases.source(address.database)
        if source is None:
            return
        key = address.key
        expected = SessionKey(key.app_name, key.user_id, key.session_id + EXPECTED)
        if all(summary.key != expected for summary in await source.listing()):
            await (await source.service()).store_copy(expected, expected_copy(case))
            await self._work.databases.relist(source)
        self.compare_requested.emit(SessionAddress(address.database, expected), address)

    def _address(self, case_id: str) -> SessionAddress | None:
        result = self._results.get(case_id)
        return self._addresses.get(result.key) if result is not None and result.key is not None else None

    def _on_left(self) -> None:
        self._waits_for_agent = False
        self.left.emit()

    def _on_agent_requested(self) -> None:
        self._waits_for_agent = True

    def _on_agent_loaded(self) -> None:
        if self._waits_for_agent:
            self._waits_for_agent = False
            self.opened.emit()

    def _show_agent(self) -> None:
        """Say what the cases run on, and what cannot be evaluated there."""
        loaded, plan = self._work.agents.loaded, self._work.agents.plan
        name = self._file.name if self._file is not None else "Evals"
        title = f"{name} · {counted(len(self._set.cases), 'case')}" if self._file is not None else name
        judged = [one.metric for one in self._criteria if one.is_judged]
        runs_on = (
            f"Runs on {loaded.name} · {loaded.engine_title}" if loaded is not None else "Open the agent that these cases test, to run them"
        )
        if loaded is not None:
            left_out = Evaluation(self._criteria, judge_of(plan) if plan is not None else None).left_out
            by = dict.fromkeys(judged, f"judged by {loaded.engine_title}")
            by |= {metric: f"not evaluated: {reason}" for metric, reason in left_out.items()}
            runs_on += "".join(f" · {metric}: {how}" for metric, how in by.items())
        self._page.head.set_title(title, runs_on if self._file is not None else "")
        self._page.set_blocked(self._work.runs.why_not() or "", needs_agent=loaded is None)
