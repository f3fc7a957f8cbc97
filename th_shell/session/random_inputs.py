"""``Chance``: tells by its source whether the output of an input may depend on chance."""

import re

import th_shell.docs.library as docs

#: Functions and methods whose results differ from run to run.
_DRAWS = frozenset(
    "bernoulli cauchy clock date exponential geometric getRNGState initialSeed logNormal "
    "multinomial normal rand randn random randperm seed time tmpname uniform".split()
)
#: Methods whose results do not depend on the values of a tensor.
_GEOMETRY = frozenset(
    "dim isContiguous isSameSizeAs isSetTo nDimension nElement numel size storageOffset stride "
    "type".split()
)
#: New memory, whose values are whatever was there before: by sizes, and not by values.
_NEW = re.compile(r"\b\w*(?:Tensor|Storage)\s*\(\s*\w|\b(?:resize|resizeAs|new)\s*\(")
_FILLS = frozenset("apply copy fill map ones range zero zeros".split())
_ASSIGNED = re.compile(r"\s*(?:local\s+)?([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s*=(?!=)")
_RECEIVER = re.compile(r"\b([A-Za-z_]\w*)\s*:")


class Chance:
    """Follows the names of what depends on chance through the inputs of a page.

    An input depends on chance if it draws random numbers, asks the clock, makes new memory without
    filling it, or uses what such an input has made. built_in: the names there are without a page.
    """

    def __init__(self, built_in: frozenset[str]) -> None:
        self._built_in = built_in
        self._names: set[str] = set()

    def affects(self, source: str) -> bool:
        """Follow the next input, and tell whether it depends on chance."""
        called = docs.lua_names.called_names(source)
        fills = bool(called & _FILLS)
        draws = bool(called & _DRAWS or _NEW.search(source) and not fills)
        assignment = _ASSIGNED.match(source)
        assigned = docs.lua_names.bound_names(source) - self._built_in
        reading = source[assignment.end() :] if assignment else source
        used = docs.lua_names.read_names(reading) - self._built_in
        if called and called <= _GEOMETRY:
            return False
        if not draws and not used & self._names:
            self._names -= assigned
            return False
        if draws:
            self._names |= assigned | set(_RECEIVER.findall(source)) - self._built_in
        elif fills and len(used) == 1 and not assignment:
            self._names -= used
        else:
            self._names |= assigned if assignment else assigned | used
        return True
