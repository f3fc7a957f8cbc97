"""The rows of nn's classes, and of packages beside it: a module for each family of the manual."""
