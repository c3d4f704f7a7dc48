"""Checks of the picture and the names of actions."""

from __future__ import annotations

import numpy as np

from ludus.dsl.draw import AREA, CANVAS, CIRCLE, LINE, RECT, TEXT, new_canvas
from ludus.evaluation.conformance.trials import Trial
from ludus.types import Array, Continuous, Spec

SLACK = 0.01
"""pixels by which a shape may be outside the frame, because of rounding"""
WATCHED = 4
"""rows whose every step is drawn"""
KINDS = {RECT: "a rectangle", CIRCLE: "a circle", LINE: "a line", TEXT: "a text", AREA: "an area"}


def scene_stays_in_frame(trial: Trial) -> str:
    """At every step all shapes are inside SPEC.frame, areas refer to actions, and no shape is dropped."""
    if not hasattr(trial.game.rules, "scene"):
        return ""
    for step, states in enumerate(trial.play.states[:, :WATCHED].copy()):
        for row in range(WATCHED):
            for seat in range(trial.game.spec.seats):
                canvas = new_canvas()
                trial.kernel.draw_scene(states, row, seat, canvas)
                if complaint := canvas_complaint(canvas[0], trial.game.spec):
                    return f"step {step}, row {row}, seat {seat}: {complaint}"
    return ""


def canvas_complaint(canvas: np.void, spec: Spec) -> str:
    """The error in a drawn canvas, or an empty text."""
    frame = spec.frame
    if canvas["dropped"]:
        return f"{canvas['dropped']} shapes were dropped; a scene has at most {CANVAS['shapes'].shape[0]}"
    shapes = canvas["shapes"][: canvas["count"]]
    areas = shapes["kind"] == AREA
    if not np.isin(shapes["kind"], tuple(KINDS)).all() or (shapes["color"][~areas] > 0xFFFFFF).any():
        return "a shape has an unknown kind or a colour beyond 0xFFFFFF"
    if areas.any() and (wrong := area_complaint(shapes[areas], spec)):
        return wrong
    left, top, right, bottom = extents(shapes)
    inside = (left >= -SLACK) & (top >= -SLACK) & (right <= frame[0] + SLACK) & (bottom <= frame[1] + SLACK)
    if inside.all():
        return ""
    worst = int(np.argmin(inside))
    kind = KINDS[int(shapes["kind"][worst])]
    return (
        f"{kind} reaches from ({left[worst]:.1f}, {top[worst]:.1f}) to ({right[worst]:.1f}, {bottom[worst]:.1f}), "
        f"outside the frame {frame[0]} x {frame[1]}"
    )


def area_complaint(areas: Array, spec: Spec) -> str:
    """The error in areas, each of which needs a size and an existing action; or an empty text."""
    if isinstance(spec.actions, Continuous):
        return "an area needs a discrete action, but this game's actions are continuous"
    if (areas["color"] >= spec.actions.n).any():
        return f"an area plays action {areas['color'].max()}; the actions are 0 to {spec.actions.n - 1}"
    if (areas["w"] <= 0).any() or (areas["h"] <= 0).any():
        return "an area without width or height cannot be clicked"
    return ""


def extents(shapes: Array) -> tuple[Array, Array, Array, Array]:
    """[S] left, top, right and bottom of shapes as drawn; for a text only its position."""
    x, y, w, h, size = (shapes[name].astype(float) for name in ("x", "y", "w", "h", "size"))
    rect, circle, line = (np.isin(shapes["kind"], kinds) for kinds in ((RECT, AREA), CIRCLE, LINE))
    turn = np.radians(shapes["angle"].astype(float))
    cosine, sine = np.abs(np.cos(turn)), np.abs(np.sin(turn))
    # A rotated rectangle with round corners is a smaller rotated rectangle extended by `corner` on all sides.
    corner = np.minimum(size, np.minimum(w, h) / 2)
    half_w, half_h = w / 2 - corner, h / 2 - corner
    reach_x = np.select([rect, circle, line], [half_w * cosine + half_h * sine + corner, w, size / 2], 0.0)
    reach_y = np.select([rect, circle, line], [half_w * sine + half_h * cosine + corner, w, size / 2], 0.0)
    from_x, from_y = np.where(rect, x + w / 2, x), np.where(rect, y + h / 2, y)
    to_x, to_y = np.where(line, w, from_x), np.where(line, h, from_y)
    return (
        np.minimum(from_x, to_x) - reach_x, np.minimum(from_y, to_y) - reach_y,
        np.maximum(from_x, to_x) + reach_x, np.maximum(from_y, to_y) + reach_y,
    )  # fmt: skip


def actions_have_names(trial: Trial) -> str:
    """Every action has a name, and no two have the same."""
    actions = trial.game.spec.actions
    choices: list[Array] | list[int] = (
        list(map(np.array, actions)) if isinstance(actions, Continuous) else list(range(actions.n))
    )
    names = [trial.game.rules.action_name(choice) for choice in choices]
    for choice, name in zip(choices, names, strict=True):
        if not isinstance(name, str) or not name.strip():
            return f"action {choice} has the name {name!r}; give it a readable name"
        if names.count(name) > 1:
            return f'{names.count(name)} actions are called "{name}"; give each its own name'
    return ""


CHECKS = (scene_stays_in_frame, actions_have_names)
