"""google-adk 2's import path of `LangchainTool`."""

from runtime.tools.langchain_tool import LangchainTool, LangchainToolConfig

__all__ = ["LangchainTool", "LangchainToolConfig"]
