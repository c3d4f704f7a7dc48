"""The conformance suite can fail: each game here has one planted defect, and the right check finds it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import small_games
from small_games import garden, small_game

from ludus.evaluation import conformance
from ludus.pool import Pool
from ludus.types import LudusError

GAME = small_game('''
"""Pile: add one, two or three to the pile, and a hidden die adds more; who fills it wins."""
import numpy as np
SPEC = Spec(seats=2, actions=Discrete(3), horizon=20, zero_sum=True, frame=(100, 100))
STATE = record(**HEAD, pile=i8, die=i8, moves=i8, weight=f32, trace=(i8, 4))
OBSERVATION = record(pile=within(0, 30, i8), moves=within(0, 20, i8))

@rule
def init(state):
    state.die = random.below(state, 6)
    state.weight = 1.0

@rule
def step(state, action, reward):
    state.pile += action + 1
    state.moves += 1
    state.trace[state.moves % 4] = action
    state.weight = np.float64(state.weight) * 0.7
    if state.pile + state.die >= 20:
        reward[state.seat] = 1.0
        reward[1 - state.seat] = -1.0
        state.status = OVER
    state.seat = 1 - state.seat

@rule
def redeal(state, seat):
    state.die = random.below(state, 6)

@rule
def scene(state, seat, canvas):
    draw.circle(canvas, 50, 50, 20 + state.pile, 0xFFB454)

def action_name(action):
    return f"add {action + 1}"
''')

REDEAL = "state.die = random.below(state, 6)\n\n@rule\ndef scene"
MUTANTS = (
    ("masks_are_never_empty", "mask[action] = 1", "mask[action] = state.pile < 12", "no action is legal"),
    (
        "seats_exist",
        "state.seat = 1 - state.seat",
        "state.seat = 1 - state.seat + 2 * state.status",
        "seat 2 is to act",
    ),
    ("games_end_within_the_horizon", "state.status = OVER", "state.pile = 0", "still run after 20 steps"),
    ("observations_stay_in_range", "out.pile = state.pile", "out.pile = state.pile + 15", "observation pile is 31"),
    ("observations_vary", "out.moves = state.moves", "out.moves = state.moves // 99", "observation moves is 0 in all"),
    ("rewards_are_finite", "reward[state.seat] = 1.0", "reward[state.seat] = np.nan", "not a finite number"),
    ("zero_sum_sums_to_zero", "reward[1 - state.seat] = -1.0", "reward[1 - state.seat] = -0.5", "do not sum to zero"),
    ("status_and_discount_are_valid", "state.weight = 1.0", "state.status = 3", "the status is 3"),
    ("looking_changes_nothing", "out.pile = state.pile", "state.die += 1", "changes the state's die"),
    (
        "opening_forgets",
        "out.moves = state.moves",
        "out.moves += 1",
        "observation's moves depends on its previous content",
    ),
    (
        "dice_stay_hidden",
        "out.pile = state.pile",
        "out.pile = state.key % np.uint64(7)",
        "observation pile changes with",
    ),
    ("redeal_is_honest", REDEAL, REDEAL.replace("die", "pile"), "changes what seat 0 observes"),
    ("redeal_is_honest", REDEAL, REDEAL.replace("random.below(state, 6)", "state.die"), "never changes anything"),
    ("scene_stays_in_frame", "20 + state.pile", "40 + state.pile", "outside the frame 100 x 100"),
    ("actions_have_names", "add {action + 1}", "add {action // 2}", '2 actions are called "add 0"'),
    ("numbers_do_not_wrap", "state.moves += 1", "state.moves += 1; state.trace[0] += 100", "but 200 with 64 bits"),
)

PLAINLY = """
import json, sys
from ludus.evaluation import conformance
conformance.trials.STEPS, conformance.play_checks.LONG_PLAY = 60, 60
checks = {check.__name__: check for check in conformance.CHECKS}
for index, name in enumerate(sys.argv[1:]):
    print(json.dumps(conformance.find(checks[name], conformance.Trial(f"mutant_{index}"))))
