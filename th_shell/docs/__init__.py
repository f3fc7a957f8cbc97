"""Runs the examples of documentation pages: document -> examples -> evaluation -> verdicts."""
