"""Who may attach to an app, and that no failure of the connection reaches the app."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest

from inspector_app.engines.attached_app import AttachedApp
from inspector_app.engines.running_apps import PLUGIN, AttachError, RunningApp, running_apps
from runtime.debugger.breakpoints import Breakpoints
from tests.interop.attach.conftest import SECONDS, WEATHER, WEATHER_TEXTS, StartApp, UserApp, Watching
from tests.interop.google_adk import adk_python

SECOND_RUN = 2  # runs that an app completes after the connection was lost


def raw(app: RunningApp, data: bytes) -> bytes:
    """Send bytes to an app, and return what it answers until it closes the connection."""
    received = b""
    with socket.create_connection(("127.0.0.1", app.port), SECONDS) as connection:
        connection.settimeout(SECONDS)
        with contextlib.suppress(ConnectionError):
            connection.sendall(data)
            while part := connection.recv(65_536):
                received += part
    return received


async def run_twice(app: UserApp) -> None:
    for _ in range(SECOND_RUN):
        app.send(WEATHER)
        assert (await app.answered())["texts"] == WEATHER_TEXTS


def test_the_file_is_the_users_own_and_goes_with_the_app(start_app: StartApp, runtime_folder: Path) -> None:
    app = start_app()
    (file,) = (runtime_folder / "agent-inspector").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert {connection.laddr.ip for connection in psutil.Process(app.pid).net_connections("inet")} == {"127.0.0.1"}
    assert app.process.stdin is not None
    app.process.stdin.close()
    app.process.wait(SECONDS)
    assert not list(file.parent.iterdir())


def test_the_file_of_a_killed_app_is_removed(start_app: StartApp, runtime_folder: Path) -> None:
    killed, alive = start_app(), start_app()
    assert {app.pid for app in running_apps()} == {killed.pid, alive.pid}
    killed.process.kill()
    killed.process.wait()
    reused = runtime_folder / "agent-inspector" / f"{os.getppid()}-1.json"  # another process has the id now, and does not listen
    reused.write_text(json.dumps({"pid": os.getppid(), "port": 1, "token": "t", "apps": ["gone"]}))
    reused.chmod(0o600)
    not_ours = runtime_folder / "agent-inspector" / "1-1.json"
    not_ours.write_text(json.dumps({"pid": alive.pid, "port": 1, "token": "t", "apps": ["trap"]}))
    not_ours.chmod(0o644)
    assert [app.pid for app in running_apps()] == [alive.pid]
    assert sorted(file.name.partition("-")[0] for file in (runtime_folder / "agent-inspector").iterdir()) == sorted(["1", str(alive.pid)])


NO_HANDSHAKES = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b'POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\n{"type": "attach"}\n',
    b'{"type": "attach", "protocol": 3}\n',
    b'{"type": "policy", "token": "x"}\n',
    b"{" * 5_000 + b"\n",
    b'{"a":' * 800 + b"\n",
    b"\xff\xfe\n",
    b"[1]\n",
)


def test_what_is_no_handshake_is_closed_without_an_answer(start_app: StartApp) -> None:
    app = start_app()
    listed = app.listed()
    for first in NO_HANDSHAKES:
        assert raw(listed, first) == b"", first
    app.send(WEATHER)
    assert app.answer()["texts"] == WEATHER_TEXTS


async def test_a_wrong_token_and_version_are_refused_with_a_sentence(start_app: StartApp) -> None:
    app = start_app()
    listed = app.listed()
    wrong = RunningApp(listed.pid, listed.port, "0" * 64, listed.apps, listed.place, listed.engine)
    with pytest.raises(AttachError, match="The token is not this app's"):
        await AttachedApp.connect(wrong)
    connection, answer = app.connect(protocol=99)
    connection.close()
    assert answer["reason"].startswith("The app's inspector_plugin.py speaks version 3 of the protocol, the window version 99.")


async def test_a_second_window_is_refused_until_the_first_has_left(start_app: StartApp) -> None:
    app = start_app()
    first = await Watching.begin(app)
    with pytest.raises(AttachError, match=f"The window of process {os.getpid()} is attached to this app"):
        await AttachedApp.connect(app.listed())
    assert app.listed().attached_by == os.getpid()
    await first.detach()
    second = await Watching.begin(app)
    await second.detach()


async def test_an_app_that_is_killed_while_held_is_reported(start_app: StartApp) -> None:
    app = start_app()
    watching = await Watching.begin(app)
    watching.debugger.pause()
    app.send(WEATHER)
    await watching.held()
    app.process.send_signal(signal.SIGKILL)
    async with asyncio.timeout(SECONDS):
        await watching.task
    assert watching.lost == f"user_app ({app.pid}) has ended."


WINDOW = """
import asyncio, sys
from tests.interop.attach.conftest import Watching
class App:
    def listed(self):
        from inspector_app.engines.running_apps import choose, running_apps
        return choose(sys.argv[1], running_apps())
