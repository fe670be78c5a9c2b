"""Code that models write, its results, and both as parts of contents."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field

from google.genai import types


@dataclass(frozen=True)
class File:
    """A file that code reads or writes.

    Attributes:
        name: the name with its extension.
        content: the bytes, or their Base64 text.
        mime_type: the media type.
    """

    name: str
    content: str | bytes
    mime_type: str = "text/plain"


@dataclass
class CodeExecutionInput:
    """Code to run.

    Attributes:
        code: the program.
        input_files: the files that it may read.
        execution_id: names the interpreter whose variables an executor with state keeps.
    """

    code: str
    input_files: list[File] = field(default_factory=list)
    execution_id: str | None = None


@dataclass
class CodeExecutionResult:
    """The result of a program.

    Attributes:
        stdout: what it printed.
        stderr: why it failed; empty after a success.
        output_files: the files that it wrote.
        exit_code: its exit status, if the executor knows it.
    """

    stdout: str = ""
    stderr: str = ""
    output_files: list[File] = field(default_factory=list)
    exit_code: int | None = None


class CodeExecutionUtils:
    """Conversions between code, its results and parts of contents."""

    @staticmethod
    def get_encoded_file_content(data: bytes) -> bytes:
        """Return bytes as Base64, and Base64 unchanged."""
        try:
            is_encoded = base64.b64encode(base64.b64decode(data)) == data
        except binascii.Error:
            is_encoded = False
        return data if is_encoded else base64.b64encode(data)

    @staticmethod
    def extract_code_and_truncate_content(content: types.Content, code_block_delimiters: list[tuple[str, str]]) -> str | None:
        """Return the first code in a model's answer, and cut the answer after it.

        Args:
            content: the answer, changed in place if it has code: a block of code in its text becomes a part of code.
            code_block_delimiters: the beginnings and ends of blocks of code in text.

        Returns:
            The code; None if there is none.
        """
        parts = (content.parts if content else None) or []
        for index, part in enumerate(parts):
            answered = index + 1 < len(parts) and parts[index + 1].code_execution_result is not None
            if part.executable_code is not None and not answered:
                content.parts = parts[: index + 1]
                return part.executable_code.code
        spoken = [part for part in parts if part.text]
        text = "\n".join(part.text or "" for part in spoken)
        found = [block for lead, trail in code_block_delimiters if (block := _first_block(text, lead, trail)) is not None]
        begin, code = min(found, default=(0, ""))
        if not code:
            return None
        before = [spoken[0].model_copy(update={"text": text[:begin]})] if begin else []
        content.parts = [*before, CodeExecutionUtils.build_executable_code_part(code)]
        return code

    @staticmethod
    def build_executable_code_part(code: str) -> types.Part:
        """Return a program as a part."""
        return types.Part.from_executable_code(code=code, language=types.Language.PYTHON)

    @staticmethod
    def build_code_execution_result_part(code_execution_result: CodeExecutionResult) -> types.Part:
        """Return a result as a part: the error after a failure, otherwise what was printed and the names of the written files."""
        result = code_execution_result
        if result.stderr:
            return types.Part.from_code_execution_result(outcome=types.Outcome.OUTCOME_FAILED, output=result.stderr)
        told = [f"Code execution result:\n{result.stdout}\n"] if result.stdout or not result.output_files else []
        if result.output_files:
            told.append("Saved artifacts:\n" + ",".join(f"`{file.name}`" for file in result.output_files))
        return types.Part.from_code_execution_result(outcome=types.Outcome.OUTCOME_OK, output="\n\n".join(told))

    @staticmethod
    def convert_code_execution_parts(
        content: types.Content, code_block_delimiter: tuple[str, str], execution_result_delimiters: tuple[str, str]
    ) -> None:
        """Turn code at the end of a content, or a content that is only a result, into text; models accept only their own such parts.

        Args:
            content: changed in place.
            code_block_delimiter: what precedes and follows code.
            execution_result_delimiters: what precedes and follows a result. The content of a result gets the user's role.
        """
        last = content.parts[-1] if content.parts else None
        if content.parts is None or last is None:
            return
        if last.executable_code is not None:
            content.parts[-1] = types.Part(text=(last.executable_code.code or "").join(code_block_delimiter))
        elif len(content.parts) == 1 and last.code_execution_result is not None:
            output = last.code_execution_result.output
            content.parts[-1] = types.Part(text="" if output is None else output.join(execution_result_delimiters))
            content.role = "user"


def _first_block(text: str, lead: str, trail: str) -> tuple[int, str] | None:
    begin = text.find(lead)
    end = text.find(trail, begin + len(lead)) if begin >= 0 else -1
    return (begin, text[begin + len(lead) : end]) if end >= 0 else None
