"""Plain twins: every formula of the paper, written as printed, one pair of wide rows at a time.

A wide row is ``X_ab = (x_a, x_ab, x~_ab, x_b)`` of formula (1); ``widths = (n1, n2, n3)``.  A twin
of a pair kernel is a function ``K(X, Z, widths)`` of two such rows; one of an object kernel is a
function ``k(x, z)`` of two vectors.  Nothing here is fast, and nothing is shared with the library.
"""

import math

import numpy as np


def split(row, widths):
    """``x_a, x_ab, x~_ab, x_b`` of a wide row."""
    n1, n2, n3 = widths
    return (
        row[:n1],
        row[n1 : n1 + n2],
        row[n1 + n2 : n1 + n2 + n3],
        row[n1 + n2 + n3 :],
    )


def swap_row(row, widths):
    """The operator T of formula (2): ``(x_b, x_ab, -x~_ab, x_a)``."""
    a, kept, flipped, b = split(row, widths)
    return np.concatenate([b, kept, -flipped, a])


# Kernels of vectors -------------------------------------------------------------------------


def inner(x, z):
    return sum(float(p) * float(q) for p, q in zip(x, z, strict=True))


def squared_distance(x, z):
    return sum((float(p) - float(q)) ** 2 for p, q in zip(x, z, strict=True))


def polynomial(degree):
    return lambda x, z: inner(x, z) ** degree


def gaussian(sigma):
    return lambda x, z: math.exp(-squared_distance(x, z) / (2.0 * sigma**2))


def even_part(k):
    """``(k(x, z) + k(x, -z)) / 2``, which satisfies (9)."""
    return lambda x, z: (k(x, z) + k(x, -z)) / 2.0


def odd_part(k):
    """``(k(x, z) - k(x, -z)) / 2``, which satisfies (11)."""
    return lambda x, z: (k(x, z) - k(x, -z)) / 2.0


# Kernels of pairs, Section 3 ------------------------------------------------------------------


def pair_linear(X, Z, widths):
    """K_lin^o."""
    a, ab, t_ab, b = split(X, widths)
    c, cd, t_cd, d = split(Z, widths)
    return inner(a, c) + inner(ab, cd) + inner(t_ab, t_cd) + inner(b, d)


def pair_polynomial(degree):
    """Formula (5)."""
    return lambda X, Z, widths: pair_linear(X, Z, widths) ** degree


def pair_gaussian(sigma):
    """K_Gauss^o."""

    def kernel(X, Z, widths):
        parts = zip(split(X, widths), split(Z, widths), strict=True)
        return math.exp(-sum(squared_distance(x, z) for x, z in parts) / (2.0 * sigma**2))

    return kernel


def balanced(K):
    """Formula (6)."""
    return lambda X, Z, widths: 0.5 * (K(X, Z, widths) + K(swap_row(X, widths), Z, widths))


def skew_balanced(K):
    """Formula (7)."""
    return lambda X, Z, widths: 0.5 * (K(X, Z, widths) - K(swap_row(X, widths), Z, widths))


def bilinear(P):
    """Formula (37)."""

    def kernel(X, Z, widths):
        n = len(X)
        return sum(X[i] * P[i][j] * Z[j] for i in range(n) for j in range(n))

    return kernel


def order_invariant(K):
    """Formula (38)."""

    def kernel(X, Z, widths):
        return 0.5 * (K(X, Z, widths) + K(swap_row(X, widths), swap_row(Z, widths), widths))

    return kernel


# Kernels of pairs, Remark 2 -------------------------------------------------------------------


def _of_objects(formula):
    def construction(k1):
        def kernel(X, Z, widths):
            a, _, _, b = split(X, widths)
            c, _, _, d = split(Z, widths)
            return formula(k1, a, b, c, d)

        return kernel

    return construction


@_of_objects
def product(k1, a, b, c, d):
    return k1(a, c) * k1(b, d)


@_of_objects
def direct_sum(k1, a, b, c, d):
    return 0.5 * (k1(a, c) + k1(a, d) + k1(b, c) + k1(b, d))


@_of_objects
def tensor(k1, a, b, c, d):
    return 0.5 * (k1(a, c) * k1(b, d) + k1(a, d) * k1(b, c))


@_of_objects
def metric_learning(k1, a, b, c, d):
    return 0.25 * (k1(a, c) - k1(a, d) - k1(b, c) + k1(b, d)) ** 2


