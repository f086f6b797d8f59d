"""Certificate and swap law, evaluated for the page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.pairs import Pairs
from pairity.report.data import CertificateFacts, SwapCheck
from pairity.report.subject import Subject

__all__ = ["certificate_of", "check_swap"]

Vector = NDArray[np.float64]

#: Training pairs, and random pairs of objects, that the law is tried on; some one at a time.
_TRIED, _ALONE = 2000, 25


def certificate_of(subject: Subject) -> CertificateFacts:
    """Objectives, gap and violation of the fit."""
    found = subject.machine.certificate_
    return CertificateFacts(
        primal=float(found.primal),
        dual=-float(found.dual),
        relative_gap=float(found.relative_gap),
        violation=float(found.violation),
        tol=float(found.tol),
        holds=bool(found.holds),
        measure=found.measure,
    )


def check_swap(subject: Subject, seed: int) -> SwapCheck | None:
    """Compare decisions (and probabilities) of pairs and swapped pairs with ``==``.

    The pairs are training pairs, random pairs of their objects, single pairs asked alone, and pairs
    of an object with itself, where an antisymmetric function is 0.0.
    """
    if subject.parity is None:
        return None
    sign = subject.parity.sign
    generator = np.random.default_rng(seed)
    batches = [_some(subject.pairs, generator)]
    if not (subject.pairs.n_symmetric or subject.pairs.n_antisymmetric):
        batches.append(_random_pairs(subject.pairs, generator))
    alone = [batches[0][place] for place in range(min(_ALONE, len(batches[0])))]
    n_pairs, misses = 0, []
    for batch in (*batches, *alone):
        forth, back = _values(subject, batch), _values(subject, batch.swap())
        misses.append(np.abs(back - sign * forth) * ~(back == sign * forth))
        n_pairs += len(batch)
    n_self = 0
    if subject.is_odd and not subject.pairs.n_symmetric:
        selves = _self_pairs(subject.pairs)
        n_self = len(selves)
        misses.append(np.abs(_values(subject, selves)))
    chances = _chance_misses(subject, batches[0])
    misses.append(chances)
    miss = np.concatenate(misses)
    return SwapCheck(
        law="f(b, a) == -f(a, b)" if subject.is_odd else "f(b, a) == f(a, b)",
        n_pairs=n_pairs,
        n_violations=int(np.count_nonzero(miss)),
        n_alone=len(alone),
        n_self=n_self,
        n_probabilities=len(chances),
        largest_miss=float(miss.max(initial=0.0)),
    )


def _values(subject: Subject, pairs: Pairs) -> Vector:
    return subject.values(subject.model, pairs)


def _some(pairs: Pairs, generator: np.random.Generator) -> Pairs:
    if len(pairs) <= _TRIED:
        return pairs
    return pairs[np.sort(generator.permutation(len(pairs))[:_TRIED])]


def _random_pairs(pairs: Pairs, generator: np.random.Generator) -> Pairs:
    used = np.unique(np.concatenate([pairs.first, pairs.second]))
    first, second = generator.choice(used, size=(2, _TRIED))
    proper = first != second
    return Pairs(pairs.objects, first[proper], second[proper], ids=pairs.ids)


def _self_pairs(pairs: Pairs) -> Pairs:
    used = np.unique(np.concatenate([pairs.first, pairs.second]))[:_TRIED]
    neutral = np.zeros((len(used), pairs.n_antisymmetric))
    return Pairs(pairs.objects, used, used, antisymmetric=neutral, ids=pairs.ids)


def _chance_misses(subject: Subject, pairs: Pairs) -> Vector:
    """By how much probabilities of swapped pairs miss those that the law asks for."""
    if not hasattr(subject.model, "predict_proba"):
        return np.zeros(0)
    forth, back = (subject.model.predict_proba(p) for p in (pairs, pairs.swap()))
    wanted = forth[:, ::-1] if subject.is_odd else forth
    return np.asarray(np.abs(back - wanted).max(axis=1))
