"""Operators: how a kernel acts between two sets of pairs (rows, diagonal, products)."""

from pairity.operators.pair_operator import PairOperator

__all__ = ["PairOperator"]
