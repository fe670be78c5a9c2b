"""YAML files give the agents that google-adk makes of them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector_app.engines.agent_loader import load_agent
from tests.interop.describe_yaml_agents import described
from tests.interop.engines.conftest import PYTHONS
from tests.yaml_agents import YAML_AGENTS, write_yaml_agents

EMPTY_MODEL = {"": "", None: ""}


@pytest.mark.parametrize("version", ["1.25", "2.13"])
def test_a_yaml_file_gives_the_agent_that_google_adk_makes_of_it(version: str, tmp_path: Path) -> None:
    python: Callable[[], str] = PYTHONS[version]
    write_yaml_agents(tmp_path)
    script = str(Path(__file__).with_name("describe_yaml_agents.py"))
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python(), script, str(tmp_path)], env=clean, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = json.loads(done.stdout.splitlines()[-1])

    ours = {name: described(load_agent(str(tmp_path / name)).root) for name in YAML_AGENTS}

    assert json.loads(json.dumps(ours)) == theirs
