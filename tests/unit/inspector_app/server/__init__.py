"""Tests of `inspector_app.server`."""
