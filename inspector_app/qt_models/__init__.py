"""Adapters that show plain runtime data to Qt views. They know no services and no widgets."""
