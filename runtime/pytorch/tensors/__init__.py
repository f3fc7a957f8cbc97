"""Tensors and their memory."""
