"""The real google-adk opens and continues our session after any event of any agent tree."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runtime.sessions import DatabaseSessionService, Session
from tests.crash.tree_process import IDS, drive
from tests.crash.trees import TREES
from tests.interop.adk_trees import PROGRAM
from tests.interop.google_adk import adk_1_python, adk_python, run_adk
from tests.interop.google_adk_resume_differences import difference
from tests.sweep import count

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(7200)]
# One process of google-adk for each group of trees: one prefix of some trees in the quick run, all prefixes of all trees in the full one.
GROUPS, SOME_TREES, PREFIXES = count(quick=1, full=8), count(quick=14, full=100), count(quick=1, full=100)

# google-adk tells agents of one name apart by nothing, and may fail with the checkpoint of another one.
KNOWN_APART = [name for name in TREES if not name.startswith("one name")]


async def _loaded(file: Path) -> Session:
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.get_session(**IDS)
        assert session is not None
        return session


async def _prefixes(name: str, folder: Path) -> list[dict[str, Any]]:
    """Run a tree, and write a file for each prefix of its events that a crash could leave."""
    await drive(folder, TREES[name])
    whole = await _loaded(folder / "sessions.db")
    every = range(1, len(whole.events) + 1)
    jobs: list[dict[str, Any]] = []
    for kept in random.Random(name).sample(every, min(PREFIXES, len(every))):
        file = folder / f"{kept}.db"
        async with DatabaseSessionService(f"sqlite:///{file}") as service:
            session = await service.create_session(**IDS)
            for event in whole.events[:kept]:
                await service.append_event(session, event.model_copy(deep=True))
        left = await _loaded(file)
        job = {"name": name, "kept": kept, "file": str(file), "spec": TREES[name], "invocation_id": whole.events[0].invocation_id}
        read = {"ids": [event.id for event in left.events], "state": left.state}
        jobs.append({**job, "read": read, "final": whole.state})
    return jobs


def _new_folder(parent: Path, name: str) -> Path:
    folder = parent / name.replace(" ", "-")
    folder.mkdir()
    return folder


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize(("version", "python"), [("1.39", adk_1_python), ("2.13", adk_python)])
async def test_google_adk_opens_and_continues_every_state(version: str, python: Callable[[], str], group: int, tmp_path: Path) -> None:
    names = KNOWN_APART[group::GROUPS]
    names = random.Random(version).sample(names, min(SOME_TREES, len(names)))
    jobs = [job for name in names for job in await _prefixes(name, _new_folder(tmp_path, name))]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    wrong = []
    for job, found in zip(jobs, run_adk(PROGRAM, str(tmp_path / "jobs.json"), python=python(), timeout=count(110, 3000)), strict=True):
        assert found["read"] == job["read"], f"{job['name']} after {job['kept']} events"
        assert found["then"] is None, f"{job['name']} after {job['kept']} events takes no further message: {found['then']}"
        is_same = found["state"] == job["final"] and not found["error"] and not found["open"]
        if not is_same and difference(job["name"], version, job["kept"]) is None:
            missing = sorted(job["final"].keys() - found["state"].keys())
            wrong.append((job["name"], job["kept"], found["error"], f"missing: {missing}, open: {found['open']}"))
    assert wrong == []
