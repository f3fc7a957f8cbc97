"""Five programs as people write them, one of each kind that tests/docs/python_programs.md shows.

tests/test_programs.py runs them, and has mypy and pyright check their types.
"""