@_of_objects
def tensor_metric(k1, a, b, c, d):
    permanent = 0.5 * (k1(a, c) * k1(b, d) + k1(a, d) * k1(b, c))
    return permanent + 0.25 * (k1(a, c) - k1(a, d) - k1(b, c) + k1(b, d)) ** 2


def with_even_group(base, k2, k3):
    """Formula (8)."""

    def kernel(X, Z, widths):
        _, ab, t_ab, _ = split(X, widths)
        _, cd, t_cd, _ = split(Z, widths)
        return base(X, Z, widths) + k2(ab, cd) + k3(t_ab, t_cd)

    return kernel


def with_odd_group(base, k2, k3):
    """Formula (10)."""

    def kernel(X, Z, widths):
        _, ab, t_ab, _ = split(X, widths)
        _, cd, t_cd, _ = split(Z, widths)
        return (base(X, Z, widths) + k2(ab, cd)) * k3(t_ab, t_cd)

    return kernel


def nothing(x, z):
    """No k2."""
    return 0.0


def gram(K, left, right, widths):
    return np.array([[K(X, Z, widths) for Z in right] for X in left])


# The dual and SMO, Sections 4 and 5 -------------------------------------------------------------


def dual_objective(alpha, y, K):
    """Formula (14), term by term."""
    n = len(y)
    quadratic = math.fsum(
        alpha[i] * alpha[j] * y[i] * y[j] * K[i, j] for i in range(n) for j in range(n)
    )
    return 0.5 * quadratic - math.fsum(alpha)


def primal_objective(theta, bias, y, upper, K):
    """Objective of (12) at ``w = sum theta_i phi_i``, with the smallest slacks."""
    n = len(y)
    norm = math.fsum(theta[i] * theta[j] * K[i, j] for i in range(n) for j in range(n))
    decisions = [math.fsum(K[i, j] * theta[j] for j in range(n)) + bias for i in range(n)]
    return 0.5 * norm + math.fsum(upper[i] * max(0.0, 1.0 - y[i] * decisions[i]) for i in range(n))


def kkt_gradient(alpha, y, K):
    """F of formula (27)."""
    n = len(y)
    return np.array(
        [math.fsum(y[i] * y[j] * K[i, j] * alpha[j] for j in range(n)) - 1.0 for i in range(n)]
    )


def rise_candidates(alpha, y, C, F):
    """Scores of the argmax in (26)."""
    return {
        i: -y[i] * F[i]
        for i in range(len(y))
        if (y[i] > 0 and alpha[i] < C) or (y[i] < 0 and alpha[i] > 0)
    }


def fall_candidates(alpha, y, C, F):
    """Scores of the argmin in (26)."""
    return {
        i: -y[i] * F[i]
        for i in range(len(y))
        if (y[i] < 0 and alpha[i] < C) or (y[i] > 0 and alpha[i] > 0)
    }


def two_variable_step(alpha, i, j, y, C, F, K):
    """Best feasible move of ``y_i alpha_i`` up and ``y_j alpha_j`` down by the same amount."""
    curvature = K[i, i] + K[j, j] - 2.0 * K[i, j]
    step = (-y[i] * F[i] + y[j] * F[j]) / max(curvature, 1e-12)
    room_i = C - alpha[i] if y[i] > 0 else alpha[i]
    room_j = alpha[j] if y[j] > 0 else C - alpha[j]
    step = min(step, room_i, room_j)
    moved = alpha.copy()
    moved[i] += y[i] * step
    moved[j] -= y[j] * step
    return moved


def reversed_pair_smo(K, y, C, n_steps):
    """SMO on (13) that selects by (26), the second variable being the reversed pair.

    Rows n.. of K and y belong to the mirrored pairs.  Theorem 3(b): the reversed pair of an argmax
    of (26) is an argmin.  Among equal maxima the lowest unordered pair is taken.
    """
    n = len(y) // 2
    alpha = np.zeros(2 * n)
    iterates = []
    for _ in range(n_steps):
        F = kkt_gradient(alpha, y, K)
        rise, fall = rise_candidates(alpha, y, C, F), fall_candidates(alpha, y, C, F)
        most = max(rise.values())
        chosen = min((i for i in rise if rise[i] == most), key=lambda i: i % n)
        partner = (chosen + n) % (2 * n)
        assert math.isclose(fall[partner], min(fall.values()), rel_tol=1e-9, abs_tol=1e-12)
        if most - min(fall.values()) <= 0.0:
            break
        alpha = two_variable_step(alpha, chosen, partner, y, C, F, K)
        iterates.append(alpha)
    return iterates


