"""Stored sessions as data, without Qt: the session document, pages, past states, filters, files."""
