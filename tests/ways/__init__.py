"""Holds all ways to compute a call against each other: see harness.lua."""
