"""Models of few parameters: object features phi, and f(a, b) = phi_a' W phi_b."""
