"""Quality on real pairs: the automatic model beside what users would pick instead.

``python -m experiments.quality`` measures every method on every task of :mod:`.tasks`, on the same
leak-free splits and with the same tuning budget, and writes ``experiments/results/quality.md``.
"""
