"""The routes: their responses, and error messages for invalid requests."""

import io
import json
import shutil
import struct
import zipfile

import pytest

from ludus.agents import checkpoint
from ludus.evaluation import replays
from ludus.studio import bundles, details
from ludus.training import config, runs
from ludus.training.folder import CHECKPOINTS

BAD_NAMES = (
    "unknown",
    "..",
    "../x",
    "%2e%2e",
    "..%2fx",
    "%2e%2e%2fetc",
    "a" * 300,
    ".studio",
    "%00",
    "run:x",
    "car-0001/..",
)


@pytest.fixture(scope="module")
def shelf_of_runs(tmp_path_factory):
    """A folder with a finished run of tic-tac-toe; tests use copies of it."""
    out = tmp_path_factory.mktemp("api") / "runs"
    values = {"game": "tictactoe", "algorithm": "q_learning", "steps": 12_000, "chunk": 2_000, "num_envs": 16,
              "evaluations": 3, "eval_games": 20, "keep_checkpoints": 2}  # fmt: skip
    folder, run = runs.start(config.from_dict(values, "the test"), out)
    for _ in runs.carry_out(folder, run):
        pass
    return out


@pytest.fixture
def stocked(served, shelf_of_runs):
    """A studio with a copy of that folder."""
    shutil.copytree(shelf_of_runs, served.out)
    return served


RUN = "tictactoe-0001"


def test_version_and_boot_of_the_studio(served):
    facts = served.get("/api/studio")
    assert facts["version"].count(".") == 2 and facts["boot"] == served.studio.boot
    assert facts["deep"] is True and facts["out"] == str(served.out)


def test_games_have_all_facts_for_the_gallery(served):
    found = {game["name"]: game for game in served.get("/api/games")}
    assert {"car", "tictactoe", "balatro"} <= set(found)
    car, board = found["car"], found["tictactoe"]
    assert (car["seats"], car["continuous"], car["playable"]) == (1, True, True)
    assert (board["seats"], board["turns"], board["continuous"]) == (2, "alternating", False)
    assert car["parameters"]["track"]["default"] and car["parameters"]["track"]["meaning"]
    assert all(game["title"] and game["summary"] and game["algorithms"] for game in found.values())
    assert served.client.get(board["picture"]).content[:4] == b"RIFF"


def test_agents_of_a_game_include_its_runs(stocked):
    found = {agent["name"]: agent for agent in stocked.get("/api/games/tictactoe/agents")}
    assert {"perfect", "random", "mcts(50)", "mcts(400)", "mcts(2000)", f"run:{RUN}"} <= set(found)
    assert "lookahead" not in found and "lookahead" in {one["name"] for one in stocked.get("/api/games/duel/agents")}
    assert found["perfect"]["strength"] == 5 and found["random"]["strength"] == 0
    assert all(agent["label"] and agent["note"] for agent in found.values())
    other = {agent["name"] for agent in stocked.get("/api/games/connect4/agents")}
    assert f"run:{RUN}" not in other
    assert "mcts(50)" not in {agent["name"] for agent in stocked.get("/api/games/car(track=7)/agents")}


def test_agents_are_loaded_by_name_and_never_by_path(stocked):
    shelf = stocked.studio.shelf
    agent, params = shelf.agent(f"run:{RUN}", "tictactoe")
    assert agent.params is params and shelf.agent(f"run:{RUN}", "tictactoe")[0] is agent
    assert shelf.newer(f"run:{RUN}") == agent.path.name and shelf.newer("perfect") is None
    (stocked.out / "link-0001").symlink_to(stocked.out / RUN)
    for name in ("run:link-0001", "run:../x", f"run:{RUN}/checkpoints", str(stocked.out / RUN), f"run:{RUN}@../1",
                 "mcts", f"run:{RUN}@999999", "mcts(0)", f"lookahead({stocked.out / RUN})", "", "person", "run:",
                 "perfect/../x"):  # fmt: skip
        with pytest.raises(Exception, match=r"there is no|one simulation"):
            shelf.agent(name, "tictactoe")


