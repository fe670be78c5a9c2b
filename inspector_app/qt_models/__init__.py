"""Adapters that show plain data through Qt's item models."""
