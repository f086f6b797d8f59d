"""Estimators: thin public classes in the manner of scikit-learn."""
