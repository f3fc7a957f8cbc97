"""From a page to its examples."""
