"""House rules that can be read off the syntax tree: which calls may occur where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("runtime", "inspector_app", "resources")

TASK_MAKERS = {"create_task", "ensure_future", "gather", "run_coroutine_threadsafe"}
TASKS_FILES = {
    "inspector_app/support/tasks.py",
    "inspector_app/engines/adk_worker/driving.py",  # the worker runs in the agent's Python; 3.10 has no TaskGroup
    "inspector_app/engines/adk_worker/worker.py",
}

BANNED_CALLS = {
    "eval": "runs code from text",
    "exec": "runs code from text, or a nested event loop that breaks every other task",
    "exec_": "a nested event loop that breaks every other task",
    "processEvents": "a nested event loop that breaks every other task",
}
BANNED_PICKLE = {"load", "loads", "Unpickler"}

DOOR = "runtime/storage/connections/open_files.py"
OPENS_DATABASES = {
    DOOR,
    "resources/plugins/recorder_plugin.py",  # works alone inside a user's app; our own process gives it the door
}
ENGINES_FILES = {
    "runtime/storage/writing/database.py",  # SQLAlchemy's engine, whose connections the door makes
    "runtime/storage/reading/server_database.py",  # servers only
}
OPENERS = {"open", "open_regular", "read_bytes", "read_text", "copy", "copy2", "copyfile", "copytree", "fdopen", "create_file"}
OPENS_OTHER_FILES = {
    DOOR,
    "runtime/storage/connections/companions.py",  # the log and the journal, which have no locks; the private copy
    "runtime/storage/connections/new_file.py",  # a new file under a random name
    "runtime/storage/connections/sqlite_file.py",  # the journal
    "runtime/storage/connections/wal_copy.py",  # the log
    "runtime/storage/reading/saved_scan.py",  # text
    "runtime/storage/writing/recover.py",  # a private copy
}
"""Files of `runtime/storage` that open a file themselves, and which; a database is opened through the door alone."""

LOADED_WHERE_USED = (
    "PySide6",
    "qasync",
    "qtawesome",
    "sqlalchemy",
    "google.genai",
    "google.auth",
    "google.oauth2",
    "psycopg",
    "psutil",
    "fcntl",
    "msvcrt",
)
"""What may be imported inside functions: heavy, so that a run that needs none of it does not pay for it, or not there on every system."""


def source_files() -> list[Path]:
    """Return every Python file of the product."""
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def violations(source: str, where: str) -> Iterator[str]:
    """Yield a line for each rule that `source` breaks.

    Args:
        source: Python source.
        where: its path from the root of the checkout, with slashes.
    """
    tree = ast.parse(source)
    groups = _task_groups(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name, owner = _called(node)
            if name in TASK_MAKERS and where not in TASKS_FILES and not (name == "create_task" and owner in groups):
                yield f"{where}:{node.lineno}: {name}(): tasks come from inspector_app/support/tasks.py, in runtime from a TaskGroup"
            if name in BANNED_CALLS:
                yield f"{where}:{node.lineno}: {name}(): {BANNED_CALLS[name]}"
            if name in OPENERS and owner != "StoredDatabase" and where.startswith("runtime/storage/") and where not in OPENS_OTHER_FILES:
                yield f"{where}:{node.lineno}: {name}(): closing a file that SQLite has open drops its locks; see {DOOR}"
            if name == "create_engine" and where not in ENGINES_FILES:
                yield f"{where}:{node.lineno}: {name}(): databases are opened through {DOOR}"
            if name in BANNED_PICKLE and owner in {"pickle", "cPickle", "dill", "cloudpickle"}:
                yield f"{where}:{node.lineno}: {owner}.{name}(): a pickle runs code"
        if isinstance(node, ast.Attribute) and (node.attr, _name(node.value)) == ("connect", "sqlite3") and where not in OPENS_DATABASES:
            yield f"{where}:{node.lineno}: sqlite3.connect: databases are opened through {DOOR}"
        if isinstance(node, ast.ImportFrom) and node.module in ("sqlite3", "sqlite3.dbapi2") and where not in OPENS_DATABASES:
            yield f"{where}:{node.lineno}: from sqlite3 import …: databases are opened through {DOOR}"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _hidden_imports(node, where)


def _called(call: ast.Call) -> tuple[str, str]:
    """Return the called name and, for `a.b.name()`, the name it is called on (`b`)."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id, ""
    if isinstance(function, ast.Attribute):
        owner = function.value
        return function.attr, owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return "", ""


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _task_groups(tree: ast.AST) -> set[str]:
    """Return the names that some `async with asyncio.TaskGroup() as name` binds."""
    return {
        item.optional_vars.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncWith)
        for item in node.items
        if isinstance(item.context_expr, ast.Call)
        and _called(item.context_expr)[0] == "TaskGroup"
        and isinstance(item.optional_vars, ast.Name)
    }


def _hidden_imports(function: ast.FunctionDef | ast.AsyncFunctionDef, where: str) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if not any(name == late or name.startswith(late + ".") for late in LOADED_WHERE_USED):
                yield f"{where}:{node.lineno}: import of {name} inside a function"
