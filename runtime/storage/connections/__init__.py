"""Connections to a database: URLs, files, servers, the database thread and errors."""
