"""Mutated requests: every answer is a valid answer, a documented error or a 422, and no duel is spoiled."""

import copy
import json

from conftest import IMPORTED, OWN, Player
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludus.server.reference.examples import MESSAGES

NUMBERS = st.one_of(
    st.integers(-3, 40), st.sampled_from([2**31, 2**32 - 1, 2**63 - 1, -(2**63), 2**63, 10**30, 0x80000000, 12580477])
)
VALUES = st.one_of(
    NUMBERS, st.booleans(), st.none(), st.floats(allow_nan=False), st.text(max_size=5), st.just([]), st.just({}),
    st.sampled_from(["me", "opponent", "deck", "szone", "facedown", "none", "activate", "to_ep", *MESSAGES]),
)  # fmt: skip


def places(value, path=()):
    """The paths to all values inside a JSON value."""
    found = [path] if path else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        found += places(part, (*path, key))
    return found


def parent(body, path):
    for key in path[:-1]:
        body = body[key]
    return body


@st.composite
def mutations(draw, body):
    """A request with up to three changes: a value replaced, removed, doubled or shuffled."""
    body = copy.deepcopy(body)
    for _ in range(draw(st.integers(1, 3))):
        paths = places(body)
        # Half of the changes concern the question, which is a small part of a request.
        asked = [path for path in paths if path[:2] == ("input", "action_msg")]
        path = draw(st.sampled_from(asked if asked and draw(st.booleans()) else paths))
        holder, key = parent(body, path), path[-1]
        match draw(st.sampled_from(["replace", "replace", "remove", "double", "shuffle"])):
            case "replace":
                holder[key] = draw(VALUES)
            case "remove":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case "shuffle" if isinstance(holder, list):
                holder.reverse()
    return body


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_requests_get_a_documented_answer(served, data):
    player = Player(served, data.draw(st.sampled_from([OWN, IMPORTED])))
    player.ask("select_card")
    good = player.request(data.draw(st.sampled_from(list(MESSAGES))))
    bad = data.draw(mutations(good))
    text = json.dumps(bad).encode()
    if data.draw(st.integers(0, 9)) == 0:
        text = text[: data.draw(st.integers(0, len(text)))]
    answer = served.send("POST", f"/v0/duels/{player.duel}/predict", content=text)
    assert answer.status_code in (200, 422)
    found = answer.json()
    if answer.status_code == 422:
        assert set(found) == {"detail"} and {"type", "loc", "msg", "input"} <= set(found["detail"][0])
    elif "error" in found:
        assert set(found) == {"error"} and found["error"]
    else:
        assert found["index"] == 2 and found["predict_results"]["action_preds"]
        return
    assert served.ask(player.duel, good)["index"] == 2, "an error must change nothing"
