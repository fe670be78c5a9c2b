"""Prices in cents."""

PRICES = {"paper": 500, "ink": 2900}
