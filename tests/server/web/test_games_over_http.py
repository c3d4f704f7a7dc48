"""Game sessions over HTTP: whole games, retries, hidden information, simultaneous and continuous games."""

import io

import pytest
from PIL import Image

from ludus.evaluation import replays


def moves(server, game, status=200, key=None, **body):
    return server.post(f"/v1/games/{game}/moves", body, status, headers={"x-seat-key": key} if key else {})


def play(server, opened, seat=0, choose=lambda state: state["legal"][0]["action"]):
    """Play a game to its end; the states after each move."""
    state, key = opened["state"], opened["keys"][str(seat)]
    while not state["over"]:
        state = moves(server, opened["id"], key=key, move=state["move"], seat=seat, action=choose(state))
        yield state


def test_a_whole_game_of_connect4_by_names(server, tmp_path, problem):
    opened = server.game("connect4", ["person", "random"], seed=5)
    game, state = opened["id"], opened["state"]
    assert state["turn"] == [0] and not state["hidden"] and "a b c d e f g" in state["text"]
    assert state["legal"][3] == {"action": 3, "name": "d"}
    while not state["over"]:
        state = moves(server, game, move=state["move"], name=state["legal"][len(state["legal"]) // 2]["name"])
        assert {one["seat"] for one in state["last"]} <= {0, 1}
    assert state["result"] == "over" and state["turn"] == [] and sum(state["scores"]) == 0
    problem(server.http.post(f"/v1/games/{game}/moves", json={"move": state["move"], "action": 0}), 409, "game_over")
    file = tmp_path / "game.replay"
    file.write_bytes(server.http.get(f"/v1/games/{game}/replay").content)
    replay = replays.load(file)
    replays.verify(replay)
    assert replay.agents == ("person", "random") and list(replay.returns) == state["scores"]
    assert server.http.delete(f"/v1/games/{game}").status_code == 204
    problem(server.http.get(f"/v1/games/{game}"), 404, "game_not_found")


def test_a_served_model_and_a_search_play(server):
    for agent in ("best", "search", "perfect"):
        opened = server.game("tictactoe", [agent, "person"], seed=2)
        assert opened["state"]["move"] == 1, "the agent has begun"
        *_, last = play(server, opened, seat=1)
        assert last["over"]
        if agent != "search":
            assert last["scores"][0] >= 0, "a perfect player does not lose"


def test_a_repeated_move_changes_nothing_and_an_old_one_is_refused(server, problem):
    opened = server.game("tictactoe", ["person", "random"])
    game = opened["id"]
    path = f"/v1/games/{game}/moves"
    first = moves(server, game, move=0, action=4)
    assert first["move"] == 2
    assert moves(server, game, move=0, action=4) == first
    name = next(one["name"] for one in opened["state"]["legal"] if one["action"] == 4)
    assert moves(server, game, move=0, name=name) == first
    found = problem(server.http.post(path, json={"move": 0, "action": 3}), 409, "move_mismatch")
    assert found["expected"] == 2
    problem(server.http.post(path, json={"move": 9, "action": 3}), 409, "move_mismatch")
    problem(server.http.post(path, json={"move": 2, "action": 4}), 422, "illegal_move")
    problem(server.http.post(path, json={"move": 2, "name": "z9"}), 422, "illegal_move")
    problem(server.http.post(path, json={"move": 2}), 422, "invalid")
    problem(server.http.post(path, json={"move": 2, "action": [0.5]}), 422, "illegal_move")
    problem(server.http.post(path, json={"move": 2, "seat": 1, "action": 0}), 403, "not_your_seat")
    problem(server.http.post(path, json={"move": 2, "seat": 7, "action": 0}), 422, "invalid")
    assert server.get(f"/v1/games/{game}") == first


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"game": "chss", "seats": ["person"]}, 404, "game_not_found"),
        ({"game": "gymnasium:CartPole-v1", "seats": ["person"]}, 404, "game_not_found"),
        ({"game": "../../etc/passwd", "seats": ["person"]}, 422, "invalid"),
        ({"game": "duel(deck1=/etc/hostname)", "seats": ["person", "random"]}, 422, "invalid"),
        ({"game": "connect4", "seats": ["person"]}, 422, "invalid"),
        ({"game": "connect4", "seats": ["random", "random"]}, 422, "invalid"),
        ({"game": "connect4", "seats": ["person", "runs/connect4-0001"]}, 422, "unknown_agent"),
        ({"game": "connect4", "seats": ["person", "/etc/passwd"]}, 422, "unknown_agent"),
        ({"game": "connect4", "seats": ["person", "lookahead(/etc/passwd)"]}, 422, "unknown_agent"),
        ({"game": "connect4", "seats": ["person", "mcts(99999)"]}, 422, "unknown_agent"),
        ({"game": "connect4", "seats": ["person", "expert"]}, 422, "unknown_agent"),
        ({"game": "connect4", "seats": ["person", "pole"]}, 422, "unknown_agent"),
        ({"game": "connect4", "seats": "person"}, 422, "invalid"),
        ({"game": "connect4", "seats": ["person", "random"], "seed": -1}, 422, "invalid"),
    ],
)
def test_bad_games_are_problems(server, problem, body, status, code):
    problem(server.http.post("/v1/games", json=body), status, code)