def test_summary_and_details_of_a_run(stocked):
    (summary,) = stocked.get("/api/runs")
    assert summary["name"] == RUN and summary["status"] == "finished" and summary["algorithm"] == "q_learning"
    assert set(summary) == {"name", "title", "tags", "game", "algorithm", "steps", "of", "score", "low", "high",
                            "seconds", "steps_per_second", "left", "status", "sentence", "checkpoints"}  # fmt: skip
    run = stocked.get(f"/api/runs/{RUN}")
    assert run["settings"]["num_envs"] == 16 and "score" in run["columns"] and "step" not in run["columns"]
    assert len(run["checkpoints"]) == summary["checkpoints"] and sum(one["best"] for one in run["checkpoints"]) == 1
    assert run["checkpoints"][-1]["newest"] and all(one["bytes"] > 0 for one in run["checkpoints"])


def test_metrics_come_as_columns_and_as_a_table(stocked):
    metrics = stocked.get(f"/api/runs/{RUN}/metrics")
    assert len(metrics["step"]) == len(metrics["seconds"]) == len(metrics["columns"]["score"]) >= 6
    assert [value is not None for value in metrics["columns"]["score"]].count(True) == 3
    table = stocked.client.get(f"/api/runs/{RUN}/metrics.csv").text.splitlines()
    assert len(table) == len(metrics["step"]) + 1 and table[0].split(",")[0] == "step"
    assert [int(line.split(",")[0]) for line in table[1:]] == metrics["step"]


def test_titles_and_tags_are_kept(stocked):
    answer = stocked.client.patch(f"/api/runs/{RUN}", json={"title": "My <b>first</b> run", "tags": ["fast", "fast"]})
    assert answer.json()["title"] == "My <b>first</b> run" and answer.json()["tags"] == ["fast"]
    assert stocked.client.patch(f"/api/runs/{RUN}", json={"tags": []}).json()["title"] == "My <b>first</b> run"
    for wrong in ({"title": "two\nlines"}, {"tags": ["<script>"]}, {"tags": "x"}, {"title": "x" * 999}):
        answer = stocked.client.patch(f"/api/runs/{RUN}", json=wrong)
        assert answer.status_code == 422 and answer.json()["field"] in ("title", "tags")


def test_runs_are_compared_where_they_differ(stocked):
    other = runs.prepare(config.resolve("tictactoe", "sarsa"), stocked.out).name
    facts = stocked.get(f"/api/compare?runs={RUN}&runs={other}")
    assert [run["name"] for run in facts["runs"]] == [RUN, other]
    assert facts["settings"]["algorithm"] == ["q_learning", "sarsa"] and "game" not in facts["settings"]


def test_an_agent_is_exported_and_imported(stocked):
    packed = stocked.client.get(f"/api/runs/{RUN}/export?checkpoint=best")
    assert packed.headers["content-type"] == "application/zip"
    names = zipfile.ZipFile(io.BytesIO(packed.content)).namelist()
    assert sorted(name.rpartition("/")[2] for name in names) == ["manifest.json", "params.safetensors"]
    name = stocked.client.post("/api/agents", content=packed.content).json()["run"]
    run = stocked.get(f"/api/runs/{name}")
    assert name != RUN and run["status"] == "finished" and run["game"] == "tictactoe" and run["score"] is not None
    assert f"run:{name}" in {agent["name"] for agent in stocked.get("/api/games/tictactoe/agents")}
    assert "imported" in stocked.post(f"/api/runs/{name}/continue", {"steps": 10**9}, 409)["sentence"]


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name", ["../../evil", "/etc/passwd", "a/../../b", "a\\b", "manifest.json/x", "run.toml", "x.py"]
)
def test_a_zip_with_other_files_is_refused(stocked, name):
    before = sorted(stocked.out.parent.rglob("*"))
    answer = stocked.client.post("/api/agents", content=zipped(**{"manifest.json": "{}", name: "x"}))
    assert answer.status_code == 422 and "which no agent has" in answer.json()["sentence"]
    assert sorted(stocked.out.parent.rglob("*")) == before


