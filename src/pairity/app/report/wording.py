"""Numbers as people read them, and the few sentences that say what they mean."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from pairity.app.report.report_data import Estimate, ReportData, Setting

#: Standard errors from a guess at which a figure is called better, and clearly better.
_BETTER, _CLEARLY = 2.0, 4.0
#: Figures of which less is better.
_LOSSES = ("log-loss", "root mean square error", "mean absolute error")
_QUESTIONS = {
    "seen": "new pairs of objects that it knows",
    "one_new": "pairs of a known and a new object",
    "both_new": "pairs of two objects it has never seen",
    "whole": "held-out pairs, the whole model",
    "later": "pairs that came later than all it was trained on",
}
_PERIOD_NAMES = {
    "log_loss": "log-loss",
    "brier_score": "Brier score",
    "overconfidence": "overconfidence, points",
}

_JUDGED = {
    "clear": "clearly better than that",
    "some": "better than that",
    "none": "no better than that, as far as these pairs can tell,",
}


def percent(share: float, digits: int = 1) -> str:
    """``0.123`` as ``12.3 %``, with a space that does not break."""
    return f"{100.0 * share:.{digits}f}\u00a0%"


def plain(value: float | None, digits: int = 3) -> str:
    """A number with so many digits that count; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.{digits}g}".replace("-", "−")


