"""Connections to a database: URLs, files, servers, the database thread, errors."""
