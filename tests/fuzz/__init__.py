"""Fuzzers: random files, programs, signals and limits that must not break the engine."""