def maximal_violating_pair_smo(K, y, C, n_steps):
    """SMO that selects by (26), the lowest index among equals: iterates as long as it moves.

    It ends where two candidates differ by rounding alone: either choice is then right.
    """
    alpha = np.zeros(len(y))
    iterates = []
    for _ in range(n_steps):
        F = kkt_gradient(alpha, y, K)
        rise, fall = rise_candidates(alpha, y, C, F), fall_candidates(alpha, y, C, F)
        i = max(rise, key=lambda place: (rise[place], -place))
        j = min(fall, key=lambda place: (fall[place], place))
        if rise[i] - fall[j] <= 0.0 or nearly_tied(rise, rise[i]) or nearly_tied(fall, fall[j]):
            break
        alpha = two_variable_step(alpha, i, j, y, C, F, K)
        iterates.append(alpha)
    return iterates


def nearly_tied(candidates, best):
    return any(0.0 < abs(value - best) < 1e-12 for value in candidates.values())


# Regression, Section 7.1 ----------------------------------------------------------------------


def regression_dual(alpha, alpha_hat, y, epsilon, K):
    """Objective of (42), term by term, with a single sum over the targets."""
    n = len(y)
    difference = [alpha[i] - alpha_hat[i] for i in range(n)]
    quadratic = math.fsum(
        difference[i] * difference[j] * K[i, j] for i in range(n) for j in range(n)
    )
    width = epsilon * math.fsum(alpha[i] + alpha_hat[i] for i in range(n))
    return 0.5 * quadratic + width + math.fsum(difference[i] * y[i] for i in range(n))


def regression_primal(theta, bias, y, upper, epsilon, K):
    """Objective of (41) at ``w = sum theta_i phi_i``, with the smallest slacks."""
    n = len(y)
    norm = math.fsum(theta[i] * theta[j] * K[i, j] for i in range(n) for j in range(n))
    decisions = [math.fsum(K[i, j] * theta[j] for j in range(n)) + bias for i in range(n)]
    over = [max(0.0, decisions[i] - y[i] - epsilon) for i in range(n)]
    short = [max(0.0, y[i] - decisions[i] - epsilon) for i in range(n)]
    return 0.5 * norm + math.fsum(upper * (over[i] + short[i]) for i in range(n))


def soft_threshold(value, epsilon):
    return math.copysign(max(abs(value) - epsilon, 0.0), value)


def greedy_soft_threshold_descent(K, y, C, epsilon, n_steps):
    """Coordinate descent on ``1/2 t'Kt - y't + epsilon |t|_1, |t| <= C``, worst coordinate first.

    It ends where two coordinates are equally bad up to rounding: either choice is then right.
    """
    n = len(y)
    theta = np.zeros(n)
    iterates = []
    for _ in range(n_steps):
        residual = [y[i] - math.fsum(K[i, j] * theta[j] for j in range(n)) for i in range(n)]
        worst = {i: _subgradient_distance(theta[i], residual[i], C, epsilon) for i in range(n)}
        k = max(worst, key=lambda i: (worst[i], -i))
        if worst[k] <= 1e-9 or nearly_tied(worst, worst[k]):
            break
        best = soft_threshold(K[k, k] * theta[k] + residual[k], epsilon) / K[k, k]
        theta = theta.copy()
        theta[k] = min(max(best, -C), C)
        iterates.append(theta)
    return iterates


def _subgradient_distance(theta, residual, C, epsilon):
    """Size of the steepest feasible descent of ``-residual t + epsilon |t|`` at theta."""
    rise = residual - (epsilon if theta >= 0 else -epsilon) if theta < C else 0.0
    fall = -residual - (epsilon if theta <= 0 else -epsilon) if theta > -C else 0.0
    return max(0.0, rise, fall)


def regression_maximal_violating_pair_smo(K, y, C, epsilon, n_steps):
    """SMO on (42) in the 2n variables alpha_hat and alpha: (26) with labels +1 and -1.

    Returns ``alpha_hat - alpha`` after each step.  It ends where two pairs are equally bad up to
    rounding, as they are after a step that reached its minimum: either choice is then right.
    """
    n = len(y)
    signs = np.concatenate([np.ones(n), -np.ones(n)])
    linear = np.concatenate([epsilon - y, epsilon + y])
    both = np.zeros(2 * n)
    large = np.block([[K, K], [K, K]])
    iterates = []
    for _ in range(n_steps):
        F = signs * (large @ (signs * both)) + linear
        rise, fall = rise_candidates(both, signs, C, F), fall_candidates(both, signs, C, F)
        i, j = max(rise, key=rise.get), min(fall, key=fall.get)
        rivals = [abs(rise[k] - rise[i]) for k in rise if k % n != i % n]
        rivals += [abs(fall[k] - fall[j]) for k in fall if k % n != j % n]
        if rise[i] - fall[j] <= 1e-9 or min(rivals) < 1e-12:
            break
        both = two_variable_step(both, i, j, signs, C, F, large)
        iterates.append(both[:n] - both[n:])
    return iterates


