"""One small cluster for all tests here, and pairs written to Parquet."""

import os
from contextlib import contextmanager

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest

import fresh

pytest.importorskip("distributed", reason="the extra pairity[distributed] is not installed")


#: No profiles of the work, and a look at the clock of each loop once a second.
QUIET = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}


@contextmanager
def small_cluster(**options):
    import dask

    from distributed import Client, LocalCluster

    with (
        dask.config.set(QUIET),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # any free port
            silence_logs=50,
            **options,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="package")
def client():
    """Two workers, which are threads here; all that they are told goes through sockets."""
    with small_cluster(processes=False, protocol="tcp") as client:
        yield client


@pytest.fixture(scope="module")
def forked():
    """Workers in processes of their own do not import everything anew."""
    import dask

    fresh.ready()
    with dask.config.set({"distributed.worker.multiprocessing-method": fresh.METHOD}):
        yield


@pytest.fixture(scope="module")
def processes(forked):
    """Two workers in processes of their own, which are started again where they are killed."""
    with small_cluster(memory_limit="1GiB") as client:
        yield client


@pytest.fixture
def own_client(processes):
    """A cluster whose workers may be killed; both are alive when a test begins."""
    processes.wait_for_workers(2, timeout=60)
    processes.run(os.getpid)  # they answer
    return processes


class Problem:
    """Objects with features, and pairs of them in several Parquet files."""

    def __init__(self, folder, symmetry, n_objects=60, n_pairs=600, seed=0):
        import pandas as pd

        rng = np.random.default_rng(seed)
        self.folder, self.symmetry = folder, symmetry
        features = rng.normal(size=(n_objects, 3))
        ids = np.array([f"object {row}" for row in range(n_objects)])
        first = rng.integers(0, n_objects, n_pairs)
        second = (first + rng.integers(1, n_objects, n_pairs)) % n_objects
        group = rng.normal(size=n_pairs)
        one, two = features[first], features[second]
        if symmetry == "antisymmetric":
            value = one[:, 0] - two[:, 0] + one[:, 1] * two[:, 2] - one[:, 2] * two[:, 1] + group
        else:
            value = np.sum(one * two, axis=1) + group
        value = value + 0.3 * rng.normal(size=n_pairs)
        self.objects = pd.DataFrame(features, columns=["x", "y", "z"], index=ids)
        self.pairs = pd.DataFrame(
            {
                "a": ids[first],
                "b": ids[second],
                "g": group,
                "value": value,
                "label": np.where(value > np.median(value), "yes", "no"),
                "weight": rng.integers(0, 3, n_pairs).astype(float),
            }
        )
        self._pairs = self._read()
        self.write()

    @property
    def group(self):
        return {self.symmetry: ["g"]}

    def write(self, n_files=3):
        for number, rows in enumerate(np.array_split(np.arange(len(self.pairs)), n_files)):
            table = self.pairs.iloc[rows]
            table.to_parquet(self.folder / f"{number}.parquet", row_group_size=70, index=False)

    def write_others(self):
        """The same schema and number of rows, other pairs and labels."""
        self.pairs = self.pairs.sample(frac=1.0, random_state=0)
        self.pairs["label"] = np.where(self.pairs["label"] == "yes", "no", "yes")
        self.write()

    def dataset(self, client=None, **using):
        from pairity.distributed import PairDataset

        data = PairDataset.from_parquet(
            self.folder / "*.parquet",
            first="a",
            second="b",
            objects=self.objects,
            **self.group,
        )
        return data.using(client, **{"pairs_per_part": 280, **using})

    def machine(self, **options):
        """A machine for these pairs that a cluster can fit."""
        from pairity import PairSVC
        from pairity.kernels import Gaussian, Linear, Nystroem, Product

        kernel = Product(Nystroem(Gaussian(2.0), 10)) + Linear()
        fitted = kernel.fitted_to(self.in_memory())
        return PairSVC(self.symmetry, **{"kernel": fitted, "C": 0.05, "tol": 1e-3, **options})

    def in_memory(self):
        """The pairs as they were made, whatever became of the tables."""
        return self._pairs

    def _read(self):
        from pairity import Pairs

        return Pairs.from_frame(
            self.pairs, first="a", second="b", objects=self.objects, **self.group
        )


@pytest.fixture(params=["symmetric", "antisymmetric"])
def problem(request, tmp_path):
    return Problem(tmp_path, request.param)


@pytest.fixture
def odd_problem(tmp_path):
    return Problem(tmp_path, "antisymmetric")
