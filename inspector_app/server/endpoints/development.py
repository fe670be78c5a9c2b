"""The rest of google-adk's development endpoints: recorded tests as files, and sentences for what is not served."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from inspector_app.server.agents import ServedAgents
from inspector_app.server.bodies import Body, body_of, described
from inspector_app.server.paths import DEV_APP
from runtime.errors import KnownError, NotFoundError, StorageError
from runtime.support.bounded import read_json_file
from runtime.support.worker_threads import run_in_thread

_TESTS = DEV_APP + "/tests"
_EVALS = "This server runs no evaluations: use `agent-inspector eval AGENT EVALSET`, the window's Evals, or `adk web`."
_TRACES = "This server keeps no traces: open its database with `agent-inspector DB`, whose timeline shows each run, or use `adk web`."
_BUILDER = "The visual builder writes agents that google-adk loads: use `adk web`."
_SETS, _OLD_SETS = "/eval-sets/{eval_set_id}", "/eval_sets/{eval_set_id}"  # the second ones are google-adk's older paths
_OF_EVALS = [
    "GET POST /eval-sets",
    "GET /eval_sets",
    f"POST {_OLD_SETS}",
    f"POST {_SETS}/add-session",
    f"POST {_OLD_SETS}/add_session",
    f"GET {_OLD_SETS}/evals",
    f"GET PUT DELETE {_SETS}/eval-cases/{{eval_case_id}}",
    f"GET PUT DELETE {_OLD_SETS}/evals/{{eval_case_id}}",
    f"POST {_SETS}/run",
    f"POST {_OLD_SETS}/run_eval",
    "GET /eval-results",
    "GET /eval_results",
    "GET /eval-results/{eval_result_id}",
    "GET /eval_results/{eval_result_id}",
    "GET /metrics-info",
]
# What needs google-adk itself or a cloud account: method, path, and what does it instead.
_NOT_SERVED = [
    ("POST", _TESTS + "/rebuild", "Rebuilding recorded tests needs google-adk: use `adk web`."),
    ("POST", _TESTS + "/run", "Running recorded tests needs google-adk: use `adk test`."),
    ("GET", DEV_APP + "/builder", _BUILDER),
    ("POST", DEV_APP + "/builder/save", _BUILDER),
    ("POST", DEV_APP + "/builder/cancel", _BUILDER),
    ("GET", DEV_APP + "/debug/trace/session/{session_id}", _TRACES),
    ("GET", DEV_APP + "/debug/trace/{event_id}", _TRACES),
    ("POST", DEV_APP + "/deploy/agent_engine", "This server does not deploy: use `adk deploy agent_engine`."),
    ("POST", DEV_APP + "/deploy/cloud_run", "This server does not deploy: use `adk deploy cloud_run`."),
    ("POST", DEV_APP + "/deploy/gke", "This server does not deploy: use `adk deploy gke`."),
    ("POST", "/agent-identity/finalize", 'Agent Identity support requires: pip install "google-adk[agent-identity]"'),
    *((method, DEV_APP + path, _EVALS) for *methods, path in map(str.split, _OF_EVALS) for method in methods),
]


class TestFileBody(Body):
    """A recorded test."""

    session_data: dict[str, Any]


class TestNameError(KnownError):
    """A name is not one of a file in the agent's `tests` folder."""


class Development:
    """Endpoints for developers."""

    def __init__(self, agents: ServedAgents) -> None:
        self._agents = agents

    def add_to(self, router: APIRouter) -> None:
        """Add the routes."""
        add = router.add_api_route
        add(_TESTS, self.list_tests, methods=["GET"], response_model=None)
        add(_TESTS + "/{test_name}", self.get_test, methods=["GET"], response_model=None)
        add(_TESTS + "/{test_name}", self.put_test, methods=["PUT"], response_model=None, openapi_extra=described(TestFileBody))
        add(_TESTS + "/{test_name}", self.delete_test, methods=["DELETE"], response_model=None)
        add(DEV_APP + "/deploy/defaults", self.deploy_defaults, methods=["GET"], response_model=None)
        for number, (method, path, why) in enumerate(_NOT_SERVED):
            add(path, _refusal(why), methods=[method], response_model=None, name=f"not_served_{number}", summary=why, status_code=501)

    async def list_tests(self, app_name: str) -> Response:
        """List the recorded tests in the agent's folder."""
        folder = self._agents.named(app_name).folder / "tests"
        return JSONResponse(await run_in_thread(lambda: sorted(file.name for file in folder.glob("*.json"))))

    async def get_test(self, app_name: str, test_name: str) -> Response:
        """Return a recorded test."""
        file = self._file(app_name, test_name)
        if not file.is_file():
            raise NotFoundError("Test file not found")
        return JSONResponse(await run_in_thread(read_json_file, file, StorageError))

    async def put_test(self, app_name: str, test_name: str, body: Annotated[TestFileBody, body_of(TestFileBody)]) -> Response:
        """Store a recorded test."""
        file = self._file(app_name, test_name)
        text = json.dumps(body.session_data, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        await run_in_thread(_write, file, text)
        return JSONResponse({"status": "success", "file": file.name})

    async def delete_test(self, app_name: str, test_name: str) -> Response:
        """Delete a recorded test."""
        try:
            await run_in_thread(self._file(app_name, test_name).unlink)
        except FileNotFoundError:
            raise NotFoundError("Test file not found") from None
        return JSONResponse({"status": "success"})

    async def deploy_defaults(self, app_name: str) -> Response:
        """Return what a form for deploying would begin with; this server does not deploy."""
        empty = dict.fromkeys(("project", "projectSource", "region", "regionSource", "description", "envFile"))
        return JSONResponse({**empty, "displayName": app_name, "serviceName": app_name})

    def _file(self, app_name: str, test_name: str) -> Path:
        folder = self._agents.named(app_name).folder / "tests"
        name = test_name if test_name.endswith(".json") else f"{test_name}.json"
        file = folder / name
        if Path(name).name != name or "\\" in name or "\0" in name or len(name.encode()) > 200 or file.is_symlink():
            raise TestNameError(f"Invalid test name: {test_name!r}. It must be the name of a file in the app's tests folder, not a path.")
        return file


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")


def _refusal(why: str) -> Any:
    async def refuse() -> Response:
        return JSONResponse({"detail": why}, 501)

    return refuse
