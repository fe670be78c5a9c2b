"""What the window and the short commands do not load: people who only look would wait for it, for half a second of a processor."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end2end.processes import ROOT, environment

LATER = ("google.genai", "sqlalchemy", "aiohttp", "fastapi", "starlette", "uvicorn", "mcp", "litellm", "matplotlib", "runtime.runners")
"""For agents, servers and writing."""

WINDOW = f"""
import asyncio, json, sys, tempfile
from pathlib import Path
from inspector_app.commands.window import load_app
app = load_app(off_screen=True)
found = {{}}

def look(moment, *more):
    found[moment] = [name for name in {LATER!r} + more if name in sys.modules]

async def live(inspector):
    inspector.show((1280, 800))
    inspector.window.repaint()
    await asyncio.sleep(0)
    look("first frame", "pydantic", "pydantic_core", "psutil", "genai_prices", "importlib.metadata", "dotenv", "tomllib")
    found["import function"] = __import__.__name__
    await inspector.open([sys.argv[1]])
    inspector.window.repaint()
    look("session")
    await inspector.tasks.wait_until_idle()
    look("idle")
    found["events"] = inspector.features.stream.events.event_count
    closed = app._closing(inspector)
    inspector.close()
    await closed
    return 0

with tempfile.TemporaryDirectory() as folder:
    app._with_application(live, app.Settings(Path(folder)), True, "dark", None)
print(json.dumps(found))
"""


@pytest.mark.parametrize("layout", ["v1", "ours"])
def test_a_window_that_reads_sessions_loads_nothing_of_agents(layout: str, tmp_path: Path) -> None:
    database = shutil.copy(ROOT / "tests" / "data" / f"{layout}.db", tmp_path)
    command = [sys.executable, "-c", WINDOW, database]
    settings = {**environment(), "QT_QPA_PLATFORM": "offscreen", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("events") > 5
    assert found.pop("import function") != "__feature_import__"  # it reads the source of each module
    assert found == {"first frame": [], "session": [], "idle": []}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["help"], ["sessions", "--help"], ["complete"]], ids=" ".join)
def test_help_and_completion_load_nothing_of_agents_and_readers(arguments: list[str]) -> None:
    completing = arguments == ["complete"]
    loaded = (*LATER, "pydantic", "pydantic_core", "PySide6", "psutil", "sqlite3", "asyncio", *(["rich"] if completing else []))
    code = (
        "import sys, atexit\n"
        f"atexit.register(lambda: sys.stderr.write(repr([name for name in {loaded!r} if name in sys.modules])))\n"
        "from inspector_app.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    typed = {"_AGENT_INSPECTOR_COMPLETE": "complete_bash", "COMP_WORDS": "agent-inspector sess", "COMP_CWORD": "1"} if completing else {}
    command = [sys.executable, "-c", code, *([] if completing else arguments)]
    done = subprocess.run(command, env=environment() | typed, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "[]")
    assert done.stdout
