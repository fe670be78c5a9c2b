"""Agents as YAML files: their format, and the code that they refer to. What builds agents and tools is in `agents` and `tools`."""
