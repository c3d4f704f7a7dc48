# `make studio` opens the studio, `make test` runs the tests; both set up .venv first if needed.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/ready
PLAYER := .venv/studio-ready

.PHONY: setup real-core studio demo train test test-quick check format pictures screenshots docs wheel bench bench-quick bench-peers soak clean

setup: $(STAMP)

$(PLAYER): pyproject.toml constraints.txt
	@echo "setting up .venv for the studio (about a minute) …"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[studio]'
	@touch $(PLAYER)

$(STAMP): $(PLAYER)
	@echo "adding the tools of developers to .venv (about a minute) …"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,outsiders]'
	@# It asks for an old xdsl, which it does not need here (docs/export.md).
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps litert-converter
	@touch $(STAMP)

real-core:  ## the real duel engine for the tests: npm's ocgcore-wasm, in .npm
	npm install --prefix .npm --no-save --no-package-lock --no-audit --no-fund --loglevel=error ocgcore-wasm@0.1.2

studio: $(PLAYER)  ## open the studio in the browser
	$(BIN)/ludus studio

demo: $(PLAYER)  ## play every game and write a picture of each to demo/
	$(BIN)/ludus demo --out demo

train: $(PLAYER)  ## train a tic-tac-toe player and prove that it never loses
	$(BIN)/ludus train tictactoe
	$(BIN)/ludus evaluate "$$(ls -d runs/tictactoe-* | tail -1)" --lines

test: setup  ## all tests
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

test-quick: setup  ## the faster half of the tests, without browsers, other processes and learning
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --quick

check: setup  ## style, types and the shape of the tree
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

pictures: setup  ## the pictures of the README
	$(BIN)/ludus demo --out docs/pictures --scale 0.5 --gallery ludus/studio/static/pictures
	cd docs/pictures && ../../$(BIN)/python ../tutorials/tictactoe.py

screenshots: setup  ## every page of the studio, for its documentation
	$(BIN)/python docs/screenshots.py

docs: setup  ## the documentation as a site, in site/; open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

wheel:  ## build the wheel and run the commands of the README with it in an empty environment
	$(PYTHON) .ci/wheel.py

bench: setup  ## measure on this machine and replace the committed results
	$(BIN)/ludus bench pool --json > benchmarks/results/pool.json.part
	$(BIN)/ludus bench startup --json > benchmarks/results/startup.json.part
	$(BIN)/ludus bench gymnasium --json > benchmarks/results/gymnasium.json.part
	$(BIN)/ludus bench perfect --json > benchmarks/results/perfect.json.part
	$(BIN)/ludus bench tabular --json > benchmarks/results/tabular.json.part
	$(BIN)/ludus bench quick --json > benchmarks/results/quick.json.part
	$(BIN)/ludus bench train --json > benchmarks/results/train.json.part
	$(BIN)/ludus bench export --json > benchmarks/results/export.json.part
	$(BIN)/ludus bench serve --json > benchmarks/results/serve.json.part
	$(BIN)/ludus bench mcp --json > benchmarks/results/mcp.json.part
	$(BIN)/ludus bench ray --json > benchmarks/results/ray.json.part
	$(BIN)/ludus bench balatro --json > benchmarks/results/rllib_balatro.json.part
	$(BIN)/ludus bench balatrobot --json > benchmarks/results/balatrobot.json.part
	cd benchmarks/results && for suite in pool startup gymnasium perfect tabular train export serve mcp ray rllib_balatro balatrobot quick; do mv $$suite.json.part $$suite.json; done

bench-quick: setup  ## half a minute: fails if a speed is less than half of the committed results, by a reference loop
	$(BIN)/ludus bench quick --rounds 1 --compare benchmarks/results/quick.json --threshold 0.5

bench-peers:  ## measure Ludus and other libraries, in a separate environment
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --upgrade pip
	.venv-peers/bin/python -m pip install --quiet --constraint constraints.txt --constraint benchmarks/constraints.txt --editable '.[gymnasium]' -r benchmarks/requirements.txt
	.venv-peers/bin/python benchmarks/peers.py
	.venv-peers/bin/python benchmarks/chart.py
	.venv-peers/bin/python benchmarks/peers_train.py

soak: setup real-core  ## long tests: all runtimes with processes killed at random; Balatro and duels with bounds checks; duels beside the real core
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python benchmarks/soak.py --seconds 120
	$(BIN)/python benchmarks/soak_balatro.py
	$(BIN)/python benchmarks/soak_duel.py
	$(BIN)/ludus duel compare --decisions 1000000 --workers 2

clean:
	rm -rf .venv .venv-peers demo
