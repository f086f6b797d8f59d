"""Experiments that the paper leaves open, each run by one command."""
