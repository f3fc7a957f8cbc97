"""Measures how many errors in a page th-docs finds: `scripts/mutations [COUNT] [PAGE…]`."""
