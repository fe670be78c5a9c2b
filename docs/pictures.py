"""Draws the pictures of the documents from the real window, so that they are never older than it.

`make docs` calls it. `python docs/pictures.py` draws into `docs/pictures`; with `--readme`, it draws the README's into `resources`. Each
picture is drawn in a process of its own, as the window is one application.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QPushButton

from inspector_app.app import Inspector, save_screenshot
from inspector_app.demo import interrupted_story
from inspector_app.documents.session_address import SessionAddress
from runtime.debugger.calls import ToolCall
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
ORDERS, STORY = (str(ROOT / "resources" / "samples" / name) for name in ("orders", "story"))
MESSAGE = "40 boxes of A4 paper"
SIZE = (1280, 800)  # pixels; nothing is cut off at this size

Prepare = Callable[[Inspector], Coroutine[Any, Any, None]]


def command(*words: str) -> None:
    """Run a command in a child process; it may pause (exit status 3)."""
    done = subprocess.run([sys.executable, "-m", "inspector_app", *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr.decode())


async def until(condition: Callable[[], object]) -> None:
    """Let the window work until a condition holds."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - what a widget shows has no event
            await asyncio.sleep(0.02)


def paused_order(folder: Path) -> list[str]:
    """Make a database with an order that waits for its approval; return what to open."""
    database = str(folder / "orders.db")
    command("run", ORDERS, "--message", MESSAGE, "--db", database, "--session", "s1")
    return [ORDERS, database]


def new_orders(folder: Path) -> list[str]:
    """Return the order desk and a new database."""
    return [ORDERS, str(folder / "orders.db")]


def story(folder: Path) -> list[str]:
    """Return the story sample and a database with an interrupted story."""
    return [STORY, str(interrupted_story(folder / "story.db"))]


def nothing(_folder: Path) -> list[str]:
    """Open the start page."""
    return []


def what_if(folder: Path) -> list[str]:
    """Make an order, and a fork of it in which the stock is too low; return what to open."""
    database = folder / "orders.db"
    command("run", ORDERS, "--message", "3 boxes of A4 paper", "--db", str(database), "--session", "monday")
    with StoredDatabase.open(str(database)) as stored:
        stock = stored.events(SessionKey("orders", "user", "monday"))[6]
    result = '{"sku": "PA4-80", "in_stock": 1}'
    words = ["--session", "monday", "--at", stock.id, "--new-session", "what-if", "--rerun", "--result", result]
    command("fork", str(database), *words, "--agent", ORDERS)
    return [ORDERS, str(database)]


async def compared(inspector: Inspector) -> None:
    """Compare the fork with the session it was forked from."""
    (source,) = inspector.databases.sources
    inspector.cursor.select_session(SessionAddress(source.target, SessionKey("orders", "user", "what-if")))
    compare = inspector.window.parts.origin_hint.findChild(QPushButton, "origin_hint_button")
    await until(compare.isVisible)
    compare.click()
    await until(lambda: inspector.window.page is inspector.window.parts.compare)


def evals(folder: Path) -> list[str]:
    """Make an eval set of an order, with a response that the order desk does not give; return what to open."""
    database, file = str(folder / "orders.db"), folder / "lamps.evalset.json"
    command("run", ORDERS, "--message", "2 desk lamps", "--db", database, "--session", "lamps")
    command("export", database, str(file), "--session", "lamps")
    file.write_text(file.read_text("utf-8").replace('"quantity": 2', '"quantity": 20'), "utf-8")
    return [ORDERS, str(file)]


async def run_evals(inspector: Inspector) -> None:
    """Run all cases."""
    page = inspector.window.parts.evals
    await until(page.run_all_button.isEnabled)
    page.run_all_button.click()
    await until(lambda: "passed" in page.head.state)


async def as_opened(_inspector: Inspector) -> None:
    """Show what was opened."""


async def held_call(inspector: Inspector) -> None:
    """Hold an agent before its first tool call."""
    run = inspector.run
    run.send(MESSAGE, paused=True)
    await until(lambda: run.hold is not None)
    while not isinstance(run.hold.call, ToolCall):
        before = run.hold
        run.step_on("into")
        await until(lambda before=before: run.hold not in (None, before))
    inspector.window.message_bar.clear()  # one would hide what is below


async def resume_question(inspector: Inspector) -> None:
    """Ask what a resume will do."""
    inspector.window.commands.resume.trigger()
    await until(lambda: inspector.window.parts.preflight.shown)


async def notes(inspector: Inspector) -> None:
    """Bookmark an event, and write a note on another one."""
    stream, commands = inspector.window.parts.stream, inspector.window.commands
    stream.select_event(2)
    await inspector.wait_until_shown()
    commands.toggle_bookmark.trigger()
    stream.select_event(4)
    await inspector.wait_until_shown()
    commands.edit_note.trigger()
    note = inspector.window.parts.detail.note
    note.text.setPlainText("The stock is asked for too early. Ask Ana.")
    note.save()


def pane(name: str = "", tab: str = "", select: int | None = None) -> Prepare:
    """Return what raises a pane below the stream or a tab of the inspector, and selects an event by its index."""

    async def show(inspector: Inspector) -> None:
        if name:
            inspector.window.workbench.raise_pane(name)
        if select is not None:
            inspector.window.parts.stream.select_event(select)
        if tab:
            tabs = inspector.window.parts.detail.tabs
            tabs.setCurrentIndex([tabs.tabText(index) for index in range(tabs.count())].index(tab))

    return show


async def charts(inspector: Inspector) -> None:
    """Show the charts of the turns."""
    inspector.window.workbench.raise_pane("timeline")
    inspector.features.timeline.pane.show_charts()


PICTURES: dict[str, tuple[Callable[[Path], list[str]], Prepare]] = {
    "start": (nothing, as_opened),
    "paused": (paused_order, as_opened),
    "notes": (paused_order, notes),
    "held": (new_orders, held_call),
    "resume": (story, resume_question),
    "request": (paused_order, pane(tab="Request", select=9)),
    "timeline": (paused_order, pane("timeline")),
    "charts": (paused_order, charts),
    "graph": (story, pane("graph")),
    "compare": (what_if, compared),
    "evals": (evals, run_evals),
}
README = {"screenshot": "paused", "held": "held", "compare": "compare"}


def draw(name: str, theme: str, out: Path) -> None:
    """Draw one picture in this process."""
    opened, prepare = PICTURES[name]
    with tempfile.TemporaryDirectory() as folder:
        paths = opened(Path(folder))
        status = save_screenshot(paths, str(out), trust=True, theme=theme, size=SIZE, prepare=prepare)
    if status:
        raise SystemExit(status)


def main(words: list[str]) -> None:
    """Draw all pictures, each in a child process; or one, if it is named with its theme and file."""
    if len(words) == 3:
        draw(words[0], words[1], Path(words[2]))
        return
    if words == ["--readme"]:
        wanted = [(name, "dark", ROOT / "resources" / f"{file}.png") for file, name in README.items()]
    else:
        FOLDER.mkdir(exist_ok=True)
        wanted = [(name, theme, FOLDER / f"{name}-{theme}.png") for name in PICTURES for theme in ("light", "dark")]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    for name, theme, out in wanted:
        subprocess.run([sys.executable, __file__, name, theme, str(out)], env=environment, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