async def main():
    watching = await Watching.begin(App())
    watching.debugger.pause()
    print("attached", flush=True)
    await watching.debugger.wait_until_held()
    watching.debugger.step_into()
    await watching.debugger.wait_until_held()
    print("held", flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""


def start_window(app: UserApp) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WINDOW, str(app.pid)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
async def test_an_app_continues_when_its_window_is_killed_or_stopped_while_it_holds(
    start_app: StartApp, end: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILENCE", "4" if end == signal.SIGSTOP else "60")
    app = start_app()
    window = start_window(app)
    try:
        assert window.stdout is not None
        assert await asyncio.to_thread(window.stdout.readline) == "attached\n"
        app.send(WEATHER)
        assert await asyncio.to_thread(window.stdout.readline) == "held\n"
        assert app.is_silent
        window.send_signal(end)
        assert (await app.answered())["texts"] == WEATHER_TEXTS
        await run_twice(app)
    finally:
        window.kill()
        window.communicate()
    watching = await Watching.begin(app)
    await watching.detach()


async def test_a_window_that_does_not_read_does_not_stop_the_app_for_long(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILENCE", "1.5")
    app = start_app()
    connection, hello = app.connect()
    assert hello["type"] == "hello"
    connection.sendall(b'{"type": "policy", "hold": []}\n')
    pieces = ["x" * 100_000] * 500  # more than the socket and the queue take
    app.send(json.dumps([["stream", *pieces]]))
    assert len((await app.answered())["texts"][0]) == 50_000_000
    connection.close()


async def test_a_flood_of_pieces_arrives_whole_and_in_order(start_app: StartApp) -> None:
    app = start_app()
    watching = await Watching.begin(app)
    pieces = [f"{number} " for number in range(5_000)]
    app.send(json.dumps([["stream", *pieces]]))
    await app.answered()
    await watching.wait_for(lambda: watching.ended)
    assert watching.partials == pieces
    await watching.detach()


def test_an_app_whose_runtime_folder_cannot_be_written_runs_all_the_same(start_app: StartApp, runtime_folder: Path) -> None:
    (runtime_folder / "agent-inspector").write_text("a file is in the way")
    app = start_app()
    app.send(WEATHER)
    assert app.answer()["texts"] == WEATHER_TEXTS
    assert running_apps() == []


async def test_garbage_from_an_attached_window_is_answered_by_an_error(start_app: StartApp) -> None:
    app = start_app()
    connection, _ = app.connect()
    stream = connection.makefile("rwb")
    for line in (b"nonsense\n", b'{"type": "what"}\n', b'{"type": "go", "at": 77}\n', b"[]\n", b'{"type": "policy", "hold": []}\n'):
        stream.write(line)
    stream.flush()
    app.send(WEATHER)
    assert (await app.answered())["texts"] == WEATHER_TEXTS
    kinds = [json.loads(stream.readline())["type"] for _ in range(3)]
    assert kinds == ["error"] * 3
    stream.close()
    connection.close()


def attach_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "inspector_app", "attach", *arguments], capture_output=True, text=True, timeout=SECONDS)


def test_the_command_lists_the_apps(start_app: StartApp) -> None:
    nothing = attach_command()
    assert nothing.returncode == 0 and "Copy inspector_plugin.py next to the agent" in nothing.stderr
    app = start_app()
    listed = attach_command("--json")
    assert [(one["pid"], one["name"], one["engine"]) for one in json.loads(listed.stdout)] == [(app.pid, "user_app", "google-adk 2.13.0")]
    assert f"user_app  {app.pid}" in attach_command().stdout
    assert app.listed().token not in listed.stdout
    wrong = attach_command("shop")
    assert wrong.returncode == 1 and f"No running app is named shop. Running: user_app ({app.pid})." in wrong.stderr


def start_api_server(port: int, agents: Path) -> subprocess.Popen[bytes]:
    program = [adk_python(), "-m", "google.adk.cli", "api_server", "--port", str(port), str(agents)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(program, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, **quiet)


async def test_adk_api_server_loads_an_app_with_the_plugin(tmp_path: Path, runtime_folder: Path) -> None:
    agents = tmp_path / "agents"
    (agents / "shop").mkdir(parents=True)
    (agents / "shop" / PLUGIN.name).write_text(PLUGIN.read_text())
    steps = Path(__file__).parents[1] / "engines" / "agents" / "steps"
    for name in ("agent.py", "scripted.py"):
        (agents / "shop" / name).write_text((steps / name).read_text())
    (agents / "shop" / "__init__.py").write_text("from . import agent\n")
    with (agents / "shop" / "agent.py").open("a") as file:
        file.write("\nfrom .inspector_plugin import InspectorPlugin\n")
        file.write('app = App(name="shop", root_agent=root_agent, plugins=[InspectorPlugin()])\n')
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = start_api_server(port, agents)
    try:
        url = f"http://127.0.0.1:{port}"
        while True:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(urllib.request.urlopen, f"{url}/list-apps", timeout=5)
                break
            assert server.poll() is None

        def post(path: str, body: object) -> object:
            request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return json.loads(answer.read())

        message = {"role": "user", "parts": [{"text": WEATHER}]}
        run = {"app_name": "shop", "user_id": "u", "session_id": "s1", "new_message": message}
        await asyncio.to_thread(post, "/apps/shop/users/u/sessions/s1", {})
        assert "blue over Bern" in json.dumps(await asyncio.to_thread(post, "/run", run))
        (listed,) = await asyncio.to_thread(running_apps)
        assert listed.name == "shop" and listed.pid == server.pid
        watching = await Watching.begin(_Listed(listed))  # type: ignore[arg-type]
        watching.debugger.pause()
        running = asyncio.ensure_future(asyncio.to_thread(post, "/run", run))
        await watching.held("agent start")
        watching.debugger.step()
        await watching.held("event")
        await watching.detach()
        assert "blue over Bern" in json.dumps(await running)
    finally:
        server.kill()
        server.wait()


class _Listed:
    def __init__(self, app: RunningApp) -> None:
        self._app = app

    def listed(self) -> RunningApp:
        return self._app


@pytest.mark.parametrize("without", ["", "NO_RUNNER"])
def test_an_app_is_called_by_its_name_before_its_first_run(
    start_app: StartApp, version: str, without: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP", "corner_shop")
    if without:  # as a server, which makes a Runner for the first request
        monkeypatch.setenv(without, "1")
    app = start_app(version)
    assert app.listed().apps == ("corner_shop",)
    assert app.listed().name == "corner_shop"
    connection, hello = app.connect()
    assert hello["apps"] == ["corner_shop"]
    connection.close()
    if not without:
        app.send(WEATHER)
        assert app.answer()["texts"] == WEATHER_TEXTS
        assert app.listed().apps == ("corner_shop",)


async def test_a_breakpoint_that_is_added_before_a_run_begins_holds_it(start_app: StartApp, version: str) -> None:
    app = start_app(version)
    breakpoints = Breakpoints()
    watching = await Watching.begin(app, breakpoints=breakpoints)
    app.send(WEATHER)
    assert (await app.answered())["texts"] == WEATHER_TEXTS
    for tool, place in (("weather", "before tool"), ("", "before model"), ("", "event")):
        added = breakpoints.add(when=place, tool=tool)  # type: ignore[arg-type]
        app.send(WEATHER)  # at once: the policy may still be on its way
        hold = await watching.held(place)
        assert hold.breakpoint == added.id
        breakpoints.remove(added.id)
        watching.debugger.resume()
        assert (await app.answered())["texts"] == WEATHER_TEXTS
    await watching.detach()


async def test_an_app_that_ends_by_itself_is_told_apart_from_a_lost_connection(start_app: StartApp, version: str) -> None:
    app = start_app(version)
    watching = await Watching.begin(app)
    app.send(WEATHER)
    assert app.process.stdin is not None
    app.process.stdin.close()
    async with asyncio.timeout(SECONDS):
        await watching.task
    assert (watching.lost, watching.has_ended) == (f"user_app ({app.pid}) has ended.", True)
    assert watching.ended == [("s1", None, True)]  # its last messages have arrived
    assert watching.texts() == WEATHER_TEXTS


async def test_a_runner_that_is_closed_is_no_lost_connection(start_app: StartApp) -> None:
    app = start_app()
    watching = await Watching.begin(app)
    app.send("close")
    assert await app.answered() == {"closed": True}
    async with asyncio.timeout(SECONDS):
        await watching.task
    assert (watching.lost, watching.has_ended) == (f"user_app ({app.pid}) has closed its Runner, and continues without the window.", False)


async def test_a_lost_connection_is_no_end_of_the_app(start_app: StartApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILENCE", "0.2")  # shorter than the window's silence
    app = start_app()
    watching = await Watching.begin(app)
    async with asyncio.timeout(SECONDS):
        await watching.task
    assert watching.lost.startswith(f"The connection to user_app ({app.pid}) is lost; the app continues without the window.")
    assert not watching.has_ended
    app.send(WEATHER)
    assert (await app.answered())["texts"] == WEATHER_TEXTS
