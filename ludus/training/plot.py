"""The picture of a run: its score with confidence interval, and its losses."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from ludus.types import Array


class RunFigure(Figure):
    """A figure that notebooks show without pyplot."""

    def _repr_png_(self) -> bytes:
        data = io.BytesIO()
        self.savefig(data, format="png", dpi=100)
        return data.getvalue()


def figure(title: str, metrics: Mapping[str, Array]) -> RunFigure:
    """The score over the steps, and below it every metric whose name ends with `loss`."""
    losses = [name for name in metrics if name.endswith("loss")]
    picture = RunFigure(figsize=(7, 3.2 * (1 + bool(losses))), layout="constrained")
    axes = picture.subplots(1 + bool(losses), 1, sharex=True, squeeze=False)[:, 0]
    axes[0].set(title=title, ylabel="score")
    if "score" in metrics:
        known = np.isfinite(metrics["score"])
        steps, score = metrics["step"][known], metrics["score"][known]
        axes[0].plot(steps, score, marker=".")
        axes[0].fill_between(steps, metrics["score_low"][known], metrics["score_high"][known], alpha=0.25)
    for name in losses:
        axes[1].plot(metrics["step"], metrics[name], label=name)
    if losses:
        axes[1].set(ylabel="loss")
        axes[1].legend()
    axes[-1].set(xlabel="steps")
    return picture
