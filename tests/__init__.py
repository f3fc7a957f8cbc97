"""All tests. A process that imports them is in guard mode where the environment says so."""

import os

#: Whether it is.
GUARDED = os.environ.get("TH_GUARD", "") not in ("", "0")

if GUARDED:
    from tests import guard

    guard.install()
