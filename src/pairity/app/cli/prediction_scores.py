"""How good predictions are, where it is known what happened: by label, over time, beside odds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support, r2_score, roc_auc_score

from pairity.app.cli.errors import InputError
from pairity.app.cli.options import Settings
from pairity.app.cli.training_data import Training, has_dates
from pairity.io import Recipe
from pairity.io.recipe import numbers
from pairity.losses.probabilities import two_probabilities
from pairity.model_selection import (
    DatedForecasts,
    PairClassifierCV,
    PairLogisticCV,
    TimeSplit,
    probabilities_of_odds,
)
from pairity.model_selection.metrics import brier_score, log_loss, ranked_probability_score
from pairity.pairs.arrays import Matrix
from pairity.pairs.from_tables import text_of, times_in

#: Length of a period, in the unit of the times.
_EVERY = 30.0


def scores_of_values(given: Any, values: NDArray[np.float64]) -> dict[str, Any]:
    """Mean errors of predicted numbers, over the rows that have a number."""
    truth = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64)
    known = np.isfinite(truth)
    if not known.any():
        return {}
    truth, values = truth[known], values[known]
    errors = truth - values
    scores = {
        "pairs with a value": int(known.sum()),
        "mean absolute error": float(np.abs(errors).mean()),
        "root mean square error": float(np.sqrt(np.mean(errors**2))),
    }
    return scores | ({"R^2": float(r2_score(truth, values))} if np.ptp(truth) > 0 else {})


def scores_of_labels(
    given: Any, results: dict[str, Any], names: list[Any], *, symmetric: bool
) -> dict[str, Any]:
    """Accuracy, and what else the results allow, over the rows with one of these labels.

    Of probabilities log-loss and Brier score, and of three of them the ranked probability score; of a
    symmetric model precision, recall and F1 of the last label, and the area under the ROC curve.
    """
    known_names = [text_of(name) for name in names]
    truth = given.map(text_of).to_numpy(dtype=object)
    known = np.isin(truth, known_names)
    if not known.any():
        return {}
    said = np.array([text_of(label) for label in results["label"].to_pylist()], dtype=object)
    truth, said = truth[known], said[known]
    scores: dict[str, Any] = {
        "pairs with a label": int(known.sum()),
        "agree with it": float((truth == said).mean()),
    }
    columns = [f"probability {name}" for name in known_names]
    if all(name in results for name in columns):
        chances = np.column_stack([results[name] for name in columns])[known]
        places = np.array([known_names.index(text) for text in truth])
        classes = np.arange(len(known_names))
        scores["log-loss"] = float(log_loss(places, chances, classes=classes))
        scores["Brier score"] = float(brier_score(places, chances, classes=classes))
        if len(classes) > 2:
            ranked = ranked_probability_score(places, chances, classes=classes)
            scores["ranked probability score"] = float(ranked)
    positive = truth == known_names[-1]
    if symmetric and len(known_names) == 2 and positive.any() and not positive.all():
        found = precision_recall_fscore_support(
            positive, said == known_names[-1], average="binary", zero_division=0.0
        )
        scores |= zip(("precision", "recall", "F1"), map(float, found[:3]), strict=True)
        if "decision" in results:
            scores["AUC"] = float(roc_auc_score(positive, np.asarray(results["decision"])[known]))
    return scores


# Over time, and beside the odds of others -------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Judged:
    """Forecasts of the rows with a label, and what odds said of them where there are some."""

    forecasts: DatedForecasts
    unit: str  # of the times: "days", "numbers", or "" without any
    odds: Matrix | None  # decimal, NaN where there are none

    @classmethod
    def of(
        cls,
        settings: Settings,
        frame: Any,
        recipe: Recipe,
        results: dict[str, Any],
        names: list[Any],
    ) -> Judged:
        """Of a table that was asked about; refused where nothing can be judged."""
        label, texts = recipe.columns.label, [text_of(name) for name in names]
        columns = [f"probability {text}" for text in texts]
        if label is None or label not in frame.columns or any(c not in results for c in columns):
            raise InputError(
                "got --scores or --odds for pairs without labels, or a model without probabilities;"
                f" expected the column {label!r} with what happened, and a model of --learner"
                " logistic, or trained with --probabilities or --draw."
            )
        truth = frame[label].map(text_of).to_numpy(dtype=object)
        known = np.flatnonzero(np.isin(truth, texts))
        if not len(known):
            raise InputError(
                f"got no pair with a label of the model in the column {label!r}; expected some of"
                f" {', '.join(texts)}."
            )
        column = settings.time or recipe.columns.time
        times = None if column is None else times_in(frame, column, settings.pairs.name)
        unit = "" if times is None else "days" if has_dates(frame, column) else "numbers"
        happened = np.array([texts.index(text) for text in truth[known]])
        chances = np.column_stack([results[column] for column in columns])[known]
        clock = np.zeros(len(known)) if times is None else times[known]
        length = _EVERY if settings.every is None else settings.every
        if not 0.0 < length < np.inf:
            raise InputError(f"got --every {length}; expected a finite length above 0.")
        periods = np.floor((clock - clock.min()) / length).astype(np.intp)
        forecasts = DatedForecasts(clock, chances, happened, np.arange(len(texts)), periods)
        odds = _odds(settings, frame, texts)
        return cls(forecasts, unit, None if odds is None else odds[known])

    def beside_odds(self) -> dict[str, Any]:
        """Scores of the model and of the odds, on the pairs that have odds."""
        pair = self._on_odds()
        if pair is None:
            return {}
        model, odds = ({k.replace("_", " "): v for k, v in of.scores().items()} for of in pair)
        return {"pairs with odds": len(pair[1]), "model there": model, "odds": odds}

    def by_date(self) -> Any:
        """Scores period by period; those of odds, on the pairs that have some, beside them."""
        if not self.unit:
            raise InputError(
                "got --scores for a model trained without --time; expected --time COL, the column that"
                " says when."
            )
        table, pair = self.forecasts.to_frame(), self._on_odds()
        table = _with_dates(table) if self.unit == "days" else table
        if pair is None:
            return table
        for name, part in zip(("model with odds", "odds"), pair, strict=True):
            beside = part.to_frame().drop(columns="from").set_index("period")
            beside = beside if name == "odds" else beside.drop(columns="pairs")
            table = table.join(beside.add_prefix(f"{name} "), on="period")
        return table

    def _on_odds(self) -> tuple[DatedForecasts, DatedForecasts] | None:
        if self.odds is None:
            return None
        whole = np.flatnonzero(np.isfinite(self.odds).all(axis=1))
        if not len(whole):
            raise InputError("got no pair with odds of every label; expected some.")
        of = self.forecasts
        what = of.times[whole], of.probabilities[whole], of.y[whole]
        model = DatedForecasts(*what, of.classes, of.periods[whole])
        return model, replace(model, probabilities=probabilities_of_odds(self.odds[whole]))


def held_out_over_time(model: Any, training: Training) -> dict[str, Any]:
    """Scores of what a model was tuned by: later pairs, period by period; nothing of other models."""
    pairs = training.pairs
    if pairs.time is None or not isinstance(model, PairLogisticCV | PairClassifierCV):
        return {}
    rows, decisions = np.asarray(model.held_out_rows_), np.asarray(model.held_out_decisions_)
    if isinstance(model, PairClassifierCV):
        decisions = model.held_out_as_written(pairs)
    periods = np.zeros(len(pairs), dtype=np.intp)
    for number, (_, later) in enumerate(TimeSplit(model.n_splits_).split(pairs)):
        periods[later] = number
    happened = (training.labels.values == model.classes_[1]).astype(np.intp)
    what = pairs.time[rows], two_probabilities(decisions), happened[rows], np.arange(2)
    found = DatedForecasts(*what, periods[rows])
    table = _with_dates(found.to_frame()) if training.dates else found.to_frame()
    named = {str(row.pop("from")): row for row in table.drop(columns="period").to_dict("records")}
    return {"held-out pairs over time": named}


def _with_dates(table: Any) -> Any:
    """Days as dates."""
    days = table["from"].to_numpy().astype("datetime64[D]")
    return table.assign(**{"from": days.astype(str)})


def _odds(settings: Settings, frame: Any, texts: list[str]) -> Matrix | None:
    """Columns of odds in the order of the labels."""
    if not settings.odds:
        return None
    given = dict(entry.partition("=")[::2] for entry in settings.odds)
    if sorted(given) != sorted(texts) or len(given) != len(settings.odds):
        raise InputError(
            f"got --odds of {', '.join(given)}; expected LABEL=COL once for each label of the model:"
            f" {', '.join(texts)}."
        )
    return numbers(frame, [given[text] for text in texts], settings.pairs.name)
