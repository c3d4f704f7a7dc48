"""Training in the page: form errors, charts, control of runs, failures, export and import."""

import io
import json
import os
import re
import signal
import urllib.request
import zipfile

import rooms
from playwright.sync_api import expect


def start(page, studio, game, algorithm, **settings):
    """Fill in the form of a game and start; return the name of the run."""
    page.goto(f"{studio.url}/#/train/{game}")
    page.get_by_label("Algorithm").select_option(algorithm)
    page.wait_for_load_state("networkidle")  # the form is rebuilt for the algorithm
    expect(page.get_by_role("textbox", name="Steps", exact=True)).to_be_visible()
    for label, value in settings.items():
        page.get_by_role("textbox", name=label, exact=True).fill(value)
    page.get_by_role("button", name="Start training").click()
    page.wait_for_url(re.compile(r"#/run/"))
    return page.url.rpartition("/")[2]


def test_an_invalid_setting_is_reported_at_its_field(page, studio):
    page.goto(f"{studio.url}/#/train/car")
    steps = page.get_by_label("Steps", exact=True)
    steps.fill("-3")
    steps.blur()
    expect(steps).to_have_attribute("aria-invalid", "true")
    described = steps.get_attribute("aria-describedby").split()
    assert any("1 or more" in page.locator(f"#{name}").inner_text() for name in described)
    page.get_by_role("button", name="Start training").click()
    expect(page).to_have_url(re.compile(r"#/train/car"))


def test_the_car_learns_and_charts_update(page, studio):
    name = start(page, studio, "car", "ppo", Steps="1500000")
    studio.wait(f"/api/runs/{name}", lambda run: run["score"] is not None, "there is a first score", 300)
    first = studio.get(f"/api/runs/{name}")["steps"]
    page.locator(".uplot").first.wait_for()
    chart = page.get_by_role("img", name=re.compile("^Chart of Score"))
    drawn = chart.get_attribute("aria-label")
    studio.wait(f"/api/runs/{name}", lambda run: run["steps"] > first and run["score"] > 10, "it makes laps", 300)
    expect(chart).not_to_have_attribute("aria-label", drawn)
    room = rooms.go(page, studio, f"watch/car?agent=run:{name}")
    page.get_by_role("combobox", name="Speed").select_option("8")
    rooms.wait(studio, room, lambda now: re.search(r"lap [1-9]", now["words"]), "the car has lapped")


def test_pause_step_stop_and_resume(page, studio):
    name = start(page, studio, "tictactoe", "q_learning", Steps="2000000000")
    studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "training" and run["steps"] > 0, "it learns")
    page.get_by_role("button", name="Pause").click()
    paused = studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "paused", "it waits")
    page.get_by_role("button", name="One update").click()
    studio.wait(f"/api/runs/{name}", lambda run: run["steps"] > paused["steps"], "it made one update")
    page.get_by_role("button", name="Stop").click()
    studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "stopped", "it has stopped")
    page.get_by_role("button", name="Resume").click()
    studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "training", "it learns again")
    os.kill(json.loads((studio.out / name / "trainer.json").read_text())["pid"], signal.SIGKILL)
    expect(page.get_by_role("alert").filter(has_text="failed")).to_contain_text("killed")
    page.get_by_role("button", name="Resume").click()
    studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "training", "it continues after it was killed")
    page.get_by_role("button", name="Stop").click()
    studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "stopped", "it has stopped")


def test_a_damaged_checkpoint_is_reported(page, studio, open_page):
    name = start(page, studio, "tictactoe", "sarsa", Steps="3000000")
    studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "finished", "it is finished")
    for path in (studio.out / name / "checkpoints").rglob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-100])
    page.goto(f"{studio.url}/#/watch/tictactoe?agent=run:{name}")
    expect(page.get_by_text(re.compile("damaged|cut short|truncated|checkpoint", re.IGNORECASE)).first).to_be_visible()
    assert studio.get("/api/studio")["version"]
    open_page.errors_allowed = True  # the browser logs the refusal as an error of its own


