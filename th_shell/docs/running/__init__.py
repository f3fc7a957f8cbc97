"""Runs examples: the processes, and the engines in them."""
