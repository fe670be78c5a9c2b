"""Opens what a command's options name: the engine, a Runner, the recording and the files of a database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from inspector_app.commands.options.running import Resume, Run
from inspector_app.documents.session_files import files_folder
from inspector_app.engines.agent_loader import LoadedAgent, check_agent_path
from inspector_app.engines.engine_choice import EngineChoice, EngineKind, EnginePlan, plan_engine
from inspector_app.engines.recorder_file import recorder_plugin
from inspector_app.support.preferences import Preferences
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.artifacts.file_artifact_service import FileArtifactService
from runtime.errors import StorageError
from runtime.memory.in_memory_memory_service import InMemoryMemoryService
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.storage.recordings.recording import recording_beside
from runtime.support.file_names import unusable_name


def recording_of(options: Run | Resume) -> Path | None:
    """Return the file that records the model calls of a run: the one beside the database, as the window names it.

    None without a database file, with `--no-record`, or if recording is turned off in the window.
    """
    if options.no_record or options.db is None or "://" in options.db or not Preferences().records_requests:
        return None
    return recording_beside(Path(options.db))


def planned_engine(agent: str, engine: EngineKind | None, python: str | None, debugpy: int | None = None) -> EnginePlan:
    """Return what runs an agent."""
    check_agent_path(agent)
    return plan_engine(agent, EngineChoice(engine, python, debugpy))


def open_artifacts(folder: str | None, database: str) -> FileArtifactService | None:
    """Return the service for the folder with the files of a database's sessions; None if there is no folder.

    Args:
        folder: the named folder; None: the one beside the database, if it exists.
        database: path or URL.

    Raises:
        StorageError: the folder does not exist.
    """
    if folder is not None and (reason := unusable_name(Path(folder))):
        raise StorageError(f"{folder} {reason}.")
    if folder is not None and not Path(folder).is_dir():
        raise StorageError(f"There is no folder {folder}. Name the folder with the session's files after --artifacts.")
    found = files_folder(database) if folder is None else Path(folder)
    return FileArtifactService(found, follows_link=folder is not None) if found is not None and _is_folder(found) else None


def _is_folder(path: Path) -> bool:
    return unusable_name(path) is None and path.is_dir()


@asynccontextmanager
async def open_runner(
    loaded: LoadedAgent, app_name: str, service: BaseSessionService, artifacts: BaseArtifactService, recording: Path | None = None
) -> AsyncIterator[Runner]:
    """Yield a Runner for a loaded agent, with the agent's environment variables set, and close it afterwards.

    Args:
        loaded: the agent.
        app_name: the app name of its sessions.
        service: stores the sessions.
        artifacts: stores the files.
        recording: the file in which model and tool calls are recorded; None: nowhere.
    """
    runner = Runner(
        app=loaded.app, app_name=app_name, session_service=service, artifact_service=artifacts, memory_service=InMemoryMemoryService()
    )
    recorder = recorder_plugin(recording) if recording is not None else None
    if recorder is not None and runner.plugin_manager.get_plugin(recorder.name) is None:  # or the app has one
        runner.plugin_manager.register_plugin(recorder, first=True)
    with loaded.environment.active():
        try:
            yield runner
        finally:
            await runner.close()