# Label switching, Section 7.2 -------------------------------------------------------------------


def multiple_label_switching(K, y, unsupervised, upper, S, mirror):
    """The four steps of Section 7.2 on I, with strict inequality: labels in every round.

    Row i and row ``i + n`` are the two orders of unordered pair i; ``mirror`` is +1 or -1, and the
    dual variable and output of an unordered pair are the means over its two orders.  Each round
    is solved by LIBSVM.  The second value says whether it came to its end: it stops before a round
    that hangs on rounding (outputs of different pairs nearly equal), either choice being right.
    """
    n = len(y) // 2
    y = np.array(y, dtype=float)
    rounds = []
    while True:
        rounds.append(y.copy())
        alpha, outputs = solve_by_libsvm(K, y, upper)
        alpha = (alpha + np.roll(alpha, n)) / 2.0  # Lemma 1
        outputs = (outputs + mirror * np.roll(outputs, n)) / 2.0
        active = [i for i in range(2 * n) if unsupervised[i] and alpha[i] > 1e-6 * upper[i]]
        plus = sorted((i for i in active if y[i] > 0), key=lambda i: (outputs[i], i % n))
        minus = sorted((i for i in active if y[i] < 0), key=lambda i: (-outputs[i], i % n))
        count = 0
        while (
            count < min(S, len(plus), len(minus)) and outputs[plus[count]] < outputs[minus[count]]
        ):
            count += 1
        # the comparison that ended it, and who is just inside and just outside of each list
        calls = list(zip(plus, minus, strict=False))[: min(S, count + 1)]
        calls += [tuple(found[count - 1 : count + 1]) for found in (plus, minus) if count]
        if any(_nearly_equal(outputs, call, n) for call in calls):
            return rounds, False
        if not count:
            return rounds, True
        y[plus[:count]], y[minus[:count]] = -1.0, 1.0


def _nearly_equal(outputs, call, n):
    if len(call) < 2 or call[0] % n == call[1] % n:
        return False
    return abs(outputs[call[0]] - outputs[call[1]]) < 1e-4


def solve_by_libsvm(K, y, upper):
    """Sizes of the dual variables, and outputs."""
    from sklearn.svm import SVC

    machine = SVC(kernel="precomputed", C=1.0, tol=1e-6).fit(K, y, sample_weight=upper)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return alpha, machine.decision_function(K)


# Kernels of derived and of rescaled features ----------------------------------------------------


def identity(x, z):
    """1 for the same object, 0 otherwise."""
    return float(all(float(p) == float(q) for p, q in zip(x, z, strict=True)))


def additive(k1):
    """``k1(a,c) + k1(b,d)``."""

    def kernel(X, Z, widths):
        (a, _, _, b), (c, _, _, d) = split(X, widths), split(Z, widths)
        return k1(a, c) + k1(b, d)

    return kernel


def pair_identity(X, Z, widths):
    """Indicators of the two objects beside the group features, compared by inner products."""
    (_, ab, t_ab, _), (_, cd, t_cd, _) = split(X, widths), split(Z, widths)
    return additive(identity)(X, Z, widths) + inner(ab, cd) + inner(t_ab, t_cd)


def derived(k, *parts):
    """A kernel of features that are functions of ``x_a, x_ab, x~_ab, x_b``."""

    def kernel(X, Z, widths):
        x, z = (np.concatenate([part(*split(row, widths)) for part in parts]) for row in (X, Z))
        return k(x, z)

    return kernel


def rescaled(K, shifts, factors):
    """A kernel of pairs on ``(x - shift) * factor``, for objects, x_ab and x~_ab."""

    def rescale(row, widths):
        a, ab, t_ab, b = split(row, widths)
        (s1, s2, s3), (f1, f2, f3) = shifts, factors
        return np.concatenate([(a - s1) * f1, (ab - s2) * f2, (t_ab - s3) * f3, (b - s1) * f1])

    return lambda X, Z, widths: K(rescale(X, widths), rescale(Z, widths), widths)
