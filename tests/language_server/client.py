"""A client that speaks the protocol over pipes, as an editor does."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

__all__ = ["Client"]

_PATIENCE = 30.0  # seconds until a server counts as dead


class Client:
    """One editor with one server. ``settings`` is what it answers to ``workspace/configuration``."""

    def __init__(
        self,
        root: Path,
        capabilities: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        command = [sys.executable, "-m", "simpletorch.cli", "language-server"]
        pipe = subprocess.PIPE
        known = {k: v for k, v in os.environ.items() if k != "SIMPLETORCH_FOLLOW"}  # off in tests of other things
        known |= environment or {}
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, cwd=root, env=known
        )
        self.settings = dict(settings or {})
        self.count = 0
        self.received: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.diagnostics: dict[str, dict[str, Any]] = {}  # what was published last, by address
        self.answers: dict[int, dict[str, Any]] = {}
        threading.Thread(target=self._read, daemon=True).start()
        self.capabilities = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
                "capabilities": dict(capabilities or {}) | ({"workspace": {"configuration": True}} if settings else {}),
            },
        )["capabilities"]
        self.notify("initialized", {})

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            size = int(header.split(b":")[1])
            while out.readline().strip():
                pass
            self.received.put(json.loads(out.read(size)))
        self.received.put(None)

    # -- sending -------------------------------------------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        """These bytes, whatever they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any) -> int:
        """A request; its number."""
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        return self.count

    def request(self, method: str, params: Any) -> Any:
        """A request's result."""
        number = self.ask(method, params)
        answer = self.answer(number)
        assert "error" not in answer, answer
        return answer["result"]

    # -- receiving -----------------------------------------------------------------------------------------------------

    def take(self, timeout: float = _PATIENCE) -> dict[str, Any]:
        """The next message; what a server asks of an editor is answered."""
        message = self.received.get(timeout=timeout)
        assert message is not None, "the server has gone"
        if "method" in message and "id" in message:
            asked = message["method"] == "workspace/configuration"
            self.send({"id": message["id"], "result": [self.settings] if asked else None})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]
        elif "id" in message and message["id"] is not None:
            self.answers[message["id"]] = message
        return message

    def until(self, holds: Callable[[], bool]) -> None:
        """Take messages until this holds."""
        while not holds():
            self.take()

    def answer(self, number: int) -> dict[str, Any]:
        self.until(lambda: number in self.answers)
        return self.answers.pop(number)

    # -- files ---------------------------------------------------------------------------------------------------------

    def open(self, path: Path, text: str, version: int = 1) -> str:
        """Open a file with this text; its address."""
        item = {"uri": path.as_uri(), "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return path.as_uri()

    def edit(self, uri: str, version: int, *changes: Mapping[str, Any]) -> None:
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)},
        )

    def said(self, uri: str, version: int = 1) -> list[dict[str, Any]]:
        """The diagnostics of this version of a file."""
        self.until(lambda: self.diagnostics.get(uri, {}).get("version") == version)
        found: list[dict[str, Any]] = self.diagnostics[uri]["diagnostics"]
        return found

    def hints(self, uri: str, last: int = 100_000) -> list[tuple[int, int, str]]:
        span = {"start": {"line": 0, "character": 0}, "end": {"line": last, "character": 0}}
        found = self.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": span})
        return [(h["position"]["line"], h["position"]["character"], h["label"]) for h in found or ()]

    def hover(self, uri: str, line: int, character: int) -> str:
        found = self.request(
            "textDocument/hover",
            {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}},
        )
        return "" if found is None else str(found["contents"]["value"])

    def actions(self, uri: str, line: int) -> list[dict[str, Any]]:
        span = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}}
        params = {"textDocument": {"uri": uri}, "range": span, "context": {"diagnostics": []}}
        return self.request("textDocument/codeAction", params) or []

    # -- the end -------------------------------------------------------------------------------------------------------

    def leave(self) -> int:
        """Say good-bye as the protocol asks; the server's exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(_PATIENCE)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