def test_invalid_and_large_zips_are_refused(stocked, monkeypatch):
    many = zipped(**{f"a{number}.safetensors": "" for number in range(50)})
    for content, status in ((b"", 422), (b"PK\x03\x04 nothing", 422), (many, 422), (zipped(), 422),
                            (zipped(**{"manifest.json": "{}"}), 400)):  # fmt: skip
        answer = stocked.client.post("/api/agents", content=content)
        assert answer.status_code == status and answer.json()["sentence"], answer.text
    monkeypatch.setattr(bundles, "LARGEST", 1000)
    bomb = zipped(**{"manifest.json": "0" * 2000})
    assert stocked.client.post("/api/agents", content=bomb).status_code == 413
    assert stocked.get("/api/runs")[0]["name"] == RUN and len(stocked.get("/api/runs")) == 1
    assert not list(stocked.out.glob(".import-*")), "temporary folders are removed"


def changed(packed, **facts):
    """A bundle with another manifest."""
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        files = {name.rpartition("/")[2]: opened.read(name) for name in opened.namelist()}
    files["manifest.json"] = json.dumps(json.loads(files["manifest.json"]) | facts).encode()
    return zipped(**files)


def test_an_agent_with_a_wrong_manifest_is_refused(stocked):
    packed = stocked.client.get(f"/api/runs/{RUN}/export").content
    manifest = checkpoint.read_manifest(stocked.studio.shelf.checkpoint(RUN))
    broken, unknown = manifest.algorithm | {"num_envs": "many"}, {"kind": "magic"}
    wrong = [{"game": "gymnasium:os.system"}, {"game": "connect4"}, {"fingerprint": "0" * 16}, {"agent": unknown},
            {"algorithm": broken}, {"algorithm": unknown}]  # fmt: skip
    for facts in wrong:
        answer = stocked.client.post("/api/agents", content=changed(packed, **facts))
        assert 400 <= answer.status_code < 500 and answer.json()["sentence"], facts
    assert len(stocked.get("/api/runs")) == 1


def test_a_checkpoint_has_a_picture(stocked):
    step = stocked.get(f"/api/runs/{RUN}")["checkpoints"][-1]["name"]
    for _ in range(2):
        answer = stocked.client.get(f"/api/runs/{RUN}/checkpoints/{step}/thumbnail.webp")
        assert answer.status_code == 200 and answer.content[:4] == b"RIFF" and len(answer.content) < 20_000


def test_a_checkpoint_that_rotation_has_deleted_has_no_picture(stocked):
    newest = int(stocked.get(f"/api/runs/{RUN}")["checkpoints"][-1]["name"])
    gone, unknown = (f"/api/runs/{RUN}/checkpoints/{step}/thumbnail.webp" for step in ("000001", f"{newest + 1:06}"))
    assert stocked.client.get(gone).status_code == 204
    assert stocked.client.get(unknown).status_code == 404


@pytest.mark.parametrize("moment", ["looked up", "drawn"])
def test_rotation_may_delete_a_checkpoint_at_any_moment_of_its_picture(stocked, monkeypatch, moment):
    oldest = stocked.get(f"/api/runs/{RUN}")["checkpoints"][0]["name"]
    shelf, folder = stocked.studio.shelf, stocked.out / RUN / CHECKPOINTS / oldest
    look_up, draw = shelf.checkpoint, details._draw_thumbnail

    def look_up_later(name, which=None):
        if moment == "looked up" and which == oldest:
            shutil.rmtree(folder)
        return look_up(name, which)

    def draw_later(path):
        if moment == "drawn":
            shutil.rmtree(folder)
        return draw(path)

    monkeypatch.setattr(shelf, "checkpoint", look_up_later)
    monkeypatch.setattr(details, "_draw_thumbnail", draw_later)
    answer = stocked.client.get(f"/api/runs/{RUN}/checkpoints/{oldest}/thumbnail.webp")
    assert answer.status_code == 204 and not folder.exists()


def finished(served, job):
    return served.until(f"/api/jobs/{job}", lambda facts: facts["status"] != "running")


def test_a_battle_runs_as_a_job(stocked):
    body = {"game": "tictactoe", "agents": ["random", "perfect", f"run:{RUN}", "random"], "games": 11}
    done = finished(stocked, stocked.post("/api/battles", body, 202)["job"])
    assert done["status"] == "done" and done["done"] == done["total"] == 6 * 12
    result = done["result"]
    assert sorted(result["names"]) == sorted(["random", "random #2", "perfect", f"run:{RUN}"])
    assert result["names"][0] == "perfect" or result["names"][1] == "perfect"
    assert [row[place] for place, row in enumerate(result["payoff"])] == [None] * 4
    assert all(one["low"] <= one["rating"] <= one["high"] for one in result["ratings"])


