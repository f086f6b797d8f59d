"""All methods, ours first."""

from __future__ import annotations

from experiments.quality.elo import Elo
from experiments.quality.linear import BradleyTerry, Logistic
from experiments.quality.method import Method
from experiments.quality.ours import Automatic, KernelMachine
from experiments.quality.trees import trees
from experiments.quality.vectors import DoubledSVC

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Automatic(),
        KernelMachine(),
        Logistic(),
        *trees(),
        DoubledSVC(),
        BradleyTerry(),
        Elo(),
    )
}
OURS = Automatic.name
#: Not a peer, nor the model that is compared: one of its members alone.
PART = KernelMachine.name
