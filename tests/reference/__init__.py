"""Runs the suites of Torch7's packages, unchanged: `scripts/check --reference FOLDER`."""