@pytest.mark.parametrize(
    "body",
    [{"game": "car", "agents": ["random", "scripted"]}, {"game": "tictactoe", "agents": ["random"]},
     {"game": "tictactoe", "agents": ["random", "person"]}, {"game": "tictactoe", "agents": ["random", "../x"]},
     {"game": "chss", "agents": ["random", "random"]}, {"game": "tictactoe", "agents": ["random", "best"], "games": 0},
     {"game": "tictactoe"}, {"agents": []}, []],
)  # fmt: skip
def test_an_invalid_battle_is_refused(served, body):
    answer = served.client.post("/api/battles", json=body)
    assert 400 <= answer.status_code < 500 and answer.json()["sentence"]


def test_an_agent_is_evaluated_as_a_job(stocked):
    job = stocked.post(f"/api/runs/{RUN}/evaluate", {"games": 30, "against": "random"}, 202)["job"]
    result = finished(stocked, job)["result"]
    assert result["games"] == 30 == result["wins"] + result["draws"] + result["losses"]
    assert result["score"]["low"] <= result["score"]["estimate"] <= result["score"]["high"]
    assert stocked.client.post(f"/api/runs/{RUN}/evaluate", json={"against": "/etc"}).status_code == 404


def test_a_job_is_stopped(stocked):
    body = {"game": "tictactoe", "agents": ["mcts(2000)", "mcts(2000)"], "games": 1_000_000}
    job = stocked.post("/api/battles", body, 202)["job"]
    stocked.post(f"/api/jobs/{job}/stop")
    assert finished(stocked, job)["status"] == "stopped"
    assert job in {facts["job"] for facts in stocked.get("/api/jobs")}


def replay_of(actions):
    return replays.record("tictactoe", 7, ["person", "perfect"], actions)


def test_replays_are_listed_and_drawn(served):
    folder = served.out / "replays"
    folder.mkdir(parents=True)
    replays.save(folder / "tictactoe-0001.replay", replay_of([0, 4, 1, 8, 2]))
    (folder / "broken-0001.replay").write_bytes(b"{}")
    (folder / "link-0001.replay").symlink_to("/etc/passwd")
    listed = {one["name"]: one for one in served.get("/api/replays")}
    assert set(listed) == {"tictactoe-0001", "broken-0001"} and listed["broken-0001"]["ending"] == "damaged"
    facts = served.get("/api/replays/tictactoe-0001")
    assert (facts["steps"], facts["ending"], facts["returns"]) == (5, "over", [1.0, -1.0])
    assert len(facts["moves"]) == 5 and len(facts["frame"]) == 2 and facts["agents"] == ["person", "perfect"]
    data = served.client.get("/api/replays/tictactoe-0001/frames").content
    (count,), place = struct.unpack_from("<I", data), 4
    for _ in range(count):
        (length,) = struct.unpack_from("<I", data, place)
        assert data[place + 4] == 1, "a frame of shapes"
        place += 4 + length
    assert count == 6 and place == len(data)
    assert served.get("/api/replays/broken-0001", 400)["sentence"]
    assert served.client.delete("/api/replays/tictactoe-0001").json() == {"deleted": "tictactoe-0001"}
    assert [one["name"] for one in served.get("/api/replays")] == ["broken-0001"]


def test_a_room_is_opened_and_its_game_saved(served):
    room = served.post("/api/rooms", {"game": "tictactoe", "seats": ["random", "random"], "seed": 3}, 201)["room"]
    served.until(f"/api/rooms/{room}", lambda state: not state["thinking"])
    assert served.get(f"/api/rooms/{room}")["game"].startswith("tictactoe")
    assert served.client.get(f"/api/rooms/{room}/picture.png").content[:4] == b"\x89PNG"
    name = served.post(f"/api/rooms/{room}/replay")["replay"]
    assert name in {one["name"] for one in served.get("/api/replays")}
    for wrong in (
        {"game": "tictactoe", "seats": ["random"]},
        {"game": "chss", "seats": []},
        {"seats": []},
        {"game": "tictactoe", "seats": ["/etc", "random"]},
        {"game": "car", "seats": ["random"], "swarm": 10**9},
        {"game": "duel(deck1=yugy)", "seats": ["person", "random"]},
        {"game": f"duel(deck1={__file__})", "seats": ["person", "random"]},
    ):
        answer = served.client.post("/api/rooms", json=wrong)
        assert 400 <= answer.status_code < 500 and answer.json()["sentence"], wrong


