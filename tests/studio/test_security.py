"""Strangers are refused: each kind of stranger, and always with a sentence."""

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from ludus.studio import Studio, security
from ludus.studio.app import web
from ludus.studio.security import Rules, Security

WS = "ws://localhost:8765/ws"
TOKEN = "a-token-of-some-length"


def client(tmp_path, rules=None, base="http://localhost:8765"):
    return TestClient(web(Studio(tmp_path), rules), base_url=base, follow_redirects=False)


async def greeter(scope, receive, send):
    """Says hello on a socket, and stays."""
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": '{"kind": "hello"}'})
    while (await receive())["type"] != "websocket.disconnect":
        pass


def sockets(rules=None):
    return TestClient(Security(greeter, rules or Rules()))


def refused(answer, status):
    assert answer.status_code == status
    assert answer.json()["sentence"] and answer.json()["field"] is None


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST:8765"])
def test_our_own_names_are_answered(tmp_path, host):
    assert client(tmp_path).get("/api/studio", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "192.168.0.7", "localhost@evil", "", "a b"]
)
def test_a_name_that_somebody_else_points_here_is_refused(tmp_path, host):
    refused(client(tmp_path).get("/api/studio", headers={"host": host}), 403)


def test_on_the_network_addresses_are_names_of_ours(tmp_path):
    open_to_all = client(tmp_path, Rules(host="0.0.0.0"))
    assert open_to_all.get("/api/studio", headers={"host": "192.168.0.7:8765"}).status_code == 200
    refused(open_to_all.get("/api/studio", headers={"host": "evil.example"}), 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:9000", "http://localhost"])
def test_pages_of_others_are_refused(tmp_path, origin):
    refused(client(tmp_path).post("/api/runs", json={}, headers={"origin": origin}), 403)
    refused(client(tmp_path).get("/start", headers={"origin": origin}), 403)


def test_our_own_page_is_not(tmp_path):
    headers = {"origin": "http://localhost:8765", "sec-fetch-site": "same-origin"}
    assert client(tmp_path).get("/api/studio", headers=headers).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/api/studio", "/start", "/static/main.js", "/video_feed"])
def test_a_picture_on_another_page_does_not_reach_us(tmp_path, site, path):
    refused(client(tmp_path).get(path, headers={"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}), 403)


def test_a_link_elsewhere_may_open_the_page_and_nothing_else(tmp_path):
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client(tmp_path).get("/", headers=followed).status_code == 200
    refused(client(tmp_path).get("/start", headers=followed), 403)
    refused(client(tmp_path).post("/", headers=followed), 403)


def test_the_socket_asks_the_same():
    with sockets().websocket_connect(WS, headers={"origin": "http://localhost:8765"}) as socket:
        assert socket.receive_json()["kind"] == "hello"
    for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}, {"sec-fetch-site": "cross-site"}):
        with pytest.raises(WebSocketDisconnect) as closed, sockets().websocket_connect(WS, headers=headers):
            pass
        assert closed.value.code == 1008


def test_without_the_token_nothing_is_told(tmp_path):
    asked = client(tmp_path, Rules(TOKEN, "0.0.0.0"))
    for path in ("/", "/api/studio", "/static/main.js", "/stats", "/?token=wrong", f"/api/studio?token={TOKEN}"):
        refused(asked.get(path), 401)
    refused(asked.get("/api/studio", headers={"authorization": "Bearer wrong"}), 401)
    refused(asked.get("/api/studio", headers={"cookie": "ludus_8765=wrong"}), 401)
    with pytest.raises(WebSocketDisconnect), sockets(Rules(TOKEN)).websocket_connect(WS):
        pass
    with sockets(Rules(TOKEN)).websocket_connect(WS, headers={"authorization": f"Bearer {TOKEN}"}) as socket:
        assert socket.receive_json()["kind"] == "hello"


def test_the_token_comes_in_the_address_once_and_then_in_a_cookie(tmp_path):
    asked = client(tmp_path, Rules(TOKEN, "0.0.0.0"))
    answer = asked.get(f"/?token={TOKEN}")
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and cookie.startswith("ludus_8765=")
    assert asked.get("/api/studio").status_code == 200, "the client keeps cookies"


def test_programs_bring_the_token_in_a_header(tmp_path):
    asked = client(tmp_path, Rules(TOKEN))
    assert asked.get("/api/studio", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_bodies_are_bounded_whatever_they_say_of_themselves(tmp_path):
    asked, much = client(tmp_path), b"x" * (security.LARGEST_BODY + 1)
    refused(asked.post("/api/runs", content=much), 413)
    refused(asked.post("/api/runs", content=iter([much[:40_000], much[40_000:]])), 413)
    refused(asked.post("/api/runs", content=b"", headers={"content-length": "99999999999999999999999"}), 413)
    refused(asked.post("/api/agents", content=b"", headers={"content-length": str(2**27)}), 413)


def test_an_upload_without_an_end_is_cut(tmp_path, monkeypatch):
    from ludus.studio.api import runs

    monkeypatch.setattr(runs, "LARGEST_AGENT", 100_000)
    answer = client(tmp_path).post("/api/agents", content=iter([b"x" * 60_000] * 5))
    refused(answer, 413)


def test_every_answer_tells_the_browser_to_be_careful(tmp_path):
    for path in ("/", "/api/studio", "/api/nothing", "/static/main.js"):
        headers = client(tmp_path).get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


def test_sockets_are_counted(monkeypatch):
    monkeypatch.setattr(security, "MOST_SOCKETS", 1)
    asked = sockets()
    with asked.websocket_connect(WS), pytest.raises(WebSocketDisconnect), asked.websocket_connect(WS):
        pass
    with asked.websocket_connect(WS) as again:
        assert again.receive_json()["kind"] == "hello", "a closed one makes room"
