"""Low-rank models at sizes where object Gram matrices, or pairs, no longer fit."""
