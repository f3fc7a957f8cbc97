"""Says which regular expressions of the product take longer than linear growth allows.

`python -m tests.patterns [FIRST LAST]`: those that stand between these places in the sources.
"""

import json
import sys

from tests.patterns.collecting import collect
from tests.patterns.pumping import slow_text


def main() -> None:
    """Print what was found as JSON."""
    found, unknown = collect()
    first, last = sys.argv[1:] or ("", "~")
    places: dict[tuple[object, str], str] = {}
    for use in sorted(found, key=lambda use: (use.place, str(use.pattern.pattern), use.walk)):
        if first <= use.place < last:
            places.setdefault((use.pattern, use.walk), use.place)
    slow = []
    for (pattern, walk), place in places.items():
        if text := slow_text(pattern, walk):
            slow.append((place, str(pattern.pattern), walk, text))
            print(slow[-1], file=sys.stderr, flush=True)
    json.dump({"count": len(places), "unknown": unknown, "slow": slow}, sys.stdout)


main()
