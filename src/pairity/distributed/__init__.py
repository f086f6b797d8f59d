"""Pairs beyond one machine: Parquet files and Dask DataFrames, worked on by a Dask cluster."""

from pairity.distributed.dataset import PairDataset
from pairity.distributed.predictions import write_predictions
from pairity.distributed.train import fit

__all__ = ["PairDataset", "fit", "write_predictions"]
