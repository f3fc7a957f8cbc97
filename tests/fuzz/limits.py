"""What the process of a fuzzer may use, so that a finding cannot hurt the machine."""

import os
import resource

#: Bytes of address space, or in guard mode of memory that may be written: huge sizes fail at once
#: instead of filling the machine.
MEMORY = 2000 << 20


def limit(memory: int = MEMORY) -> None:
    """Limit this process: no core files, no more memory than given."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    guarded = os.environ.get("TH_GUARD")  # which takes address space that is not accessible
    resource.setrlimit(resource.RLIMIT_DATA if guarded else resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
