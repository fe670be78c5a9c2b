"""The tests in this folder cover the seeds: each section has a module, and each line of the Python examples is in a test.

These tests are skipped if the seed documents are missing; the examples themselves are in the modules.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.fixture_paths import seeds_dir

HERE = Path(__file__).parent
DOCUMENTS = {
    "event_loop_pattern": "event-loop-pattern.en.md",
    "events": "events.en.md",
    "resume": "resume.es.md",
    "runtime_event_loop": "runtime-event-loop.es.md",
    "session_state": "session-state.es.md",
}

# Heading → why it has no module.
COVERED_ELSEWHERE = {
    "Bucle de Eventos del Runtime": "the title",
    "Reanudar agentes detenidos": "the title",
    "State: El Bloc de Notas de la Sesión": "the title",
    "Comportamientos Importantes del Runtime": "an introduction to the sections below it",
    "¿Qué es session.state?": "an introduction",
    "Cómo se Actualiza el Estado: Métodos Recomendados": "an introduction to the numbered sections below it",
    "Resumen de Mejores Prácticas para el Diseño del Estado": "advice",
    "Runner": "of Componentes clave",
    "Componentes de Lógica de Ejecución": "of Componentes clave",
    "Event": "of Componentes clave",
    "Services": "of Componentes clave",
    "Session": "of Componentes clave",
    "Invocation": "of Componentes clave",
    "Desglose Paso a Paso": "of Una Invocación Simplificada",
    "Usando Plantillas {key}": "of Instrucciones del Agente",
    "Consideraciones Importantes": "of Instrucciones del Agente",
    "Evitando la Inyección de Estado con InstructionProvider": "of Instrucciones del Agente",
}

# First line of an example that is not code to run → what it describes.
NOT_TO_RUN = {
    "def run(new_query, ...)": "the Runner in outline: runtime/runners.py, tests/seeds/runtime_event_loop/test_role_of_the_runner.py",
}

# Replacements in the examples: the import path, names, and ellipses to be filled in by the reader.
REPLACED = [
    (r"google\.adk", "runtime"),
    (r"import Part, Content", "import Content, Part"),
    (r"APP_NAME", "app_name"),
    (r"USER_ID", "user_id"),
    (r"^### (class StoryFlowAgentState)", r"\1"),  # commented out in the seed
    (r"^###   step = WorkflowStep", "step: WorkflowStep"),
    (r"event1 = Event\(\.\.\., ", "event1 = Event(author=agent.name, "),
    (r"self\.name", "NAME"),
    (r"agent\.name", "NAME"),
]


def headings(document: str) -> list[str]:
    text = re.sub(r"```.*?```", "", (seeds_dir() / document).read_text("utf-8"), flags=re.S)
    if "¶" in text:
        return [line.strip("¶⚠️ ") for line in text.splitlines() if line.endswith("¶")] + re.findall(r"^\d\. .*$", text, re.M)
    found = re.findall(r"^(?:\d\. )?\s*#{1,4} (.+?)(?: \{#.*\})?$", text, re.M)
    return [heading.strip("` ") for heading in found]


def modules(folder: str) -> list[Path]:
    return sorted((HERE / folder).glob("test_*.py"))


@pytest.mark.parametrize("folder", DOCUMENTS)
def test_each_module_names_its_section_in_the_document(folder: str) -> None:
    text = re.sub(r"[\s*`\"'“”¶]+", " ", (seeds_dir() / DOCUMENTS[folder]).read_text("utf-8"))
    assert modules(folder)
    for path in modules(folder):
        doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        assert doc.startswith(f"Seed: {folder.replace('_', '-')}, "), path
        named = re.findall(r'"([^"]+)"', doc)
        assert named, f"{path} names no section"
        for section in named:
            assert re.sub(r"[\s*`'“”]+", " ", section).strip() in text, f"{path}: no section {section!r}"


@pytest.mark.parametrize("folder", DOCUMENTS)
def test_each_section_has_a_module(folder: str) -> None:
    docs = re.sub(r"[`\"']", "", " ".join(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "" for path in modules(folder)))
    docs = re.sub(r"\s+", " ", docs)
    missing = [heading for heading in headings(DOCUMENTS[folder]) if re.sub(r"[`\"']", "", heading) not in docs]
    assert [heading for heading in missing if heading not in COVERED_ELSEWHERE] == []


def examples(document: str) -> list[list[str]]:
    """Return the lines of each Python example."""
    text = (seeds_dir() / document).read_text("utf-8")
    if "¶" not in text:
        blocks = re.findall(r"```py(?:thon)?\n(.*?)```", text, re.S)
        return [block.splitlines() for block in blocks]
    # This document has no code fences: a Python block begins at its first import and ends where another language begins.
    blocks = re.findall(r"^(from google\.adk.*?)^(?:import \{|//|Si quieres|Detrás)", text, re.S | re.M)
    return [block.splitlines() for block in blocks]


def tokens(line: str) -> str:
    """Return a line without everything that a formatter may change: comment, spaces, commas and quotes."""
    line = re.sub(r"(^|\s)#(?!##).*$", "", line)
    return re.sub(r"[\s,]|\"\"\"|'''|\"|'", "", line)


def replaced(line: str) -> str:
    for pattern, instead in REPLACED:
        line = re.sub(pattern, instead, line)
    return line


@pytest.mark.rule("R10")
@pytest.mark.parametrize("folder", ["resume", "runtime_event_loop", "session_state"])
def test_each_line_of_the_python_examples_is_in_a_test(folder: str) -> None:
    sources = [path.read_text("utf-8").splitlines() for path in sorted((HERE / folder).glob("*.py"))]
    tested = "".join(tokens(replaced(line)) for source in sources for line in source)
    found = examples(DOCUMENTS[folder])
    assert len(found) == {"resume": 3, "runtime_event_loop": 4, "session_state": 6}[folder]
    for example in found:
        code = [line for line in map(tokens, map(replaced, map(str.strip, example))) if line]
        if any(code[0].startswith(tokens(first)) for first in NOT_TO_RUN):
            continue
        assert [line for line in code if line not in tested] == []