"""


@pytest.fixture
def plant(tmp_path, monkeypatch, request):
    """Write the game with one replacement into a games folder of its own."""
    write = garden(tmp_path, monkeypatch, request)
    return lambda name, right="", wrong="": write(name, mutant(right, wrong))


def mutant(right: str, wrong: str) -> str:
    assert right in GAME
    return GAME.replace(right, wrong) if right else GAME


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """The finding of the right check for each mutant, in one process of plain Python to save compilation."""
    folder = tmp_path_factory.mktemp("mutants")
    small_games.plant(folder, **{f"mutant_{index}": mutant(*change[1:3]) for index, change in enumerate(MUTANTS)})
    environment = {"LUDUS_GAMES": str(folder), "LUDUS_CACHE": str(folder / "cache"), "NUMBA_DISABLE_JIT": "1"}
    return [json.loads(line) for line in run(PLAINLY, *(mutant[0] for mutant in MUTANTS), **environment).splitlines()]


def run(script: str, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", script, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def failed(name: str) -> dict[str, str]:
    return {finding.check: finding.sentence for finding in conformance.check_game(name) if not finding.passed}


def test_the_sound_game_passes(plant):
    assert failed(plant("sound_pile")) == {}


@pytest.mark.parametrize("index", range(len(MUTANTS)), ids=[mutant[0] for mutant in MUTANTS])
def test_the_right_check_finds_the_defect(index, findings):
    _, passed, sentence = findings[index]
    assert not passed
    assert MUTANTS[index][3] in sentence


def test_rules_that_do_not_compile_are_a_finding(plant):
    name = plant("mutant_nonsense", "state.pile += action + 1", "state.pile += nonsense")
    assert "nonsense" in failed(name)["rules_compile"]


def test_an_unknown_game_raises_an_error():
    with pytest.raises(LudusError, match='unknown game "nowhere"'):
        conformance.check_game("nowhere")


def test_rules_that_mix_precisions_are_found(plant):
    name = plant("mutant_precision", "np.float64(state.weight) * 0.7", "state.weight * 0.7 + 0.1")
    assert "weight of the states" in failed(name)["compiled_equals_plain"]


def test_a_write_into_the_neighbour_is_found_without_bounds_checks(plant):
    name = plant("mutant_neighbour", "state.trace[state.moves % 4] = action", "state.trace[state.moves * 30] = action")
    script = "import sys; from ludus.evaluation import conformance; print(conformance.check_game(sys.argv[1]))"
    assert "wrote outside its own state" in run(script, name, NUMBA_BOUNDSCHECK="0")


def test_a_write_into_the_neighbour_is_an_error_with_bounds_checks(plant):
    name = plant("mutant_bounds", "state.trace[state.moves % 4] = action", "state.trace[state.moves * 30] = action")
    assert "out of bounds" in failed(name)["neighbours_stay_untouched"]


@pytest.fixture
def trial():
    return conformance.Trial("tictactoe")


def complaint(check: str, trial: conformance.Trial) -> str:
    finding = next(conformance.find(c, trial) for c in conformance.CHECKS if c.__name__ == check)
    return "" if finding.passed else finding.sentence


def test_a_wrong_first_is_found(trial):
    trial.play.rows["first"][3, 2] = 1
    assert complaint("first_follows_every_end", trial) == "step 3, row 2: first is 1 but should be 0"


def test_a_wrong_discount_is_found(trial):
    trial.play.rows["discount"][2, 1] = 0
    assert "step 2, row 1: the discount is 0" in complaint("status_and_discount_are_valid", trial)


def test_play_that_does_not_repeat_is_found(trial):
    trial.play.states["stones"][5, 0, 1] ^= 1
    assert "differs in stones" in complaint("same_key_same_game", trial)


def test_a_fork_with_the_same_random_numbers_is_found(trial, monkeypatch):
    def fork(pool, rows, seed):
        twin = Pool(pool.game, len(rows), seed)
        twin.states[:] = pool.states[rows]
        return twin

    monkeypatch.setattr(Pool, "fork", fork)
    assert "the same random key as the original" in complaint("forks_have_their_own_dice", trial)


def test_an_incomplete_snapshot_is_found(trial, monkeypatch):
    restore = Pool.restore
    monkeypatch.setattr(Pool, "restore", lambda pool, saved: restore(pool, saved._replace(states=saved.states * 0)))
    assert complaint("snapshots_continue", trial)


def test_results_that_depend_on_threads_are_found(trial, monkeypatch):
    play = Pool.play_randomly
    monkeypatch.setattr(Pool, "play_randomly", lambda pool, steps: play(pool, steps, seed=pool.threads))
    assert complaint("threads_do_not_matter", trial).startswith("2 threads give other results")


def test_areas_that_cannot_be_played_are_found():
    from ludus.dsl import draw
    from ludus.evaluation.conformance.picture_checks import canvas_complaint
    from ludus.types import Continuous, Discrete, Spec

    def told(x, width, action, actions=None):
        canvas = draw.new_canvas()
        draw.area(canvas[0], x, 0, width, 10, action)
        return canvas_complaint(canvas[0], Spec(seats=1, actions=actions or Discrete(9), horizon=9, frame=(100, 60)))

    assert told(0, 100, 8) == ""
    assert told(0, 100, 9) == "an area plays action 9; the actions are 0 to 8"
    assert told(1, 100, 8).startswith("an area reaches from (1.0, 0.0) to (101.0, 10.0)")
    assert "cannot be clicked" in told(1, 0, 8)
    assert "continuous" in told(0, 100, 0, Continuous((-1.0,), (1.0,)))


def test_extents_of_turned_round_and_thick_shapes():
    from ludus.dsl import draw
    from ludus.evaluation.conformance.picture_checks import extents

    shapes = np.zeros(4, draw.SHAPE)
    shapes[0] = (draw.RECT, 0, 0, 10, 20, 40, 20, 0, 90, 0)
    shapes[1] = (draw.RECT, 0, 0, 0, 0, 20, 20, 10, 45, 0)
    shapes[2] = (draw.LINE, 0, 0, 10, 50, 30, 20, 6, 0, 0)
    shapes[3] = (draw.CIRCLE, 0, 0, 50, 60, 5, 5, 0, 0, 0)
    expected = [[20, 0, 7, 45], [10, 0, 17, 55], [40, 20, 33, 55], [50, 20, 53, 65]]
    np.testing.assert_allclose(extents(shapes), expected, atol=1e-9)
