"""The agent graph: agents, tools, and what each of them used."""
