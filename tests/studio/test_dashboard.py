"""The dashboard: plain addresses to watch, control and train one game."""

import asyncio
import io

import pytest
from PIL import Image

from ludus.studio import dashboard as dashboards
from ludus.studio.dashboard import Dashboard, action_of


@pytest.fixture
def opened(served):
    """A studio whose game is open."""
    served.get("/stats")
    room = next(iter(served.studio.rooms._open.values()))
    served.until(f"/api/rooms/{room.id}", lambda state: not state["thinking"] or state["move"] > 0)
    return served


def test_control_is_taken_and_given_back(opened):
    assert opened.get("/stats")["manual_control"] is False
    assert opened.get("/control?steering=0.5&throttle=1", 400)["sentence"].startswith("the agent has control")
    assert opened.get("/toggle_control") == {"manual_control": True}
    assert opened.get("/control?steering=0.5&throttle=1") == {"action": [0.5, 1.0]}
    assert opened.post("/control", {"action": [-1, 0]}) == {"action": [-1.0, 0.0]}
    assert opened.post("/control", {"steering": 1}) == {"action": [1.0, 0.0]}
    assert opened.get("/stats")["manual_control"] is True
    assert opened.post("/toggle_control") == {"manual_control": False}


@pytest.mark.parametrize("query", ["steering=x", "steering=2", "throttle=nan", "steering=1&throttle=inf"])
def test_the_action_is_checked(opened, query):
    assert opened.get(f"/control?{query}", 422)["field"] == "action"
    assert opened.client.post("/control", content=b"{").status_code == 422


def test_an_action_is_read_as_a_list_and_by_the_names_of_the_controls():
    controls = [{"name": name, "low": -1.0, "neutral": 0.0, "high": 1.0} for name in ("steering", "throttle")]
    assert action_of({"action": [0.25, "1"]}, controls) == [0.25, 1.0]
    assert action_of({"throttle": 0.5}, controls) == [0.0, 0.5] and action_of({}, controls) == [0.0, 0.0]


def test_stats_have_all_fields(opened):
    stats = opened.get("/stats")
    assert {
        "episode_rewards",
        "training_losses",
        "exploration_rate",
        "running",
        "manual_control",
        "best_progress",
    } <= set(stats)
    assert stats["running"] is False and stats["training_losses"] == [] and stats["run"] is None
    assert opened.get("/reset") == {"status": "reset"}
    assert opened.get("/list_models") == {"models": []}
    assert opened.get("/save_model", 409)["sentence"]
    for file in ("model_ep50.pkl", "../x", "", "car-0001@000120"):
        assert opened.get(f"/load_model?file={file}", 404)["sentence"]
    assert opened.get("/load_model", 422)["field"] == "file"


def test_all_viewers_share_pictures_which_are_drawn_only_for_viewers(served, monkeypatch):
    async def scenario():
        dashboard, drawn = Dashboard(served.studio), []
        draw = dashboard.jpeg
        monkeypatch.setattr(dashboard, "jpeg", lambda: drawn.append(1) or draw())
        one, other = await dashboard.video(), await dashboard.video()
        first = asyncio.gather(anext(one), anext(other))
        parts = await first
        assert parts[0] == parts[1] and parts[0].startswith(b"--frame\r\nContent-Type: image/jpeg\r\n")
        picture = Image.open(io.BytesIO(parts[0].partition(b"\r\n\r\n")[2]))
        assert picture.format == "JPEG" and picture.width == dashboards.WIDTH
        await one.aclose()
        assert await anext(other)
        await other.aclose()
        await dashboard.task
        assert dashboard.viewers == 0 and not dashboard.room.watched
        count = len(drawn)
        await asyncio.sleep(0.3)
        assert len(drawn) == count, "nothing is drawn without viewers"

    asyncio.run(scenario())


def test_it_is_trained_by_a_world_model_and_stopped(served):
    started = served.get("/start")
    assert started["status"] == "started" and started["run"] == "car-0001"
    run = served.until("/api/runs/car-0001", lambda run: run["steps"] > 0 or run["status"] == "failed")
    assert run["status"] == "training" and run["algorithm"] == "world_model", run["sentence"]
    assert served.get("/start")["run"] == "car-0001", "the same run continues"
    served.until("/stats", lambda stats: stats["running"] and stats["steps"] > 0)
    assert served.get("/save_model")["status"] == "saving"
    served.until("/list_models", lambda found: found["models"])
    assert served.post("/stop") == {"status": "stopped"}
    served.until("/api/runs/car-0001", lambda run: run["status"] == "stopped")
    assert served.get("/stats")["running"] is False
    model = served.get("/list_models")["models"][-1]
    assert served.get("/save_model")["file"] == model
    assert served.get(f"/load_model?file={model}") == {"status": "loaded", "file": model}
    room = next(iter(served.studio.rooms._open.values()))
    served.until(f"/api/rooms/{room.id}", lambda state: state["seats"] == [f"run:{model}"])
