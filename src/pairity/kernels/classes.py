"""Which class of Section 3 a kernel is in, and its projection to the parity asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms, PairedAtoms, expand
from pairity.kernels.elementary import require_kernel, spread_rows, spread_sample
from pairity.kernels.object_kernels import Precomputed
from pairity.pairs.arrays import Matrix
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, impose

#: Relative deviation up to which a law counts as held, for kernels that can only be measured.
LAW_TOLERANCE = 1e-9
#: Pairs on which the laws of a user's kernel are measured before a fit.
_SAMPLE = 48
#: Pairs on which the size of kernel values is looked at.
_VALUE_SAMPLE = 200
#: The same of pairs without any features.
_FEW_NAMES = 20
#: Kernel values beyond this overflow in products with weights; below the inverse they are lost.
_LARGEST_VALUE, _SMALLEST_VALUE = 1e100, 1e-100
#: What is left of a projection, relative to the kernel, when rounding is all there is.
_ROUNDING = 4.0 * np.finfo(np.float64).eps
#: Objects on which a precomputed matrix is tested for negative eigenvalues.
_OBJECT_SAMPLE = 1000


@lru_cache(maxsize=256)
def parity_of(kernel: Kernel, n_symmetric: int, n_antisymmetric: int) -> Parity | None:
    """EVEN for a balanced kernel, ODD for a skew-balanced one, None for neither."""
    group = n_symmetric, n_antisymmetric
    plain, mirrored = expand(kernel, *group), expand(kernel, *group, right_swapped=True)
    return next((parity for parity in Parity if plain.equals(mirrored * parity.sign)), None)


@lru_cache(maxsize=256)
def is_order_invariant(kernel: Kernel, n_symmetric: int, n_antisymmetric: int) -> bool:
    """Whether K(ba, dc) = K(ab, cd) follows from the formula: class (d) of Section 3."""
    group = n_symmetric, n_antisymmetric
    mirrored = expand(kernel, *group, left_swapped=True, right_swapped=True)
    return expand(kernel, *group).equals(mirrored)


@dataclass(eq=False, repr=False)
class OfPairKernel(Kernel):
    """A construction on one pair kernel."""

    kernel: Kernel

    def check(self) -> None:
        """Refuse what is no kernel."""
        require_kernel(self.kernel, "kernel", "a kernel of pairs")
        super().check()

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.kernel!r})"


class OrderInvariant(OfPairKernel):
    """``(K(ab, cd) + K(ba, dc)) / 2``, formula (38): order-invariant for every pair kernel K."""

    def formula(self, atoms: Atoms) -> Any:
        """Mean over the simultaneous swap of both pairs."""
        mirrored = atoms.swap_left().swap_right()
        return (self.kernel.formula(atoms) + self.kernel.formula(mirrored)) * 0.5


class _Projection(OfPairKernel):
    """The part of one parity in the left pair."""

    _parity: ClassVar[Parity]

    def formula(self, atoms: Atoms) -> Any:
        value, mirrored = self.kernel.formula(atoms), self.kernel.formula(atoms.swap_left())
        return impose(self._parity, value, mirrored)


class Balanced(_Projection):
    """``(K(ab, cd) + K(ba, cd)) / 2``, formula (6): the even part of an order-invariant kernel."""

    _parity = Parity.EVEN


class SkewBalanced(_Projection):
    """``(K(ab, cd) - K(ba, cd)) / 2``, formula (7): the odd part of an order-invariant kernel."""

    _parity = Parity.ODD


def projected(kernel: Kernel, parity: Parity) -> Kernel:
    """The balanced (6) or the skew-balanced (7) part of a kernel."""
    return Balanced(kernel) if parity is Parity.EVEN else SkewBalanced(kernel)


# Laws, measured ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class KernelLaws:
    """By how much each law of Section 3 is off, relative to the largest entry of the Gram matrix.

    ``symmetry`` is ``K(x, y) - K(y, x)``; ``balanced``, ``skew_balanced`` and ``order_invariant``
    are the laws (b), (c), (d); ``smallest_eigenvalue`` is that of the Gram matrix on the pairs and
    their swaps, ``scale`` its largest entry.
    """

    symmetry: float
    balanced: float
    skew_balanced: float
    order_invariant: float
    smallest_eigenvalue: float
    scale: float
    n_pairs: int


def measure_laws(kernel: Kernel, pairs: Pairs) -> KernelLaws:
    """Evaluate a kernel on pairs and their swaps and compare, law by law."""
    pairs = pairs.compact()
    with np.errstate(all="ignore"):
        gram = kernel.gram(pairs.with_mirrored())
    _refuse_large(kernel, _largest(gram), pairs)
    n = len(pairs)
    scale = float(np.abs(gram).max(initial=0.0))
    # rows: the pairs and their swaps; columns: the pairs (:n) and their swaps (n:)
    mirrored = np.vstack([gram[n:], gram[:n]])

    def relative(deviation: Matrix) -> float:
        return float(np.abs(deviation).max(initial=0.0)) / scale if scale else 0.0

    eigenvalues = np.linalg.eigvalsh((gram + gram.T) / 2.0) if n else np.zeros(1)
    return KernelLaws(
        symmetry=relative(gram - gram.T),
        balanced=relative(gram[:, :n] - gram[:, n:]),
        skew_balanced=relative(gram[:, :n] + gram[:, n:]),
        order_invariant=relative(gram[:, :n] - mirrored[:, n:]),
        smallest_eigenvalue=float(eigenvalues[0]),
        scale=scale,
        n_pairs=n,
    )


@dataclass(frozen=True)
class _Told:
    """What the formula of a kernel tells, so that nothing has to be measured."""

    parity: Parity | None
    has_part: bool  # of the parity asked for
    order_invariant: bool  # for certain: a function of whole rows tells nothing
    proven: bool  # positive semi-definite, and as declared


@lru_cache(maxsize=256)
def _told(kernel: Kernel, asked: Parity | None, *group: int) -> _Told:
    terms = expand(kernel, *group).terms
    opaque = any(factor.role == "rows" for monomial in terms for factor in monomial.factors)
    invariant = is_order_invariant(kernel, *group) and not opaque
    proven = invariant and all(inner.proven for inner in kernel.walk())
    known = None if asked is None else parity_of(kernel, *group)
    part = kernel if asked is None or known is asked else projected(kernel, asked)
    return _Told(known, not expand(part, *group).vanishes, invariant, proven)


@dataclass(frozen=True)
class Projection:
    """The part of a parity of a kernel, and whether it is zero on the pairs at hand."""

    kernel: Kernel
    is_zero: bool


def project(kernel: Kernel, parity: Parity | None, pairs: Pairs) -> Kernel:
    """Kernel of the halved problem: the part of the asked parity, or a refusal with the fix."""
    return projection_on(kernel, parity, pairs).kernel


def projection_on(kernel: Kernel, parity: Parity | None, pairs: Pairs) -> Projection:
    """The same, with what there is of it on these pairs."""
    kernel.check()
    some = _largest_among_some(pairs)
    largest, is_zero = _sizes(kernel, parity, some)
    _refuse_large(kernel, largest, pairs)
    told = _told(kernel, parity, pairs.n_symmetric, pairs.n_antisymmetric)
    if not told.proven:
        _check_measured(kernel, parity, spread_sample(pairs, _SAMPLE))
    if parity is not None:
        if told.parity is not None and told.parity is not parity:
            raise KernelError(_wrong_parity(kernel, parity))
        if not told.has_part:
            raise KernelError(_vanishing(kernel, parity))
        if not told.order_invariant:
            _check_opaque(kernel, parity, spread_sample(pairs, _SAMPLE))
    is_zero = is_zero and (some is pairs or _sizes(kernel, parity, pairs)[1])
    part = kernel if parity is None or told.parity is parity else projected(kernel, parity)
    return Projection(part, is_zero)


def _largest_among_some(pairs: Pairs) -> Pairs:
    """Some of the pairs: those of the largest features, on which kernels are largest, among them."""
    if len(pairs) <= _VALUE_SAMPLE:
        return pairs
    some, sizes = spread_rows(len(pairs), _VALUE_SAMPLE), []
    if pairs.n_object_features:
        objects = _row_sizes(pairs.objects)
        sizes.append(objects[pairs.first] + objects[pairs.second])
    sizes += [
        _row_sizes(table) for table in (pairs.symmetric, pairs.antisymmetric) if table.shape[1]
    ]
    if not sizes and pairs.time is None:  # names tell no more than whether two are one
        return pairs[:_FEW_NAMES]
    return pairs[np.append(some, np.argmax(sum(sizes))) if sizes else some]


def _row_sizes(table: Any) -> Matrix:
    """Sums of absolute values, by a product: of few columns that is quickest."""
    return np.asarray(abs(table) @ np.ones(table.shape[1]))


def _sizes(kernel: Kernel, parity: Parity | None, pairs: Pairs) -> tuple[float, bool]:
    """Largest ``K(ab, ab)`` on some pairs, and whether the part of a parity is 0, up to rounding.

    Values between two pairs are no larger, the kernel being positive semi-definite.
    """
    atoms = PairedAtoms(pairs, pairs)
    with np.errstate(all="ignore"):
        values = kernel.formula(atoms)
        part = values
        if parity is not None:
            part = impose(parity, values, kernel.formula(atoms.swap_left()))
        largest = _largest(values)
        return largest, _largest(part) <= max(_SMALLEST_VALUE, _ROUNDING * largest)


def _largest(values: Any) -> float:
    return float(np.abs(values).max(initial=0.0))


def _refuse_large(kernel: Kernel, largest: float, pairs: Pairs) -> None:
    if largest <= _LARGEST_VALUE:  # NaN is not
        return
    raise KernelError(
        f"got {kernel!r} with values of size {largest:.1e} on these pairs, whose features go up to"
        f" {_largest_feature(pairs):.1e}; expected at most {_LARGEST_VALUE:.0e}: divide the features by"
        " a common factor, for example with ObjectTransformer(StandardScaler()), or lower a degree."
    )


def _largest_feature(pairs: Pairs) -> float:
    used = pairs.without_unused_objects().objects
    tables = (used.data if sp.issparse(used) else used, pairs.symmetric, pairs.antisymmetric)
    return max(float(np.abs(table).max(initial=0.0)) for table in tables)


def _check_measured(kernel: Kernel, parity: Parity | None, sample: Pairs) -> None:
    """Hold a kernel that came from outside against the laws, on some of the training pairs."""
    for inner in kernel.walk():
        if isinstance(inner, Precomputed):
            _check_precomputed(inner)
    laws = measure_laws(kernel, sample)
    if laws.symmetry > LAW_TOLERANCE:
        raise KernelError(
            f"got {kernel!r} with K(x, y) and K(y, x) apart by {laws.symmetry:.3g} of its largest"
            " value; expected a symmetric kernel: use (K + K') / 2 if that is what you mean, and"
            " OrderInvariant(kernel) inside Balanced and SkewBalanced."
        )
    if laws.smallest_eigenvalue < -1e-8 * max(laws.scale, 1e-300) * laws.n_pairs:
        raise KernelError(
            f"got {kernel!r} with eigenvalue {laws.smallest_eigenvalue:.6g} on {laws.n_pairs} training"
            " pairs; expected a positive semi-definite kernel: see pairity.testing.check_pair_kernel."
        )
    for inner in kernel.walk():
        k3 = getattr(inner, "k3", None)
        if k3 is not None and not all(part.proven for part in k3.walk()):
            _check_declared_reflection(k3, sample)


def _check_precomputed(kernel: Precomputed) -> None:
    chosen = spread_rows(len(kernel.gram_values), _OBJECT_SAMPLE)
    matrix = kernel.gram_values[np.ix_(chosen, chosen)]
    if not len(matrix):
        return
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest < -1e-8 * float(np.abs(matrix).max()) * len(matrix):
        raise KernelError(
            f"got {kernel!r} with eigenvalue {smallest:.6g}; expected a positive semi-definite"
            " matrix: F F' is one for every table of features F."
        )


def _check_declared_reflection(k3: Kernel, sample: Pairs) -> None:
    values = k3.on_features(sample.antisymmetric, sample.antisymmetric)
    reflected = k3.on_features(sample.antisymmetric, -sample.antisymmetric)
    sign = k3.reflection.sign if k3.reflection is not None else 1.0
    deviation = np.abs(reflected - sign * values).max(initial=0.0)
    if deviation > LAW_TOLERANCE * np.abs(values).max(initial=0.0):
        declared = "even (9)" if sign > 0 else "odd (11)"
        raise KernelError(
            f"got k3={k3!r} declared {declared} under a change of sign, but off by {deviation:.3g} on"
            " the training pairs; expected the declared parity: use EvenPart or OddPart, or another"
            " kernel."
        )


def _check_opaque(kernel: Kernel, parity: Parity, sample: Pairs) -> None:
    """Measure what the formula does not tell: order invariance, and that the part is not zero."""
    laws = measure_laws(kernel, sample)
    if laws.order_invariant > LAW_TOLERANCE:
        raise KernelError(
            f"got {kernel!r}, which is not order-invariant (off by {laws.order_invariant:.3g} of its"
            " largest value on the training pairs); expected class (d) of Section 3: wrap it in"
            " OrderInvariant(kernel), or train with symmetry='none'."
        )
    if (laws.balanced if parity is Parity.ODD else laws.skew_balanced) <= LAW_TOLERANCE:
        raise KernelError(_vanishing(kernel, parity))


def zero_on_data(kernel: Kernel, parity: Parity | None, pairs: Pairs) -> str:
    """What is zero, why the data make it so, and what to do."""
    part = {None: "which", Parity.EVEN: "whose even part", Parity.ODD: "whose odd part"}[parity]
    helpful = {
        None: "features that differ from 0",
        Parity.EVEN: "object features or symmetric group features that differ from 0",
        Parity.ODD: "object features that tell the two objects of a pair apart, or antisymmetric"
        " group features",
    }[parity]
    widths = pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric
    return (
        f"got {kernel!r}, {part} is zero for these pairs with {widths} object, symmetric and"
        f" antisymmetric features of size {_largest_feature(pairs):.1e} at most, so that the model is a"
        f" constant; expected {helpful}: add such columns, standardise the features, or choose another"
        " kernel."
    )


def _wrong_parity(kernel: Kernel, parity: Parity) -> str:
    if parity is Parity.ODD:
        return (
            f"got {kernel!r}, a balanced kernel, for an antisymmetric model: its odd part is zero;"
            " expected an order-invariant kernel that is not balanced, such as Gaussian(1.0) or"
            " Product(k1), or an odd k3 as in (10)."
        )
    return (
        f"got {kernel!r}, a skew-balanced kernel, for a symmetric model: its even part is zero;"
        " expected a balanced kernel such as Tensor(k1) or DirectSum(k1), or an even k3 as in (8)."
    )


def _vanishing(kernel: Kernel, parity: Parity) -> str:
    return (
        f"got {kernel!r}, whose {'even' if parity is Parity.EVEN else 'odd'} part is zero for these"
        " pairs; expected a kernel with such a part: try Gaussian(1.0) or Product(k1)."
    )


def is_approximated(kernel: Kernel) -> bool:
    """Whether a kernel stands for few features of objects: in Nystroem, or a user's own."""
    return any(inner.of_few_features for inner in kernel.walk())
