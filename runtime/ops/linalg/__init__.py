"""Manual, Math Functions: BLAS and LAPACK operations."""
