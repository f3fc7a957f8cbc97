"""Computation of elements: promotion of types, loops element by element, reductions."""
