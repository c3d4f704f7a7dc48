"""The wheel in an empty environment, outside the checkout: the `ludus` commands of the README, and the studio's page.

Long commands get the flags in SHORTER; every other `ludus` line in a code block of the README runs as it is written, so
a line that is added there is checked here. Usage: python .ci/wheel.py [--uv]
"""

import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
SHORTER = (
    ("ludus train car --algorithm world_model", "--steps 600 --evaluations 0 --eval-games 2"),
    ("ludus train car", "--steps 70000 --evaluations 0 --eval-games 2"),
    ("ludus train connect4", "--steps 140000 --evaluations 0 --eval-games 2"),
    ("ludus battle", "--games 20"),
)
"""flags for commands that would run for minutes; the first match counts"""
EXTRAS = {"gymnasium:": "ludus[gymnasium]", "--runtime ray": "ludus[ray]", "rllib_ppo": "ludus[rllib]"}
"""commands with these words need another extra, which their error message must name"""
NEEDS_SERVER = "ludus battle http"
"""begins a command that tests/agents/test_remote.py runs, because it needs a server"""
ABSENT = ("torch", "stable_baselines3", "pytest", "mypy", "gymnasium")
ADDUP = ("ludus check addup", "ludus play addup", "ludus train addup --steps 20000", "ludus check hex")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ludus-wheel-") as folder:
        place = pathlib.Path(folder)
        binaries = installed(place, build(place), "--uv" in sys.argv[1:])
        work = place / "work"
        (work / "ludus_games").mkdir(parents=True)
        (work / "ludus_games" / "addup.py").write_text(game_of_readme())
        environment = {
            name: value
            for name, value in os.environ.items()
            if name == "LUDUS_CACHE" or not name.startswith(("LUDUS_", "PYTHON"))
        }
        environment["PATH"] = f"{binaries}{os.pathsep}{environment['PATH']}"
        check_packages(binaries, work, environment)
        for command in (*commands_of_readme(), *ADDUP):
            check = check_server if command.startswith("ludus serve") else check_command
            check(command, work, environment)
        check_studio(work, environment)


def build(place: pathlib.Path) -> pathlib.Path:
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, ROOT])
    (wheel,) = place.glob("ludus-*.whl")
    return wheel


def installed(place: pathlib.Path, wheel: pathlib.Path, uv: bool) -> pathlib.Path:
    """The folder of programs of a new environment with the wheel."""
    what = ["--constraint", ROOT / "constraints.txt", f"{wheel}[studio,server]"]
    if uv:
        run(["uv", "venv", "--quiet", place / "env"])
        run(["uv", "pip", "install", "--quiet", "--python", place / "env", *what])
    else:
        run([sys.executable, "-m", "venv", place / "env"])
        run([place / "env" / "bin" / "python", "-m", "pip", "install", "--quiet", *what])
    return place / "env" / "bin"


def run(command: list[object]) -> None:
    subprocess.run([str(word) for word in command], check=True)


def game_of_readme() -> str:
    return next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "SPEC" in block)


def commands_of_readme() -> list[str]:
    """All lines of code blocks that call `ludus` itself; `make` and `mpiexec` need more than the wheel."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    found = [
        line.split(" #")[0].strip() for block in blocks for line in block.splitlines() if line.startswith("ludus ")
    ]
    if len(found) < 10:
        raise SystemExit(f"expected at least 10 commands in the README, found {len(found)}")
    return [command for command in found if not command.startswith(NEEDS_SERVER)]


def check_packages(binaries: pathlib.Path, work: pathlib.Path, environment: dict[str, str]) -> None:
    """The package comes from the wheel, and nothing is installed that the studio does not need."""
    code = f"import importlib.util, ludus; print(ludus.__file__, [n for n in {ABSENT} if importlib.util.find_spec(n)])"
    command = [str(binaries / "python"), "-c", code]
    where, extra = subprocess.check_output(command, text=True, cwd=work, env=environment).split(maxsplit=1)
    if not where.startswith(str(binaries.parent)) or extra.strip() != "[]":
        raise SystemExit(f"expected ludus in {binaries.parent} without development tools, found {where} and {extra}")


def check_command(command: str, work: pathlib.Path, environment: dict[str, str]) -> None:
    flags = next((more for start, more in SHORTER if command.startswith(start)), "")
    extra = next((name for word, name in EXTRAS.items() if word in command), None)
    begun = time.perf_counter()
    words = shlex.split(f"{command} {flags}")
    done = subprocess.run(words, input="quit\n", capture_output=True, text=True, cwd=work, env=environment)
    print(f"{time.perf_counter() - begun:6.1f} s  {shlex.join(words)}", flush=True)
    refused = done.returncode == 2 and extra is not None and extra in done.stderr
    if "Traceback" in done.stderr or not (refused if extra else done.returncode == 0):
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")


def check_server(command: str, work: pathlib.Path, environment: dict[str, str]) -> None:
    """The server becomes ready and ends when it is asked to."""
    begun, words = time.perf_counter(), shlex.split(f"{command} --port 0 --json")
    server = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=work, env=environment)
    try:
        assert server.stdout
        address = json.loads(server.stdout.readline())["server"]
        while "not_ready" in fetched(f"{address}/v1/models", server):
            time.sleep(0.2)
        print(f"{time.perf_counter() - begun:6.1f} s  {shlex.join(words)}", flush=True)
    finally:
        server.terminate()
        if (code := server.wait(30)) not in (0, -signal.SIGTERM):
            raise SystemExit(f"{command} ended with {code}")


def check_studio(work: pathlib.Path, environment: dict[str, str]) -> None:
    """The page and everything it links to are served."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        ["ludus", "studio", "--port", str(port), "--no-open", "--no-warmup"], cwd=work, env=environment
    )
    try:
        page = fetched(f"http://127.0.0.1:{port}/", server)
        assets = [name for name in re.findall(r'(?:src|href)="([^"#]+)"', page) if "://" not in name]
        if "<title>" not in page or not assets:
            raise SystemExit(f"the studio serves no page with assets: {page[:200]}")
        for name in assets:
            if not fetched(f"http://127.0.0.1:{port}/{name.lstrip('/')}", server):
                raise SystemExit(f"the studio serves an empty {name}")
        print(f"the studio serves its page and {', '.join(assets)}", flush=True)
    finally:
        server.terminate()
        server.wait(30)


def fetched(url: str, server: subprocess.Popen[bytes]) -> str:
    """The answer, as soon as the server accepts connections."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except urllib.error.URLError as error:
            waiting = isinstance(error.reason, ConnectionRefusedError) and server.poll() is None
            if not waiting or time.monotonic() > deadline:
                raise SystemExit(f"the studio does not answer at {url}: {error}") from None
            time.sleep(0.2)


if __name__ == "__main__":
    main()
