"""Reads TOML: by Python's tomllib, or before Python 3.11 by tomli, from which that was made."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["TOMLDecodeError", "loads"]
