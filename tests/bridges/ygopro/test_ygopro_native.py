"""The C interface, tested with a small library that records its calls and answers from a recording."""

import shutil
import struct
import subprocess

import pytest
from real_cores import HERE, library_of, open_node_core, stage_1_duels

from ludus.bridges.ygopro.answers import response
from ludus.bridges.ygopro.core import QUERIES, Cards, Setup
from ludus.bridges.ygopro.lockstep import Recording, compare, setup_of
from ludus.bridges.ygopro.native import NativeCore
from ludus.bridges.ygopro.real_duel import RealDuel
from ludus.types import LudusError

SCRIPTED = (90000001, 3, 90000002, 0x0002_1045, 0x1000021, 2500, 1200, 0x02040007, 2, 16, 0, "Scripted")
ARROWS = (90000003, 3, 0, 0, 0x4000021, 1000, 0x28, 2, 1, 32, 0, "Arrows")
DUEL = stage_1_duels()[0]


def build(folder, *flags):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("the C interface is tested with a small library, and there is no C compiler (gcc or cc)")
    path = folder / f"librecorder{'_'.join(flags)}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", path, HERE / "recorder.c", *flags], check=True)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("native")


@pytest.fixture(scope="module")
def recorder(folder):
    return build(folder)


@pytest.fixture(scope="module")
def library(folder):
    scripts = folder / "script"
    (scripts / "official").mkdir(parents=True)
    (scripts / "official" / "c90000001.lua").write_text("-- ours")
    (scripts / "utility.lua").write_text("-- first")
    return library_of(folder, scripts, [SCRIPTED, ARROWS])


@pytest.fixture
def calls(folder, monkeypatch):
    path = folder / "calls.txt"
    monkeypatch.setenv("OCGCORE_LOG", str(path))
    monkeypatch.delenv("OCGCORE_TAPE", raising=False)
    return path


def test_opening_a_duel_passes_setup_cards_and_scripts_to_the_core(recorder, library, calls):
    core = NativeCore(library, recorder)
    decks = (Cards((90000001, 46986414)), Cards((89631139,), (90000003,)))
    duel = core.open(Setup(decks, (1, 2**63 + 5, 3, 2**64 - 1), 0x2E810, 4000, 6, 2))
    duel.close()
    assert core.version == (11, 0)
    assert calls.read_text().splitlines() == [
        "create 1 9223372036854775813 3 18446744073709551615 flags 2e810 team 4000 6 2 team 4000 6 2",
        "load utility.lua (8 bytes)",
        "load c90000001.lua (7 bytes)",
        "card 0 0 90000001 at 0 1 0 8: 90000002 1000021 7 16 2 2500 1200 2 4 0 sets 4165 2 script 1",
        "card 0 0 46986414 at 0 1 0 8: 0 11 7 32 2 2500 2100 0 0 0 sets script 0",
        "card 1 0 89631139 at 1 1 0 8: 0 11 8 16 8192 3000 2500 0 0 0 sets script 0",
        "card 1 0 90000003 at 1 64 0 8: 0 4000021 2 32 1 1000 0 0 0 40 sets script 0",
        "start",
        "destroy",
    ]


def test_log_messages_of_the_core_are_stored(recorder, library, calls):
    core = NativeCore(library, recorder)
    core.open(Setup((Cards((77,)), Cards(())), (1, 2, 3, 4))).close()
    assert core.log == ["an unknown card"]


def test_chain_prompts_without_options_are_passed(folder, recorder, library, calls, monkeypatch):
    nothing, win = bytes([16, 0, 0, 0, *[0] * 12]), bytes([5, 1, 2])
    frames = [
        (b"P", b"\1"),
        (b"M", framed(nothing)),
        (b"P", b"\2"),
        (b"M", framed()),
        (b"P", b"\0"),
        (b"M", framed(win)),
    ]
    put_on_tape(folder / "short", [*frames, *[(b"Q", b"")] * len(QUERIES)])
    monkeypatch.setenv("OCGCORE_TAPE", str(folder / "short"))
    duel = NativeCore(library, recorder).open(Setup((Cards(()), Cards(())), (1, 2, 3, 4)))
    output = duel.run()
    duel.close()
    assert output.over and output.messages == framed(nothing, win) and len(output.query_results) == len(QUERIES)
    assert [line for line in calls.read_text().splitlines() if "answer" in line] == ["answer ff ff ff ff"]


def framed(*messages):
    return b"".join(struct.pack("<I", len(message)) + message for message in messages)


def put_on_tape(path, frames):
    path.write_bytes(b"".join(kind + struct.pack("<I", len(content)) + content for kind, content in frames))


def test_a_whole_duel_through_the_library_equals_the_recording(folder, recorder, library, calls, monkeypatch):
    tape = folder / "tape"
    write_tape(library, tape)
    monkeypatch.setenv("OCGCORE_TAPE", str(tape))
    core, recording = NativeCore(library, recorder), Recording(DUEL)
    duel = RealDuel(core, setup_of(DUEL))
    comparison = compare(duel, recording, recording.choose)
    duel.close()
    assert comparison == (DUEL["n"], None)
    lines = calls.read_text().splitlines()
    assert not [line for line in lines if "tape" in line]
    expected = ["answer " + response(*pair).hex(" ") for pair in answered()]
    assert [line for line in lines if line.startswith("answer")] == expected
    queries = [f"query {query.player} {query.location} {query.flags:x}" for query in QUERIES[1:]]
    assert [line for line in lines if line.startswith("query")] == queries * (DUEL["n"] + 1)


def answered():
    """The questions and answers of the recording."""
    recording = Recording(DUEL)
    while question := recording.question():
        yield question, recording.choose(question)
        recording.answer([])


def write_tape(library, path):
    """Write the output of a core in the recorded duel, for the library to repeat."""
    core = open_node_core(library)
    duel, frames = core.open(setup_of(DUEL)), []
    answers = [b"", *(response(*pair) for pair in answered())]
    for output in map(duel.run, answers):
        frames += [
            (b"P", bytes([0 if output.over else 1])),
            (b"M", output.messages),
            *((b"Q", result) for result in output.query_results),
        ]
    core.close()
    put_on_tape(path, frames)


def test_a_library_of_another_version_raises(folder, library):
    old = build(folder, "-DMAJOR=10")
    with pytest.raises(LudusError, match=r"version 10\.0 of the OCG interface, but Ludus supports 11"):
        NativeCore(library, old)


def test_a_library_without_a_function_raises(folder, library):
    short = build(folder, "-DWITHOUT_DESTROY")
    with pytest.raises(LudusError, match="is not a core with the OCG interface: it lacks OCG_DestroyDuel"):
        NativeCore(library, short)


def test_files_that_are_not_libraries_raise(folder, library):
    with pytest.raises(LudusError, match="there is no core at"):
        NativeCore(library, folder / "nowhere.so")
    text = folder / "text.so"
    text.write_text("no library")
    with pytest.raises(LudusError, match="cannot be loaded as a library"):
        NativeCore(library, text)


def test_a_first_script_that_fails_to_load_raises(folder, recorder, calls):
    (folder / "bad").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "utility.lua").write_text("error")
    library = library_of(folder / "bad", folder / "broken")
    with pytest.raises(LudusError, match=r"cannot load utility\.lua"):
        NativeCore(library, recorder).open(Setup((Cards(()), Cards(())), (1, 2, 3, 4)))
