"""Access control: requests of other sites and without the token are rejected with a message."""

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from ludus.server.access import Rules
from ludus.studio import Studio, security
from ludus.studio.app import web
from ludus.studio.security import Security

WS = "ws://localhost:8765/ws"
TOKEN = "a-token-of-some-length"


def client(tmp_path, rules=None, base="http://localhost:8765"):
    return TestClient(web(Studio(tmp_path), rules), base_url=base, follow_redirects=False)


async def greeter(scope, receive, send):
    """An application that sends one message on a WebSocket and keeps it open."""
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
def test_names_of_this_machine_are_accepted(tmp_path, host):
    assert client(tmp_path).get("/api/studio", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "192.168.0.7", "localhost@evil", "", "a b"]
)
def test_foreign_host_names_are_rejected(tmp_path, host):
    refused(client(tmp_path).get("/api/studio", headers={"host": host}), 403)


def test_on_the_network_ip_addresses_are_accepted(tmp_path):
    open_to_all = client(tmp_path, Rules(host="0.0.0.0"))
    assert open_to_all.get("/api/studio", headers={"host": "192.168.0.7:8765"}).status_code == 200
    refused(open_to_all.get("/api/studio", headers={"host": "evil.example"}), 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:9000", "http://localhost"])
def test_foreign_origins_are_rejected(tmp_path, origin):
    refused(client(tmp_path).post("/api/runs", json={}, headers={"origin": origin}), 403)
    refused(client(tmp_path).get("/start", headers={"origin": origin}), 403)


def test_the_own_origin_is_accepted(tmp_path):
    headers = {"origin": "http://localhost:8765", "sec-fetch-site": "same-origin"}
    assert client(tmp_path).get("/api/studio", headers=headers).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("path", ["/api/studio", "/start", "/static/main.js", "/video_feed"])
def test_resources_embedded_in_other_sites_are_rejected(tmp_path, site, path):
    refused(client(tmp_path).get(path, headers={"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}), 403)


def test_a_link_on_another_site_may_open_only_the_page(tmp_path):
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client(tmp_path).get("/", headers=followed).status_code == 200
    refused(client(tmp_path).get("/start", headers=followed), 403)
    refused(client(tmp_path).post("/", headers=followed), 403)


def test_the_socket_has_the_same_checks():
    with sockets().websocket_connect(WS, headers={"origin": "http://localhost:8765"}) as socket:
        assert socket.receive_json()["kind"] == "hello"
    for headers in ({"origin": "http://evil.example"}, {"host": "evil.example"}, {"sec-fetch-site": "cross-site"}):
        with pytest.raises(WebSocketDisconnect) as closed, sockets().websocket_connect(WS, headers=headers):
            pass
        assert closed.value.code == 1008


def test_every_request_needs_the_token(tmp_path):
    http = client(tmp_path, Rules(TOKEN, "0.0.0.0"))
    for path in ("/", "/api/studio", "/static/main.js", "/stats", "/?token=wrong", f"/api/studio?token={TOKEN}"):
        refused(http.get(path), 401)
    refused(http.get("/api/studio", headers={"authorization": "Bearer wrong"}), 401)
    refused(http.get("/api/studio", headers={"cookie": "ludus_8765=wrong"}), 401)
    with pytest.raises(WebSocketDisconnect), sockets(Rules(TOKEN)).websocket_connect(WS):
        pass
    with sockets(Rules(TOKEN)).websocket_connect(WS, headers={"authorization": f"Bearer {TOKEN}"}) as socket:
        assert socket.receive_json()["kind"] == "hello"


def test_the_token_in_the_address_becomes_a_cookie(tmp_path):
    http = client(tmp_path, Rules(TOKEN, "0.0.0.0"))
    answer = http.get(f"/?token={TOKEN}")
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and cookie.startswith("ludus_8765=")
    assert http.get("/api/studio").status_code == 200, "the client keeps cookies"


def test_the_token_in_a_header_is_accepted(tmp_path):
    http = client(tmp_path, Rules(TOKEN))
    assert http.get("/api/studio", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_large_bodies_are_rejected_with_and_without_content_length(tmp_path):
    http, much = client(tmp_path), b"x" * (security.LARGEST_BODY + 1)
    refused(http.post("/api/runs", content=much), 413)
    refused(http.post("/api/runs", content=iter([much[:40_000], much[40_000:]])), 413)
    refused(http.post("/api/runs", content=b"", headers={"content-length": "99999999999999999999999"}), 413)
    refused(http.post("/api/agents", content=b"", headers={"content-length": str(2**27)}), 413)


def test_a_large_upload_is_rejected(tmp_path, monkeypatch):
    from ludus.studio.api import runs

    monkeypatch.setattr(runs, "LARGEST_AGENT", 100_000)
    answer = client(tmp_path).post("/api/agents", content=iter([b"x" * 60_000] * 5))
    refused(answer, 413)


def test_every_response_has_security_headers(tmp_path):
    for path in ("/", "/api/studio", "/api/nothing", "/static/main.js"):
        headers = client(tmp_path).get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


def test_the_number_of_sockets_is_limited(monkeypatch):
    monkeypatch.setattr(security, "MOST_SOCKETS", 1)
    http = sockets()
    with http.websocket_connect(WS), pytest.raises(WebSocketDisconnect), http.websocket_connect(WS):
        pass
    with http.websocket_connect(WS) as again:
        assert again.receive_json()["kind"] == "hello", "a closed socket no longer counts"
