"""Agents in folders and files whose names are no names of modules, or those of other modules, are loaded on each engine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.engines.conftest import EMBEDDED, IN_PROCESS, PYTHONS

NAMES = [
    "my.agent",
    "my-agent",
    "my agent",
    "class",
    "123",
    "日本",
    "🙂",
    ".hidden",
    "end.",
    "end ",
    "x" * 200,
    "json",
    "google",
    "runtime",
]
CODE = "from google.adk.agents import BaseAgent\nclass A(BaseAgent):\n    pass\nroot_agent = A(name='A')\n"
ROOT = Path(__file__).parents[3]
LOADING = f"""
import json, os, sys
engine, base = sys.argv[1:]
sys.path.append({str(ROOT)!r} if engine in ({EMBEDDED!r}, {IN_PROCESS!r}) else {str(ROOT / "inspector_app" / "engines")!r})
if engine == {IN_PROCESS!r}:
    from inspector_app.engines.agent_loader import load_agent
elif engine == {EMBEDDED!r}:
    from inspector_app.engines.adk_worker import google_adk
    from inspector_app.engines.adk_worker.loading import load_agent
    google_adk.use_embedded_runtime()
    import runtime.agents.config_agent_utils, runtime.agents.llm_agent, runtime.apps.app
else:
    from adk_worker.loading import load_agent
    import google.adk.agents.config_agent_utils, google.adk.agents.llm_agent, google.adk.apps
for place in json.loads(sys.stdin.read()):
    if not os.fork():  # each in a process of its own, which has the imports of the first
        try:
            load_agent(os.path.join(base, place))
        except BaseException as error:
            print(place, type(error).__name__, error, flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.parametrize("engine", [*PYTHONS, IN_PROCESS])
def test_agents_with_odd_names_are_loaded(engine: str, tmp_path: Path) -> None:
    python = PYTHONS[engine]() if engine in PYTHONS else sys.executable
    kinds = (
        "folder",
        "package",
        "file",
        *(("yaml",) if engine not in (EMBEDDED, IN_PROCESS) else ()),
    )  # YAML agents run on google-adk only
    places = [f"{kind}/{name}{'.py' if kind == 'file' else ''}" for kind in kinds for name in NAMES]
    for place in map(tmp_path.joinpath, places):
        if place.parent.name == "file":
            place.parent.mkdir(exist_ok=True)
            place.write_text(CODE)
            continue
        place.mkdir(parents=True)
        if place.parent.name == "yaml":
            (place / "root_agent.yaml").write_text("name: A\nmodel: gemini-2.0-flash\ninstruction: hi\n")
        else:
            (place / "agent.py").write_text(CODE)
        if place.parent.name == "package":
            (place / "__init__.py").write_text("from . import agent\n")
    asked = [python, "-c", LOADING, engine, str(tmp_path)]
    done = subprocess.run(asked, input=json.dumps(places), capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
