"""Tests of one module each, laid out as the source is."""
