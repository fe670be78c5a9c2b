"""google-adk 2's import path of `CrewaiTool`."""

from runtime.tools.crewai_tool import CrewaiTool, CrewaiToolConfig

__all__ = ["CrewaiTool", "CrewaiToolConfig"]
