"""Retrieval from the files of a folder, by LlamaIndex."""

from __future__ import annotations

import importlib
from typing import Any

from runtime.errors.missing_package_error import MissingPackageError, is_installed
from runtime.tools.retrieval.llama_index_retrieval import LlamaIndexRetrieval

if not is_installed("llama_index.core"):
    text = "FilesRetrieval needs LlamaIndex: pip install llama-index-core llama-index-readers-file llama-index-embeddings-google-genai."
    raise MissingPackageError(text, name="llama_index")

EMBEDDINGS = "gemini-embedding-2-preview"  # google-adk's default


class FilesRetrieval(LlamaIndexRetrieval):
    """Lets a model search the files of a folder, which are read and embedded when the tool is created.

    Attributes:
        input_dir: the folder.

    Args:
        name, description: see `BaseTool`.
        input_dir: see above.
        embedding_model: an embedding model of LlamaIndex; Gemini's if None.

    Raises:
        MissingPackageError: `embedding_model` is None, and LlamaIndex's package for Gemini's is not installed.
    """

    def __init__(self, *, name: str, description: str, input_dir: str, embedding_model: Any = None) -> None:
        self.input_dir = input_dir
        core = importlib.import_module("llama_index.core")
        documents = core.SimpleDirectoryReader(input_dir).load_data()
        index = core.VectorStoreIndex.from_documents(documents, embed_model=embedding_model or _gemini_embeddings())
        super().__init__(name=name, description=description, retriever=index.as_retriever())


def _gemini_embeddings() -> Any:
    try:
        module = importlib.import_module("llama_index.embeddings.google_genai")
    except ImportError as error:
        command = "pip install llama-index-embeddings-google-genai"
        raise MissingPackageError(f"FilesRetrieval without an embedding_model needs a package: {command}.", name=error.name) from error
    return module.GoogleGenAIEmbedding(model_name=EMBEDDINGS, embed_batch_size=1)