class Viewer:
    """A listener, because a room plays only while it is watched."""

    def on_message(self, message):
        pass

    def on_frame(self, frame):
        pass


def test_a_game_becomes_a_demonstration_of_a_run(served):
    learner, other = (
        runs.prepare(config.resolve("car", algorithm), served.out) for algorithm in ("world_model", "ppo")
    )
    room = served.post("/api/rooms", {"game": "car", "seats": ["scripted"], "seed": 7}, 201)["room"]
    served.studio.rooms.get(room).attach(Viewer())
    served.until(f"/api/rooms/{room}", lambda state: state["move"] >= 5)
    name = served.post(f"/api/rooms/{room}/demonstration", {"run": learner.name})["demonstration"]
    replay = replays.load(learner / "demonstrations" / f"{name}{replays.SUFFIX}")
    assert replay.game == "car(track=7)" and len(replay.actions) >= 5
    assert (
        "cannot learn from demonstrations"
        in served.post(f"/api/rooms/{room}/demonstration", {"run": other.name}, 400)["sentence"]
    )


def test_every_route_answers_bad_names_with_a_message(stocked):
    paths = stocked.get("/api/openapi.json")["paths"]
    routes = [(path, method) for path, methods in paths.items() for method in methods if "{" in path]
    assert len(routes) > 20
    for path, method in routes:
        for name in BAD_NAMES:
            url = path.replace("{name}", name).replace("{game}", name).replace("{step}", name)
            answer = stocked.client.request(method, url, json={"games": 2} if method in ("post", "patch") else None)
            assert answer.status_code < 500, f"{method} {url}: {answer.text}"
            if answer.status_code >= 400:
                assert answer.json()["sentence"], f"{method} {url}"
    assert [run["name"] for run in stocked.get("/api/runs")] == [RUN]


def test_every_route_has_a_summary(served):
    for path, methods in served.get("/api/openapi.json")["paths"].items():
        for method, facts in methods.items():
            assert facts["summary"] and facts["summary"][0].isupper(), f"{method} {path}"


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "game"), ({"game": 5}, "game"), ({"game": "tictactoe", "values": {"steps": "x"}}, "steps"), ([], None),
     ({"game": "tictactoe", "algorithm": "magic"}, None), ({"game": "gymnasium:CartPole-v1"}, "game")],
)  # fmt: skip
def test_an_invalid_run_is_reported_at_its_field(served, body, field):
    answer = served.client.post("/api/runs", json=body)
    assert 400 <= answer.status_code < 500 and answer.json()["field"] == field and answer.json()["sentence"]
    assert not served.out.exists()


def test_an_internal_error_is_a_message_too(served, monkeypatch, caplog):
    monkeypatch.setattr(served.studio.shelf, "games", lambda: 1 / 0)
    answer = served.client.get("/api/games")
    assert answer.status_code == 500 and "ZeroDivisionError" not in answer.text and answer.json()["sentence"]
    assert "ZeroDivisionError" in caplog.text
    assert served.get("/api/studio"), "the server continues"
    assert (
        served.client.post("/api/runs", content=b"{", headers={"content-type": "application/json"})
        .json()["sentence"]
        .startswith("the body is not valid JSON")
    )


def test_static_files_are_compressed_and_cached(served):
    first = served.client.get("/static/main.js", headers={"accept-encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip" and first.headers["content-type"].startswith("text/javascript")
    again = served.client.get("/static/main.js", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304 and not again.content
    plain = served.client.get("/static/main.js", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers and plain.text == first.text
    assert served.client.get("/").headers["content-type"].startswith("text/html")
    assert served.client.get("/vendor/uplot/uPlot.iife.js").status_code == 200
    for path in (
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/nothing.js",
        "/vendor/uplot/plot.py",
        "/static/",
    ):
        assert served.client.get(path).status_code == 404
