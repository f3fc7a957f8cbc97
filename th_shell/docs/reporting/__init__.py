"""Verdicts as text, JSON and HTML."""
