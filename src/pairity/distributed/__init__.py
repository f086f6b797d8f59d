"""Pairs beyond one machine: Parquet files and Dask DataFrames, worked on by a Dask cluster."""

from pairity.distributed.dataset import PairDataset
from pairity.distributed.predict import write_predictions

__all__ = ["PairDataset", "write_predictions"]
