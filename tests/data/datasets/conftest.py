"""A web server on this machine that serves files, and misbehaves on request."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Server:
    """Serves `files` (path to bytes). Each request for a path takes the next of its `faults`, if there is one.

    Faults: an int is an HTTP status; "cut" sends half and closes; "stall" sends half and then nothing; "slow" sends in
    small pieces; "wrong" flips a byte; "shift" answers a range with one that starts elsewhere.
    """

    def __init__(self):
        self.files, self.faults, self.requests = {}, defaultdict(list), []
        self.ranges, self.tag = True, '"v1"'
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def add(self, path, content):
        """Serve ``content``; returns (address, SHA-256)."""
        self.files[path] = content
        return self.url + path, hashlib.sha256(content).hexdigest()

    def answer(self, request):
        path, wanted = request.path, request.headers.get("Range")
        self.requests.append((path, wanted))
        fault = self.faults[path].pop(0) if self.faults[path] else None
        if isinstance(fault, int) or path not in self.files:
            return request.send_error(fault or 404)
        content = self.files[path]
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.ranges else 0
        condition = request.headers.get("If-Range")
        if condition and condition != self.tag:
            start = 0
        if start and start >= len(content):
            return request.send_error(416)
        if fault == "shift":
            start -= 1
        body = content[start:]
        if fault == "wrong":
            body = bytes([body[0] ^ 1]) + body[1:]
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        request.send_header("Content-Length", str(len(body)))
        if self.tag:
            request.send_header("ETag", self.tag)
        request.end_headers()
        if fault in ("cut", "stall"):
            request.wfile.write(body[: len(body) // 2])
            request.wfile.flush()
            if fault == "stall":
                self.released.wait(30)
            request.close_connection = True
        elif fault == "slow":
            for at in range(0, len(body), 97):
                request.wfile.write(body[at : at + 97])
        else:
            request.wfile.write(body)
        return None

    def close(self):
        self.released.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("simpletorch.data.datasets._download._PAUSE_SECONDS", 0.001)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    yield server
    server.close()
