"""Problems of the paper, straight from a kernel that is already projected to its parity."""

from pairity.solvers.problem import TrainingSet


def halved_problem(kernel, pairs, loss, parity):
    """(20), (22), or the ordinary machine: ``loss`` has the weights of the full set."""
    return TrainingSet(pairs, loss, parity, kernel, kernel).halved()


def full_problem(kernel, pairs, loss, parity):
    """(13) or (42) on the rows followed by their mirror images."""
    return TrainingSet(pairs, loss, parity, kernel, kernel).full()
