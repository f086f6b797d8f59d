"""Solvers: problems, solutions, certificates, and how the optimum is found."""
