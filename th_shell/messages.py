"""The messages of editors' protocols: JSON behind a header that tells its length."""

import json
from typing import BinaryIO


class NoMessageError(Exception):
    """Data of a client that is no message."""


def read_message(source: BinaryIO) -> bytes | None:
    r"""Return the next message, an object of JSON; None where the client has gone.

    Names in the header may be in lower case, and its lines may end with '\n' alone. Raises
    NoMessageError.
    """
    fields = {}
    try:
        while (line := source.readline()).strip():
            name, _, value = line.partition(b":")
            fields[name.strip().lower()] = value
        if not (line or fields):
            return None
        length = max(int(fields[b"content-length"]), 0)
        data = source.read(length)
        if len(data) == length and json.loads(data) and data.lstrip().startswith(b"{"):
            return data
    except (LookupError, OSError, ValueError, MemoryError, OverflowError, RecursionError):
        pass
    raise NoMessageError("what the client has sent is no message")
