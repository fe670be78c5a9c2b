"""LangGraph's checkpoints, read as sessions and events."""
