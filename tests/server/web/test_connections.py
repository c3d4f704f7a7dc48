"""Connections that send endless or incomplete requests are closed."""

import asyncio
import socket
import threading

import pytest
import uvicorn

from ludus.server import connections


async def reader(scope, receive, send):
    """An application that reads the body and answers."""
    if scope["type"] == "lifespan":
        return
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.request":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"OK"})


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(connections, "SLOWEST", 0.1)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        reader, http=connections.BoundedProtocol, log_config=None, lifespan="off", timeout_keep_alive=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nhost: a",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc",
        b"GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HT",
    ],
)
def test_an_incomplete_request_is_closed(address, sent):
    with socket.create_connection(address, 60) as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: connection.recv(4096), b""))
    assert received.count(b"200 OK") == sent.count(b"\r\n\r\nGET")


def test_the_timer_of_a_connection_ends_with_its_upgrade_to_a_websocket(monkeypatch):
    ended = []
    monkeypatch.setattr(connections.HttpToolsProtocol, "handle_websocket_upgrade", lambda self: ended.append(self))
    protocol = connections.BoundedProtocol.__new__(connections.BoundedProtocol)
    loop = asyncio.new_event_loop()
    protocol._timer = loop.call_later(60, ended.clear)
    protocol.handle_websocket_upgrade()
    assert ended == [protocol] and protocol._timer.cancelled()
    loop.close()


def test_an_endless_head_is_closed(address):
    with socket.create_connection(address, 60) as connection:
        head = b"GET / HTTP/1.1\r\n" + b"".join(b"x: %d\r\n" % number for number in range(100_000))
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(100 * head)


def test_a_head_and_a_body_arrive_together(address):
    with socket.create_connection(address, 60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        received = b"".join(iter(lambda: connection.recv(4096), b""))
    assert received.endswith(b"\r\n\r\nOK")
