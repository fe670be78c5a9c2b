"""Every uncaught exception ends in the message bar with its traceback, not only on the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).with_name("uncaught_exceptions.py")
ROOT = DRIVER.parents[3]

PLACES = [
    "in a task",
    "in a callback of the loop",
    "in a slot",
    "in a timer",
    "in a thread",
    "in a paint event",
    "in a model's data",
    "in a finalizer",
    "in a worker thread",
]


def test_uncaught_exceptions_are_reported_with_their_traceback(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "HOME": str(tmp_path),
    }
    done = subprocess.run([sys.executable, str(DRIVER)], capture_output=True, text=True, env=environment, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    said = dict(json.loads(line) for line in done.stdout.splitlines())
    for place in PLACES:
        assert [traced for text, traced in said.items() if text.endswith(place)] == [True], (place, said)
    assert said["another.agent: It went wrong"]
    assert "Traceback" not in done.stderr
