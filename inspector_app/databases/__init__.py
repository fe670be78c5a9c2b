"""What a database holds beside sessions: raw tables, shared state, files without sessions."""