def test_a_run_is_named_evaluated_and_its_metrics_downloaded(page, studio):
    name = start(page, studio, "tictactoe", "q_learning", Steps="1000000")
    studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "finished", "it is finished")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Title and tags").click()
    dialog.get_by_label("Title").fill("Second try")
    dialog.get_by_label("Tags").fill("baseline, quick")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Second try")
    expect(page.locator("main .tag")).to_have_text(["baseline", "quick"])
    page.get_by_role("button", name="Evaluate").click()
    dialog.get_by_role("button", name="Evaluate").click()
    page.get_by_text(re.compile(rf"{name} scores .* in 400 games", re.IGNORECASE)).wait_for()
    chart = page.get_by_role("img", name=re.compile("^Chart of Score"))
    over_steps = chart.get_attribute("aria-label")
    page.get_by_text("Use elsewhere").click()
    expect(page.get_by_text(re.compile(rf"^ludus serve \S*{name}$"))).to_be_visible()
    page.get_by_label("Over").select_option("time")
    expect(chart).not_to_have_attribute("aria-label", over_steps)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.path().read_text().startswith("step")


def test_runs_can_be_compared_and_deleted(page, studio, open_page):
    names = [start(page, studio, "tictactoe", "q_learning", Steps="1000000", Seed=seed) for seed in ("1", "2")]
    for name in names:
        studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "finished", "it is finished")
    page.goto(f"{studio.url}/#/runs")
    for name in names:
        page.get_by_role("checkbox", name=re.compile(name)).check()
    page.get_by_role("button", name=re.compile("Compare")).click()
    expect(page.get_by_role("rowheader", name="seed", exact=True)).to_be_visible()
    page.goto(f"{studio.url}/#/run/{names[1]}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Delete")).click()
    page.wait_for_url(re.compile(r"#/runs"))
    assert names[1] not in [run["name"] for run in studio.get("/api/runs")]
    open_page.errors_allowed = True  # a page may have requested the run while it was deleted


def test_an_agent_is_exported_and_imported_again(page, studio):
    name = start(page, studio, "tictactoe", "q_learning", Steps="1000000")
    run = studio.wait(f"/api/runs/{name}", lambda run: run["status"] == "finished", "it is finished")
    with page.expect_download() as download:
        # The page lists checkpoints that rotation has deleted until it hears of the newest.
        newest = max(run["checkpoints"], key=lambda point: point["steps"])["name"]
        page.locator(f"a[download][href$='checkpoint={newest}']").click()
    assert download.value.suggested_filename.startswith(name) and download.value.suggested_filename.endswith(".zip")
    page.goto(f"{studio.url}/#/runs")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import an agent").click()
    chooser.value.set_files(
        {"name": "agent.zip", "mimeType": "application/zip", "buffer": download.value.path().read_bytes()}
    )
    message = page.get_by_text(re.compile(r"^Imported as tictactoe-\d+\.$"))
    message.wait_for()
    again = re.search(r"tictactoe-\d+", message.inner_text())[0]
    page.get_by_role("link", name=again).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{again} finished")
    newest = max(run["checkpoints"], key=lambda one: one["steps"])
    assert again != name and agent_of(studio, again, "newest") == agent_of(studio, name, newest["name"])
    room = rooms.go(page, studio, f"play/tictactoe?agent=run:{again}")
    rooms.wait(studio, room, lambda now: now["waiting"], "the room waits for our move")


def agent_of(studio, run, checkpoint):
    """The files of an agent, byte for byte."""
    with urllib.request.urlopen(f"{studio.url}/api/runs/{run}/export?checkpoint={checkpoint}") as answer:
        packed = zipfile.ZipFile(io.BytesIO(answer.read()))
    return {name.partition("/")[2]: packed.read(name) for name in packed.namelist()}
