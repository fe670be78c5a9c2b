"""Words that the project does not use, in comments, docstrings, texts, test names and documents.

`python -m tests.architecture.prose` prints each place, with the plain word to use, and exits with status 1 if there is any.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source_rules import ROOT

# Pattern → what to write instead; only words that a search can tell from plain English.
BANNED = {
    r"stands?\b(?! for |[- ]ins?\b)|stood\b": "is, was",
    r"stands for": "is, represents",
    r"whoever|whomever": "the caller, the user, code that",
    r"whatever": "any, every",
    r"somebody|someone": "the user, another process",
    r"nobody|no one": "no process, no user",
    r"on show": "displayed",
    r"anew": "again",
    r"(?:is|are|was|were|be|been|being) (?:said|told)\b(?! (?:to|apart)\b)": "is reported, is shown",
    r"for it has|for they have": "because it has",
    r"by hand": "manually",
    r"(?:let|lets|letting) go of": "evict, release",
    r"at hand": "in memory",
    r"looked at": "inspected, read",
    r"what waits|that waits for a person": "pending items",
    r"(?:is|are) gone": "is deleted, no longer exists",
    r"(?:goes|go|went|going) on\b(?! (?:the|a|an|to)\b)": "continues",
    r"so-many-?th": "n-th",
    r"look(?:s|ed|ing)? (?:at|for) what": "inspect, search",
    r"to whoever|for whoever": "to the caller",
}

FOLDERS = ("runtime", "inspector_app", "resources", "tests", "bench", "docs", ".github")
EXEMPT = {
    "tests/architecture/prose.py",
    "tests/architecture/test_prose.py",
    "resources/samples/story/script.py",  # the story that the sample's model tells: stored fixtures have it byte for byte
}
_SUMMARY = "A summary of what was said before:"
_GO_ON = "Go on with the task"
# File → phrases that are sent to models or quoted from them, which must not change.
ALLOWED = {
    "runtime/flows/summaries.py": (_SUMMARY,),
    "runtime/models/gemini.py": (_GO_ON,),
    "runtime/tools/preload_memory_tool.py": ("This was said in earlier conversations with the user",),
    "tests/unit/compaction/test_compaction.py": (_SUMMARY,),
    "tests/unit/models/test_gemini.py": (_GO_ON,),
    "tests/unit/storage/reading/test_search_index.py": ("Nobody on the island",),
}
_RULE = re.compile("|".join(f"(?P<w{number}>\\b(?:{pattern}))\\b" for number, pattern in enumerate(BANNED)), re.IGNORECASE)
_INSTEAD = list(BANNED.values())
_STRINGS = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))  # f-strings have tokens of their own from 3.12


def violations(path: str, text: str) -> Iterator[str]:
    """Yield a line for each banned word.

    Args:
        path: from the root of the checkout; a name that ends in `.py` is read as Python, anything else as prose.
        text: the file's content.
    """
    passages = _python_passages(text) if path.endswith(".py") else enumerate(text.splitlines(), 1)
    for number, passage in passages:
        for line, part in enumerate(passage.splitlines() or [""]):
            for phrase in ALLOWED.get(path, ()):
                part = part.replace(phrase, "")
            for found in _RULE.finditer(part):
                word = found.lastgroup or "w0"
                yield f"{path}:{number + line}: {found.group()!r}: write {_INSTEAD[int(word[1:])]}"


def _python_passages(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of every comment, string, function name and class name; a string without a space is a value."""
    previous = ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type in _STRINGS and " " in token.string):
            yield token.start[0], token.string
        elif token.type == tokenize.NAME:
            if previous in ("def", "class"):
                yield token.start[0], token.string.replace("_", " ")
            previous = token.string


def files() -> list[Path]:
    """Return every file whose prose is checked."""
    inside = [path for folder in FOLDERS for suffix in ("*.py", "*.md", "*.yml") for path in sorted((ROOT / folder).rglob(suffix))]
    return [*sorted(ROOT.glob("*.md")), *inside]


def project_violations() -> list[str]:
    """Return the violations in all files of the project."""
    return [
        line
        for path in files()
        if (name := path.relative_to(ROOT).as_posix()) not in EXEMPT
        for line in violations(name, path.read_text("utf-8"))
    ]


def main() -> int:
    """Print all violations; return the exit status."""
    found = project_violations()
    sys.stdout.writelines(line + "\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