def cut(text: str, most: int) -> str:
    """A text of at most so many letters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def figure(name: str, estimate: Estimate | None) -> str:
    """A figure with its standard error, to the digits that the error leaves meaningful."""
    if estimate is None or math.isnan(estimate.value):
        return "–"
    if name == "accuracy":
        spread = "" if estimate.error is None else f" ± {100.0 * estimate.error:.1f}"
        return f"{100.0 * estimate.value:.1f}{spread}\u00a0%"
    error = estimate.error or 0.0
    digits = 3  # decimals of small numbers; two digits of a large error
    if max(abs(estimate.value), error) >= 10.0:
        digits = max(0, 1 - math.floor(math.log10(error))) if error > 0.0 else 1
    shown = f"{estimate.value:.{digits}f}"
    if estimate.error is not None:
        shown += f" ± {estimate.error:.{digits}f}"
    return shown.replace("-", "−")


def period_name(score: str) -> str:
    """What a score of a period is called, with its unit."""
    return _PERIOD_NAMES.get(score, score.replace("_", " "))


def period_score(score: str, value: float) -> str:
    """A score of a period, all with the same decimals."""
    if score == "accuracy":
        return percent(value)
    shown = f"{100.0 * value:+.1f}" if score == "overconfidence" else f"{value:.3f}"
    return shown.replace("-", "−")


def moment(value: float, dates: bool) -> str:
    """A time: a number, or a date for days since 1970."""
    if not dates:
        return plain(value, 6)
    return (date(1970, 1, 1) + timedelta(days=math.floor(value))).isoformat()


def lead(setting: Setting) -> str:
    """Name of the figure that a setting is summed up by."""
    return "accuracy" if "accuracy" in setting.figures else "R²"


def judge(setting: Setting) -> str:
    """What the figures say beside a guess: "clear", "some" or "none".

    Of probabilities the log-loss decides, a proper score; of others the most telling figure.
    """
    if "log-loss" in setting.figures:
        return _judge(setting, "log-loss")
    verdicts = [_judge(setting, name) for name in setting.figures]
    return next((verdict for verdict in _JUDGED if verdict in verdicts), "none")


def guess_name(setting: Setting) -> str:
    """What figures are held against."""
    return setting.rule or "a guess"


def beside(settings: Iterable[Setting], name: str) -> str:
    """Heading of what a figure is held against: a simple rule has no figures but these two."""
    rules = {setting.rule for setting in settings if setting.figures}
    if name not in ("accuracy", "log-loss") or None in rules or "" in rules:
        return "guess"
    return rules.pop() if len(rules) == 1 else "simple rule"


def _judge(setting: Setting, name: str) -> str:
    found, guess = setting.figures[name], setting.guess.get(name)
    if guess is None or math.isnan(found.value):
        return "none"
    gain = guess - found.value if name in _LOSSES else found.value - guess
    error = found.error or 1.0 / math.sqrt(max(1, setting.n_pairs))
    if gain > _CLEARLY * error:
        return "clear"
    return "some" if gain > _BETTER * error else "none"


def in_short(data: ReportData) -> Iterator[str]:
    """The report in a handful of sentences."""
    yield from _about_settings(data)
    yield from _about_calibration(data)
    yield from _about_objects(data)
    if data.features and data.features[0].mean > 0.0:
        names = [f"“{cut(drop.name, 48)}”" for drop in data.features[:3] if drop.mean > 0.0]
        yield f"It goes by {_listed(names)} first of all."
    if len(data.members) > 1:
        shares = [f"{one.name} ({one.weight:.2f})" for one in data.members]
        yield f"It is a weighted sum of {_listed(shares)}; figures of new objects are of kernels alone."
    if (swap := data.swap) is not None:
        tried = f"holds bit for bit on all {swap.n_pairs:,} pairs tried"
        yield f"The swap law {swap.law} {tried if swap.holds else 'IS BROKEN'}."
    if data.certificate is not None and not data.certificate.holds:
        yield "The fit did not reach its tolerance: see the certificate below."


def _about_settings(data: ReportData) -> Iterator[str]:
    measured = [setting for setting in data.settings if setting.figures]
    if not measured:
        yield "How good it is on new pairs could not be measured: see below."
        return
    name = lead(measured[0])
    parts = [
        f"{_reached(setting, name)} of {_QUESTIONS.get(setting.key, setting.name)}"
        for setting in measured
    ]
    if name == "accuracy":
        guesses = sorted(setting.guess[name] for setting in measured)
        ends = list(dict.fromkeys(percent(end, 0) for end in (guesses[0], guesses[-1])))
        rules = list(dict.fromkeys(map(guess_name, measured)))
        simple = "A guess" if rules == ["a guess"] else f"A simple rule ({_listed(rules)})"
        yield f"It gets right: {_listed(parts)}. {simple} gets {' to '.join(ends)}."
        losses = [
            f"{figure('log-loss', setting.figures['log-loss'])} ({setting.name};"
            f" {guess_name(setting)} {plain(setting.guess['log-loss'])})"
            for setting in measured
            if "log-loss" in setting.figures
        ]
        if losses:  # the figure that decides, where there are probabilities
            yield f"The log-loss of its probabilities, less being better, is {_listed(losses)}."
    else:
        yield f"It explains, as a share of the variance: {_listed(parts)}."
    said = [
        f"{words} with {_listed(names)}"
        for verdict, words in _JUDGED.items()
        if (names := [setting.name for setting in measured if judge(setting) == verdict])
    ]
    if len(said) == 1 and len(measured) > 1:
        said = [f"{_JUDGED[judge(measured[0])].rstrip(',')} in every setting"]
    yield f"That is {'; '.join(said)}."


def _reached(setting: Setting, name: str) -> str:
    """The figure; where nothing was wrong, what that says."""
    found = setting.figures[name]
    if name == "accuracy" and found.value > 1.0 - 1e-12:
        bound = percent(0.05 ** (1.0 / max(1, setting.n_pairs)))
        return f"all {setting.n_pairs:,} (at least {bound} with 95 % confidence)"
    return figure(name, found)


def _about_calibration(data: ReportData) -> Iterator[str]:
    found = data.reliability
    if found is None or data.model.kind == "numbers":
        return
    off = 100.0 * found.error
    quality = "can be taken at face value" if off < 3.0 else "are a rough guide"
    if off >= 8.0:
        quality = "should not be taken at face value"
    yield (
        f"Its probabilities {quality}: on held-out pairs ({found.setting}) they are off by"
        f" {off:.1f} percentage points on average."
    )


def _about_objects(data: ReportData) -> Iterator[str]:
    if data.ranking is not None and data.ranking.objects:
        best = [cut(one.name, 48) for one in data.ranking.objects[:3]]
        best = [f"“{name}”" if "," in name else name for name in best]  # commas would confuse
        cyclic = data.ranking.shares.triangles + data.ranking.shares.longer
        yield (
            f"Ahead of all are {_listed(best)}. A ranking explains"
            f" {percent(max(0.0, 1.0 - cyclic))} of the predicted margins; {percent(cyclic)} goes"
            " round in circles."
        )
    if data.groups is not None:
        count = len(data.groups.groups)
        yield (
            f"Among {data.groups.n_objects} objects it finds {count} groups of several that belong"
            f" together; {data.groups.n_single} stand alone."
        )


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
