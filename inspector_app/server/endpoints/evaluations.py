"""Evaluations: eval sets, their cases, runs of them, and results."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter
from pydantic import Field
from pydantic.alias_generators import to_camel, to_snake
from starlette.responses import JSONResponse, Response

from inspector_app.server.agents import ServedAgents
from inspector_app.server.bodies import Body, body_of, described
from inspector_app.server.eval_files import EvalError, EvalFiles
from inspector_app.server.eval_models import EvalCase, EvalSet, SessionInput, invocations_of
from inspector_app.server.eval_runs import metrics_info, run_case
from inspector_app.server.paths import DEV_APP, found_session
from runtime.agents.base_agent import BaseAgent
from runtime.errors import NotFoundError
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

_SET = "/{eval_set_id}"
_OPAQUE = {"args", "response", "state", "sessionDetails", "session_details"}  # keys whose values have names of their own

T = TypeVar("T")


class NewSetBody(Body):
    """A new eval set.

    Attributes:
        eval_set: the set; only its id is used, as in google-adk.
    """

    eval_set: EvalSet


class AddSessionBody(Body):
    """A session to make a case of.

    Attributes:
        eval_id: the case's name.
        session_id, user_id: the session.
    """

    eval_id: str
    session_id: str
    user_id: str


class RunEvalBody(Body):
    """Which cases to run, and how to judge them.

    Attributes:
        eval_case_ids, eval_ids: the cases' names; all if empty. The second is google-adk's older name.
        eval_metrics: each with its name and threshold.
    """

    eval_case_ids: list[str] = Field(default_factory=list)
    eval_ids: list[str] = Field(default_factory=list)
    eval_metrics: list[dict[str, Any]]


class Evaluations:
    """Endpoints of evaluations; those with `eval_sets` in their path are google-adk's older ones.

    Args:
        agents: the served agents.
    """

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""

        def add(method: str, path: str, handler: Callable[..., Any], kind: type[Any] | None = None) -> None:
            extra = described(kind) if kind is not None else None
            router.add_api_route(DEV_APP + path, handler, methods=[method], response_model=None, openapi_extra=extra)

        for sets, cases, add_session in (
            ("/eval-sets" + _SET, "/eval-cases/{eval_case_id}", "/add-session"),
            ("/eval_sets" + _SET, "/evals/{eval_case_id}", "/add_session"),
        ):
            add("POST", sets + add_session, self.add_session, AddSessionBody)
            add("GET", sets + cases, self.get_case)
            add("PUT", sets + cases, self.put_case, EvalCase)
            add("DELETE", sets + cases, self.delete_case)
        add("GET", "/eval-sets", self.list_sets)
        add("GET", "/eval_sets", self.list_sets_only)
        add("POST", "/eval-sets", self.create_set, NewSetBody)
        add("POST", "/eval_sets" + _SET, self.create_named_set)
        add("GET", "/eval_sets" + _SET + "/evals", self.list_cases)
        add("POST", "/eval-sets" + _SET + "/run", self.run, RunEvalBody)
        add("POST", "/eval_sets" + _SET + "/run_eval", self.run_only, RunEvalBody)
        add("GET", "/eval-results", self.list_results)
        add("GET", "/eval_results", self.list_results_only)
        add("GET", "/eval-results/{eval_result_id}", self.get_result)
        add("GET", "/eval_results/{eval_result_id}", self.get_result)
        add("GET", "/metrics-info", self.list_metrics)

    async def list_sets(self, app_name: str) -> Response:
        """List the eval sets of an app; none of an unknown app."""
        return JSONResponse({"evalSetIds": await self._names(app_name)})

    async def list_sets_only(self, app_name: str) -> Response:
        """List the eval sets of an app."""
        return JSONResponse(await self._names(app_name))

    async def create_set(self, app_name: str, body: Annotated[NewSetBody, body_of(NewSetBody)]) -> Response:
        """Create an empty eval set."""
        made = await self._with_files(app_name, lambda files: files.create(body.eval_set.eval_set_id))
        return JSONResponse(made.model_dump(mode="json", exclude_none=True))

    async def create_named_set(self, app_name: str, eval_set_id: str) -> Response:
        """Create an empty eval set."""
        await self._with_files(app_name, lambda files: files.create(eval_set_id))
        return JSONResponse(None)

    async def list_cases(self, app_name: str, eval_set_id: str) -> Response:
        """List the cases of an eval set."""
        found = await self._set(app_name, eval_set_id)
        return JSONResponse(sorted(case.eval_id for case in found.eval_cases))

    async def get_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> Response:
        """Return a case."""
        found = await self._with_files(app_name, lambda files: files.case(eval_set_id, eval_case_id))
        return JSONResponse(found.model_dump(mode="json", by_alias=True, exclude_none=True))

    async def put_case(self, app_name: str, eval_set_id: str, eval_case_id: str, body: Annotated[EvalCase, body_of(EvalCase)]) -> Response:
        """Replace a case."""
        if body.eval_id != eval_case_id:
            raise EvalError("Eval id in EvalCase should match the eval id in the API route.")
        await self._with_files(app_name, lambda files: files.replace(eval_set_id, eval_case_id, body))
        return JSONResponse(None)

    async def delete_case(self, app_name: str, eval_set_id: str, eval_case_id: str) -> Response:
        """Delete a case."""
        await self._with_files(app_name, lambda files: files.replace(eval_set_id, eval_case_id, None))
        return JSONResponse(None)

    async def add_session(self, app_name: str, eval_set_id: str, body: Annotated[AddSessionBody, body_of(AddSessionBody)]) -> Response:
        """Make a case of a session's events."""
        agent = self._agents.named(app_name)
        session = await found_session(agent.sessions, SessionKey(app_name, body.user_id, body.session_id))
        state = _placeholders((await agent.runner()).agent)
        case = EvalCase(
            eval_id=body.eval_id,
            conversation=invocations_of(session.events),
            session_input=SessionInput(app_name=app_name, user_id=body.user_id, state=state),
            creation_timestamp=time.time(),
        )
        await self._with_files(app_name, lambda files: files.add(eval_set_id, case))
        return JSONResponse(None)

    async def run(self, app_name: str, eval_set_id: str, body: Annotated[RunEvalBody, body_of(RunEvalBody)]) -> Response:
        """Run cases, each in a session of its own, and store their results."""
        return JSONResponse({"runEvalResults": await self._run(app_name, eval_set_id, body)})

    async def run_only(self, app_name: str, eval_set_id: str, body: Annotated[RunEvalBody, body_of(RunEvalBody)]) -> Response:
        """Run cases, each in a session of its own, and store their results."""
        return JSONResponse(await self._run(app_name, eval_set_id, body))

    async def list_results(self, app_name: str) -> Response:
        """List the ids of the results."""
        return JSONResponse({"evalResultIds": await self._with_files(app_name, EvalFiles.results)})

    async def list_results_only(self, app_name: str) -> Response:
        """List the ids of the results."""
        return JSONResponse(await self._with_files(app_name, EvalFiles.results))

    async def get_result(self, app_name: str, eval_result_id: str) -> Response:
        """Return a result."""
        return JSONResponse(_renamed(await self._with_files(app_name, lambda files: files.result(eval_result_id)), to_camel))

    async def list_metrics(self, app_name: str) -> Response:
        """List the metrics."""
        return JSONResponse({"metricsInfo": metrics_info()})

    async def _run(self, app_name: str, eval_set_id: str, body: RunEvalBody) -> list[dict[str, Any]]:
        agent = self._agents.named(app_name)
        chosen = set(body.eval_case_ids or body.eval_ids)
        cases = [case for case in (await self._set(app_name, eval_set_id)).eval_cases if not chosen or case.eval_id in chosen]
        metrics = [_renamed(metric, to_snake) for metric in body.eval_metrics]
        results = [await run_case(agent, eval_set_id, case, metrics) for case in cases]
        if results:
            await self._with_files(app_name, lambda files: files.keep_result(eval_set_id, results))
        shown = [{name: value for name, value in result.items() if name != "session_details"} for result in results]
        return [{**_renamed(result, to_camel), "evalMetricResults": []} for result in shown]

    async def _names(self, app_name: str) -> list[str]:
        try:
            return await self._with_files(app_name, EvalFiles.names)
        except NotFoundError:
            return []

    async def _set(self, app_name: str, eval_set_id: str) -> EvalSet:
        """Return an eval set; a missing one is a wrong request here, as in google-adk."""
        try:
            return await self._with_files(app_name, lambda files: files.read(eval_set_id))
        except NotFoundError as error:
            raise EvalError(str(error)) from error

    async def _with_files(self, app_name: str, work: Callable[[EvalFiles], T]) -> T:
        files = EvalFiles(app_name, self._agents.named(app_name).folder)
        return await run_in_thread(lambda: work(files))


def _placeholders(agent: BaseAgent) -> dict[str, str]:
    """Return the state keys that the agents' instructions name, each with an empty text."""
    found = {key: "" for below in agent.sub_agents for key in _placeholders(below)}
    instruction = getattr(agent, "instruction", None)
    return {**found, **dict.fromkeys(re.findall(r"{(\w+)}", instruction), "")} if isinstance(instruction, str) else found


def _renamed(value: Any, rename: Callable[[str], str]) -> Any:
    """Return JSON with the names of its fields in the other spelling."""
    if isinstance(value, list):
        return [_renamed(item, rename) for item in value]
    if isinstance(value, dict):
        return {rename(name): item if name in _OPAQUE else _renamed(item, rename) for name, item in value.items()}
    return value
