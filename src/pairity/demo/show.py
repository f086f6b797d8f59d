"""The summary that people read."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table

from pairity.demo.evaluate import Outcome

__all__ = ["render_outcome"]


def render_outcome(outcome: Outcome) -> RenderableType:
    """One task: what was asked, how well it went, why the answer can be trusted."""
    task = outcome.task
    heading = f"[bold]{task.name}[/bold] ({task.symmetry}): {task.question}"
    return Group(heading, _figures(outcome), "")


def _figures(outcome: Outcome) -> Table:
    task, certificate = outcome.task, outcome.certificate
    swap = "f(b,a) == -f(a,b)" if task.symmetry == "antisymmetric" else "f(b,a) == f(a,b)"
    held = "holds" if outcome.swap_law_holds else "FAILS"
    view = Table.grid(padding=(0, 2))
    view.add_column(justify="right", style="dim")
    view.add_column()
    view.add_row("model", f"PairSVCCV chose {_kernel(outcome)} and C = {outcome.best_c:g}")
    view.add_row(
        "data",
        f"{len(task.train)} pairs to train on, {len(task.test)} held out, no {task.split} in common",
    )
    view.add_row(
        "accuracy",
        f"[bold]{_percent(outcome.accuracy)}[/bold] on held-out pairs"
        f" (standard error {_percent(outcome.standard_error)})",
    )
    for name, accuracy in outcome.baselines.items():
        view.add_row("baseline", f"{_percent(accuracy)} {name}")
    view.add_row("support pairs", f"{outcome.n_support} of {len(task.train)}")
    view.add_row(
        "certificate",
        f"relative gap {certificate.relative_gap:.1e}, KKT violation {certificate.violation:.1e}"
        f" (tol {certificate.tol:.0e})",
    )
    view.add_row("swap law", f"{swap} {held} bit for bit on all {len(task.test)} held-out pairs")
    view.add_row(
        "seconds",
        f"{outcome.fit_seconds:.1f} to choose and fit, {outcome.predict_seconds:.2f} to predict",
    )
    return view


def _kernel(outcome: Outcome) -> str:
    """The kernel that was chosen: families and their shares, or its formula."""
    found = outcome.model.combination_
    if found is None:
        return f"the kernel {outcome.model.kernel_}"
    ordered = sorted(found.weights.items(), key=lambda item: -item[1])
    return "a sum of " + ", ".join(f"{name} {share:.0%}" for name, share in ordered)


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"
