"""google-adk's own page, served by `agent-inspector api_server` and used in a headless Chromium."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser import Page, chromium, open_browser
from tests.end2end.api_server import ApiServer, api_server
from tests.interop.google_adk import adk_python
from tests.interop.served_agents import write_desk

FIELD = "document.querySelector('textarea')"
SEND = "document.querySelector('.input-container .send-button:not([disabled])')"
LISTED = "[...document.querySelectorAll('button')].filter(found => found.title == 'Delete session')"
LEFT_OUT = re.compile(r"/builder|/debug/trace|/eval[-_]|/metrics-info")  # what the page asks for and this server answers with a sentence
ANSWER = "document.querySelector('input.response-input')"


def button(text: str) -> str:
    kinds = "button, [role=tab], [role=menuitem], .mat-mdc-menu-item, .eval-set-row, mat-checkbox, tr"
    has = f"found.innerText.includes({json.dumps(text)}) && !found.disabled"
    return f"[...document.querySelectorAll({json.dumps(kinds)})].find(found => {has})"


def titled(title: str) -> str:
    titles = "[found.title, found.ariaLabel, found.getAttribute('mattooltip')]"
    return f"[...document.querySelectorAll('button')].find(found => {titles}.includes({json.dumps(title)}))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    chromium()
    folder = write_desk(tmp_path_factory.mktemp("served"))
    with api_server(folder, "--web", str(Path(adk_python()).parent.parent)) as server:
        yield server


async def say(page: Page, text: str, answer: str) -> None:
    await page.type(FIELD, text)
    await page.press_enter()
    await page.shows(answer)


async def test_the_whole_page_works_and_no_request_fails(server: ApiServer, tmp_path: Path) -> None:
    async with open_browser() as page:
        address = f"http://127.0.0.1:{server.port}/"
        await page.open(address)
        await page.shows("Evals")
        await _chat(page)
        await _look(page)
        await page.open(address)
        await _import_and_delete(page, tmp_path, address)
        own = [(method, urlsplit(url).path, status) for method, url, status in page.requests if f":{server.port}/" in url]
        assert [request for request in own if not 200 <= request[2] < 400 and not (request[2] == 501 and LEFT_OUT.search(request[1]))] == []
        assert [error for error in page.errors if "501" not in error] == []
        used = {(method, path) for method, path, _ in own}
        for method, path in (
            ("GET", "/list-apps"),
            ("POST", "/run_sse"),
            ("GET", "/dev/apps/desk/build_graph"),
            ("GET", "/apps/desk/users/user/sessions"),
            ("POST", "/apps/desk/users/user/sessions"),
        ):
            assert (method, path) in used, sorted(used)


async def _chat(page: Page) -> None:
    """Chat, stream, and answer a long-running call."""
    await say(page, "hello", "one two")
    await page.shows("desk completed!")
    await page.click(titled("More options"))
    await page.click(button("Streaming"))
    await page.call("Input.dispatchKeyEvent", type="keyDown", key="Escape", code="Escape", windowsVirtualKeyCode=27)
    await say(page, "please save", "write_note says")
    await say(page, "please approve", "ask_manager(5)")
    while not await page.run(f"{SEND} !== null"):  # the page may draw the field once more
        await page.type(ANSWER, "yes")
    await page.click(SEND)
    await page.shows("ask_manager says")


async def _look(page: Page) -> None:
    """Look at state, artifacts and graph."""
    await page.click(button("State"))
    await page.shows("notes")
    await page.click(button("Artifacts"))
    await page.shows("note.txt")
    await page.click(button("Events"))


async def _import_and_delete(page: Page, folder: Path, address: str) -> None:
    """Import a session from a file, and delete it."""
    event = {
        "id": "i1",
        "author": "user",
        "invocationId": "e-1",
        "timestamp": 5.0,
        "content": {"role": "user", "parts": [{"text": "imported"}]},
    }
    session = {"id": "from_file", "appName": "desk", "userId": "user", "state": {"k": 1}, "events": [event]}
    file = folder / "session.json"
    await asyncio.to_thread(file.write_text, json.dumps(session))
    await page.click(titled("Select a session"))
    await page.choose_file(button("Import"), file)
    await page.shows("Session imported successfully")
    await page.open(f"{address}dev-ui/?app=desk")
    await page.click(titled("Select a session"))
    before = await page.until(f"{LISTED}.length")
    await page.click(f"{LISTED}.at(-1)")
    await page.click(_inside("mat-dialog-container", "Delete"))
    await page.until(f"{LISTED}.length < {before}")


def _inside(around: str, text: str) -> str:
    buttons = f"document.querySelectorAll('{around} button')"
    return f"[...{buttons}].findLast(found => found.innerText.includes({json.dumps(text)}) && !found.disabled)"
