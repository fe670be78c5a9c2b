"""Tests of language models."""