def test_the_ids_of_games_and_sessions_are_not_mixed(server, problem):
    game, session = server.game("tictactoe", ["person", "random"])["id"], server.session()
    problem(server.http.delete(f"/v1/sessions/{game}"), 404, "session_not_found")
    problem(server.http.get(f"/v1/games/{session}"), 404, "game_not_found")
    problem(server.http.get("/v1/games/game.%2e%2e"), 404, "game_not_found")
    assert server.get(f"/v1/games/{game}")["move"] == 0


def test_pictures(server, problem):
    game = server.game("tictactoe", ["person", "random"])["id"]
    vector = server.http.get(f"/v1/games/{game}/picture.svg")
    assert vector.headers["content-type"] == "image/svg+xml" and vector.text.startswith("<svg")
    pixels = server.http.get(f"/v1/games/{game}/picture.png?seat=0")
    assert Image.open(io.BytesIO(pixels.content)).size[0] > 100
    problem(server.http.get(f"/v1/games/{game}/picture.gif"), 404, "not_found")
    problem(server.http.get(f"/v1/games/{game}/picture.png?seat=99"), 422, "invalid")


def test_two_persons_bid_in_secret(server, problem):
    """Goofspiel: both choose at once, and nobody sees the other's bid or the prizes to come."""
    opened = server.game("goofspiel", ["person", "person"], seed=3)
    game, keys = opened["id"], opened["keys"]
    assert opened["state"]["hidden"] and opened["state"]["turn"] == [0, 1]
    public = server.get(f"/v1/games/{game}")
    assert public["seat"] is None and public["observation"] is None and public["text"] is None and not public["legal"]
    for key in (None, keys["1"], "wrong"):
        headers = {"x-seat-key": key} if key else {}
        for path in (f"/v1/games/{game}?seat=0", f"/v1/games/{game}/picture.png?seat=0"):
            problem(server.http.get(path, headers=headers), 403, "key_required")
        bid = server.http.post(f"/v1/games/{game}/moves", json={"move": 0, "seat": 0, "action": 1}, headers=headers)
        problem(bid, 403, "key_required")
    problem(server.http.get(f"/v1/games/{game}/picture.png"), 403, "key_required")
    problem(server.http.get(f"/v1/games/{game}/replay"), 409, "game_not_over")
    problem(server.http.delete(f"/v1/games/{game}"), 403, "key_required")
    waiting = moves(server, game, key=keys["0"], move=0, seat=0, action=12)
    assert waiting["move"] == 0 and waiting["turn"] == [1] and not waiting["last"] and not waiting["legal"]
    assert moves(server, game, key=keys["0"], move=0, seat=0, action=12) == waiting, "a repeated bid"
    other = server.get(f"/v1/games/{game}?seat=1", headers={"x-seat-key": keys["1"]})
    assert other["observation"]["cards"][1] == [1] * 13, "the bid is not shown before both have chosen"
    done = moves(server, game, move=0, seat=1, action=0, key=keys["1"])
    assert done["move"] == 1 and [one["name"] for one in done["last"]] == ["bid 13", "bid 1"]
    assert moves(server, game, key=keys["0"], move=0, seat=0, action=12)["move"] == 1
    assert server.http.delete(f"/v1/games/{game}", headers={"x-seat-key": keys["1"]}).status_code == 204


def test_balatro_shows_its_player_the_hand_and_nobody_the_deck(server, problem):
    opened = server.game("balatro", ["person"], seed=3)
    key = opened["keys"]["0"]
    state = moves(server, opened["id"], key=key, move=0, action=opened["state"]["legal"][0]["action"])
    assert "hand:" in state["text"] and len(state["legal"]) > 10
    assert moves(server, opened["id"], key=key, move=0, action=opened["state"]["legal"][0]["action"]) == state
    problem(server.http.get(f"/v1/games/{opened['id']}/replay"), 409, "game_not_over")
    assert server.get(f"/v1/games/{opened['id']}")["text"] is None


def test_a_continuous_game(server, problem):
    opened = server.game("car", ["person"])
    state = opened["state"]
    assert state["low"] and len(state["low"]) == len(state["high"]) and not state["legal"]
    for _ in range(3):
        state = moves(server, opened["id"], move=state["move"], action=[0.25, 1.0])
    assert state["move"] == 3 and state["scores"][0] != 0
    assert moves(server, opened["id"], move=2, action=[0.25, 1.0]) == state
    path = f"/v1/games/{opened['id']}/moves"
    for bad in ([0.25], [9.0, 0.0], 1, [0.0, 0.0, 0.0]):
        problem(server.http.post(path, json={"move": 3, "action": bad}), 422, "illegal_move")
    problem(server.http.post(path, json={"move": 3, "name": "left"}), 422, "illegal_move")
    problem(server.http.get(f"/v1/games/{opened['id']}/replay"), 409, "game_not_over")


def test_the_same_seed_gives_the_same_game(server):
    one, other = (list(play(server, server.game("tictactoe", ["person", "random"], seed=9))) for _ in range(2))
    assert [state["text"] for state in one] == [state["text"] for state in other]
