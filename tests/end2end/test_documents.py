"""Every command and Python block of the documents works as it is written.

In a document, a block marked `sh` or `python` is run; one marked `text` is not. The blocks of a page run in order, in one folder with a
copy of the samples and a file of LangGraph's checkpoints. A Python block that begins with a file's name is written into that file.
`# exit status 3` at the end of a command says that this is how it ends. A command that would open a window saves a picture of it instead.
Agents that name a Gemini model reach a local server.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from inspector_app.cli import app_command
from tests import langgraph_threads, prepared
from tests.gemini_server import Answer, chunk, gemini_server
from tests.sweep import count

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/howto").glob("*.md"))]
BLOCK = re.compile(r"^( *)```(sh|python)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# (\S+/\S+\.py)\n")
COMMANDS = set(app_command().commands)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the language and text of the blocks that are run."""
    return [(language, dedent(text)) for _, language, text in BLOCK.findall(page.read_text(encoding="utf-8"))]


def pages_with_blocks() -> list[Path]:
    return [page for page in PAGES if blocks(page)]


def without_window(command: str) -> str:
    """Return a command that saves a picture where the given one opens a window."""
    words = command.split()
    opens = words[:1] == ["agent-inspector"] and (len(words) == 1 or (words[1] not in COMMANDS and not words[1].startswith("-")))
    return f"{command} --screenshot window.png" if opens and "--screenshot" not in words else command


def run(command: str, folder: Path, environment: dict[str, str]) -> None:
    command, _, ends = command.partition("  # exit status ")
    allowed = [int(status) for status in ends.split(" or ")] if ends else [0]
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode in allowed, f"{command}\n{done.stdout}{done.stderr}"


def write_agent(file: Path, text: str, keys: dict[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.with_name(".env").write_text("".join(f"{name}={value}\n" for name, value in keys.items()), encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="the documents' commands are for a Unix shell")
@pytest.mark.parametrize("page", pages_with_blocks(), ids=lambda page: page.stem)
def test_the_commands_and_programs_of_a_document_work(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "resources", folder / "resources", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(langgraph_threads.folder() / "create_agent_hitl.sqlite", folder / "threads.sqlite")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "INSPECTOR_"))}
    environment |= {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    programs = f"{prepared.program_folder()}:{Path(sys.executable).parent}"
    environment |= {"PATH": f"{programs}:{environment['PATH']}", "QT_QPA_PLATFORM": "offscreen"}
    script: list[str] = []  # lines that set variables stay for later lines
    with gemini_server(Answer([chunk({"text": "It rains."}, finish="STOP", tokens=5)])) as server:
        keys = {"GOOGLE_API_KEY": "key-of-a-test", "GOOGLE_GEMINI_BASE_URL": server.url}
        for language, text in blocks(page):
            if (named := FILE.match(text)) is not None:
                write_agent(folder / named[1], text[named.end() :], keys)
            elif language == "python":
                run(f"{sys.executable} - <<'END'\n{text}\nEND", folder, environment | keys)
            else:
                for line in text.replace("\\\n", " ").splitlines():
                    run("\n".join([*script, without_window(line)]), folder, environment)
                    if re.match(r"[A-Z_]+=", line):
                        script.append(line)


def test_the_documents_have_blocks_that_are_run() -> None:
    assert len(pages_with_blocks()) > 8
    assert without_window("agent-inspector my_agent") == "agent-inspector my_agent --screenshot window.png"
    assert without_window("agent-inspector sessions a.db") == "agent-inspector sessions a.db"


@pytest.mark.sweep
@pytest.mark.parametrize("form", ["text", "html"][: count(quick=1, full=2)])  # most of a site's time goes to its lists of pages
def test_the_documentation_is_built_without_a_warning(form: str, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("pictures"))
    shutil.copy(ROOT / "ARCHITECTURE.md", tmp_path)
    shutil.copytree(ROOT / "resources/plugins", tmp_path / "resources/plugins")
    for page in docs.rglob("*.md"):
        for picture in re.findall(r"!\[.*?\]\((\S+)\)", page.read_text(encoding="utf-8"), re.DOTALL):
            (page.parent / picture).parent.mkdir(exist_ok=True)
            (page.parent / picture).touch()
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", form, str(docs), str(tmp_path / "site")]
    done = subprocess.run(build, capture_output=True, text=True, timeout=250, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"})
    assert done.returncode == 0, done.stderr
    for page, text in (("keyboard", "Ctrl+Shift+P"), ("conditions", "Numbers compare by value"), ("reference/sessions", "append_event")):
        assert text in (tmp_path / "site" / page).with_suffix(".html" if form == "html" else ".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["held", "resume"])
def test_a_picture_of_the_documents_is_drawn_from_the_window(name: str, tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    draw = [sys.executable, str(ROOT / "docs/pictures.py"), name, "light", str(out)]
    done = subprocess.run(draw, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 30_000
