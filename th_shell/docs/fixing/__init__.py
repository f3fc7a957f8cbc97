"""Writes into a page what its examples print."""
