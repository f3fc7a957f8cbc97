"""Manual, Math Functions: the operations that BLAS and LAPACK compute."""
