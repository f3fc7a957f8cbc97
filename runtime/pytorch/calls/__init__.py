"""From a call to the implementation: signatures, arguments, errors."""
