"""`ludus bench --compare`: ratios are corrected by the reference loop, and only real losses are regressions."""

import json

import pytest

from ludus import cli
from ludus.bench import Result, comparison
from ludus.types import LudusError


def baseline(reference=100.0, **values):
    units = {"speed": "steps/s", "start": "s", "memory": "MB", "gain": "x", "score": "%"}
    return comparison.Baseline({name: Result(name, value, units[name]) for name, value in values.items()}, reference)


def measured(reference=100.0, **values):
    return comparison.Measured(list(baseline(**values).results.values()), reference)


def rows(before, *runs, threshold=0.1):
    return {row.name: row for row in comparison.compare(before, runs, threshold)}


def test_more_is_better_for_speeds_and_less_for_seconds_and_memory():
    found = rows(baseline(speed=10, start=2, memory=50, gain=1.8), measured(speed=5, start=1, memory=100, gain=0.9))
    assert {name: row.ratio for name, row in found.items()} == {"speed": 0.5, "start": 2.0, "memory": 0.5, "gain": 0.5}
    assert [name for name, row in found.items() if row.regressed] == ["speed", "memory", "gain"]


def test_a_slower_machine_is_no_regression():
    found = rows(baseline(speed=10, start=2, gain=1.8), measured(50.0, speed=5, start=4, gain=1.8))
    assert all(row.ratio == 1.0 and not row.regressed for row in found.values())


def test_sizes_are_not_corrected_by_the_reference_loop():
    assert rows(baseline(memory=10), measured(50.0, memory=10))["memory"].ratio == 1.0


def test_one_good_run_of_several_is_no_regression_but_noise():
    row = rows(baseline(speed=10), measured(speed=5), measured(speed=6), measured(speed=9.5))["speed"]
    assert row.ratio == pytest.approx(0.6) and not row.regressed and row.noise == pytest.approx(0.375)


def test_scores_and_new_measurements_are_left_out():
    assert rows(baseline(score=90, speed=1), measured(score=10, start=1)) == {}


def test_results_without_a_reference_are_compared_as_they_are():
    before = baseline(None, speed=10)
    assert rows(before, measured(50.0, speed=10))["speed"].ratio == 1.0
    assert "no reference loop" in list(comparison.lines([], before, [measured(speed=1)]))[-1]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"results": [{"name": "x", "value": "fast", "unit": "s"}]}', "[1"])
def test_a_file_that_is_no_result_is_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(LudusError, match="is not a result of ludus bench"):
        comparison.read(tmp_path / "x.json")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(LudusError, match="No such file"):
        comparison.read(tmp_path / "x.json")


def test_the_command_compares_and_its_exit_code_tells(tmp_path, capsys):
    words = ["bench", "pool", "--game", "tictactoe", "--rounds", "1", "--rows", "64"]
    cli.run([*words, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["reference"] > 0
    for factor, code in ((0.01, None), (100.0, 1)):
        path = tmp_path / "before.json"
        results = [
            one | {"value": one["value"] * (factor if one["unit"] == "steps/s" else 1e-9)}
            for one in document["results"]
        ]
        path.write_text(json.dumps(document | {"results": results}))
        wanted = ["--compare", str(path), "--repeats", "1", "--threshold", "0.5"]
        if code is None:
            cli.run([*words, *wanted, "--json"])
            assert not any(row["regressed"] for row in json.loads(capsys.readouterr().out)["rows"])
        else:
            with pytest.raises(SystemExit) as ended:
                cli.run([*words, *wanted])
            assert ended.value.code == code and "REGRESSION" in capsys.readouterr().out


def test_wrong_arguments_are_refused(tmp_path):
    for wrong in (["--repeats", "0"], ["--threshold", "0"], ["--threshold", "1.5"]):
        with pytest.raises(LudusError, match="--repeats must be at least 1 and --threshold between 0 and 1"):
            cli.run(["bench", "quick", "--compare", str(tmp_path / "x.json"), *wrong])
