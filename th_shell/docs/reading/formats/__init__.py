"""Readers of page formats: from the lines of a page to its blocks."""
