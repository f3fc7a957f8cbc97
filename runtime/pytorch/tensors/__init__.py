"""Tensors, their memory and their text."""
