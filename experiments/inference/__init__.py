"""Do intervals cover, do suggestions save votes, are bad judges found?  Simulations and real votes."""
