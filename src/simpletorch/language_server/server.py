"""The server: LSP 3.17 over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast, final

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from simpletorch._distribution import version
from simpletorch._settings import SettingError, settings
from simpletorch.language_server.checker import Checker
from simpletorch.language_server.documents import Document, Encoding
from simpletorch.language_server.follower import Follower, options
from simpletorch.language_server.messages import Found
from simpletorch.language_server.session import Program, Session, path_of, uri_of
from simpletorch.rules.core.codes import CODES, Severity

__all__ = ["serve"]

_STEPS: Final = 50_000
_SECONDS: Final = 2.0
_CELL: Final = "vscode-notebook-cell:"  # each comes alone, with its magics: no program, and the kernel knows more
_KINDS: Final = ("assigned", "parameter", "layer")


class _Protocol(LanguageServerProtocol):
    """pygls's, with texts of our own: it splits lines where neither editors nor Python do (``\\f``, U+2028).

    Every request is answered: pygls is silent where a request can't be read, or comes after the shutdown.
    """

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message from what JSON gives.

        Raises:
            JsonRpcException: it isn't what the protocol says.
        """
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            self._refuse(data.get("id") if "method" in data else None, error)
            raise

    def handle_message(self, message: Any) -> None:
        """Do what a message says."""
        if self._shutdown and hasattr(message, "method"):
            self._refuse(getattr(message, "id", None), JsonRpcInvalidRequest("the server was shut down"))
        super().handle_message(message)

    def _refuse(self, number: object, error: JsonRpcException) -> None:
        if isinstance(number, int | str):
            self._send_response(number, error=error.to_response_error())

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        cast(Server, self._server).opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        cast(Server, self._server).changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        cast(Server, self._server).closed(params.text_document.uri)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        yield from ()  # pygls takes all of these for generators
        server = cast(Server, self._server)
        server.code = 0 if self._shutdown else 1
        sys.exit(server.code)


@final
class Server(LanguageServer):
    """Follows each open file as a program, whenever it or what it imports has changed."""

    def __init__(self) -> None:
        super().__init__("simpletorch", version(), protocol_cls=_Protocol, converter_factory=default_converter)
        self.session = Session()
        self.follower = Follower()
        self.checker = Checker()
        self.code = 1  # for an editor that goes without a shutdown
        self.said: dict[str, Any] = {}  # what the editor's configuration says
        self.waiting: dict[str, None] = {}  # the programs to follow, the first one first
        self.described: asyncio.Event | None = None  # of a program whose findings alone are known yet
        self.tasks: set[asyncio.Task[None]] = set()
        self.working = False

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Tell the user of it, but for messages that are none: those are the editor's, and go to the log."""
        if isinstance(error, JsonRpcException | ValueError):
            self.window_log_message(types.LogMessageParams(types.MessageType.Warning, f"no message: {error}"))
        else:
            super().report_server_error(error, source)

    # -- texts ---------------------------------------------------------------------------------------------------------

    def opened(self, item: types.TextDocumentItem) -> None:
        """A file is opened."""
        if item.language_id not in ("python", "") or item.uri.startswith(_CELL):
            return
        path = path_of(item.uri)
        program = Program(Document(item.uri, path, item.text, item.version), self._arguments(path))
        self.session.programs[path] = program
        self.later(*self.session.dependents(path))

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """A file is edited; what is being followed of it isn't needed any more."""
        program = self.session.programs.get(path_of(params.text_document.uri))
        if program is None:
            return
        document = program.document
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = change.range.start, change.range.end
                document.edit(
                    (start.line, start.character), (end.line, end.character), change.text, self.session.encoding
                )
            else:
                document.replace(change.text)
        document.version = params.text_document.version
        for path in self.session.dependents(document.path):
            self.follower.cancel(path)
            self.later(path)

    def closed(self, uri: str) -> None:
        """A file is closed: nothing is said of it any more, but what other programs find in it."""
        path = path_of(uri)
        program = self.session.programs.pop(path, None)
        self.waiting.pop(path, None)
        if program is None:
            return
        self.follower.cancel(path)
        for other in {*(f.path for f in program.findings), path}:
            self.publish(other)
        self.later(*self.session.dependents(path))

    def _arguments(self, path: str) -> tuple[str, ...]:
        """How a program is started, by the configuration: by the end of its path."""
        for name, given in dict(self.said.get("arguments") or {}).items():
            if path.endswith(str(name)) and isinstance(given, list):
                return tuple(map(str, given))
        return ()

    # -- following -----------------------------------------------------------------------------------------------------

    def later(self, *paths: str) -> None:
        """Follow these programs, as soon as nothing else is followed."""
        self.waiting.update(dict.fromkeys(paths))
        if not self.working and self.waiting:
            self.working = True
            self.run(self._work())

    def run(self, work: Any) -> None:
        """Do something beside answering."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _work(self) -> None:
        try:
            while self.waiting:
                path = next(iter(self.waiting))
                del self.waiting[path]
                if path in self.session.programs and self._follows(path):
                    await self.follow(path)
        finally:
            self.working = False

    async def follow(self, path: str, *, page: bool = False) -> str | None:
        """Follow one program and say what was found; gives its page of HTML, if that is wanted."""
        program = self.session.programs[path]
        number = program.document.version
        texts = {p: other.document.lines for p, other in self.session.programs.items()}
        chosen = options(
            self._severities(path), self._number("steps", _STEPS), _SECONDS, page=page, data=self._data(path)
        )
        described = asyncio.Event()

        def is_as_it_was() -> bool:
            return self.session.programs.get(path) is program and program.document.lines is texts[path]

        def say(found: Found) -> None:
            if is_as_it_was():
                program.version, self.described = number, described
                for other in sorted(self.session.take_findings(found, texts)):
                    self.publish(other)

        sent = {p: t.text for p, t in texts.items()}
        try:
            answer = await self.follower.follow(path, sent, program.arguments, chosen, say)
        finally:
            described.set()
        if answer is None:
            self.window_log_message(
                types.LogMessageParams(types.MessageType.Warning, f"following {path} ended without an answer")
            )
            return None
        if is_as_it_was():
            program.version = number
            for other in sorted(self.session.take(answer, texts)):
                self.publish(other)
            if answer.mistake is None and not answer.is_cancelled:
                self._refresh()
        return answer.page

    async def whole(self) -> None:
        """Wait until all is known of a program whose findings are, which takes some milliseconds."""
        if self.described is not None:
            await self.described.wait()

    def _refresh(self) -> None:
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _follows(self, path: str) -> bool:
        if self.said.get("follow") is False:
            return False
        try:
            return settings(here=Path(path).parent).follow
        except SettingError:
            return True

    def _severities(self, path: str) -> dict[str, Severity]:
        try:
            found = dict(settings(here=Path(path).parent).severities)
        except SettingError as error:
            self.window_log_message(types.LogMessageParams(types.MessageType.Warning, str(error)))
            found = {}
        for code, severity in dict(self.said.get("severities") or {}).items():
            if code in CODES and severity in ("error", "warning", "note", "off"):
                found[code] = cast(Literal["error", "warning", "note", "off"], severity)
        return found

    def _data(self, path: str) -> bool | tuple[Path, ...]:
        try:
            return settings(here=Path(path).parent).data
        except SettingError:
            return True

    def _number(self, name: str, default: int) -> int:
        value = self.said.get(name)
        return value if isinstance(value, int) and 0 < value <= 400_000 else default

    def publish(self, path: str) -> None:
        """Say all that is known of a file."""
        program = self.session.programs.get(path)
        uri, number = (program.document.uri, program.version) if program else (uri_of(path), None)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, self.session.diagnostics(path), number)
        )

    # -- mypy ----------------------------------------------------------------------------------------------------------

    async def check(self, path: str) -> None:
        """Ask mypy about a file that was saved."""
        program = self.session.programs.get(path)
        if program is None or self.said.get("mypy") is False or not os.path.isfile(path):
            return
        text = program.document.lines
        found = await self.checker.check(path, self._root(path))
        if found is not None and self.session.programs.get(path) is program:
            program.checked, program.checked_text = found, text
            self.publish(path)

    def _root(self, path: str) -> str:
        """The folder of the workspace that a file is in, its own one where it is in none."""
        folders = [path_of(uri) for uri in self.workspace.folders]
        around = [f for f in folders if Path(path).is_relative_to(f) and os.path.isdir(f)]
        return max(around, key=len, default=str(Path(path).parent))

    async def configure(self) -> None:
        """Ask the editor for its settings, if it has any, and follow everything again."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            (said,) = await self.workspace_configuration_async(
                types.ConfigurationParams([types.ConfigurationItem(section="simpletorch")])
            )
            self.configured(said)

    def configured(self, said: object) -> None:
        """These are the settings from now on."""
        self.said = dict(said) if isinstance(said, Mapping) else {}
        for path, program in self.session.programs.items():
            program.arguments = self._arguments(path) or program.arguments
        self.later(*self.session.programs)

    async def leave(self) -> None:
        """End the processes."""
        for task in self.tasks:
            task.cancel()
        await self.follower.stop()
        await self.checker.stop()


def made() -> Server:
    """A server with its features."""
    server = Server()

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        chosen = ls.workspace.position_encoding  # as the capabilities will say
        ls.session.encoding = cast(Encoding, str(getattr(chosen, "value", chosen)))

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, params: types.InitializedParams) -> None:
        await ls.follower.start()
        ls.run(ls.configure())

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def reconfigured(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        workspace = ls.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            await ls.configure()
        elif isinstance(params.settings, Mapping):
            ls.configured(params.settings.get("simpletorch"))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            ls.later(*ls.session.dependents(path_of(change.uri)))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        ls.run(ls.check(path_of(params.text_document.uri)))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
        await ls.whole()
        chosen = ls.said.get("hints", _KINDS)
        kinds: Sequence[str] = chosen if isinstance(chosen, list | tuple) else _KINDS if chosen else ()
        path = path_of(params.text_document.uri)
        return ls.session.hints(path, params.range.start.line, params.range.end.line, kinds)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        await ls.whole()
        return ls.session.hover(path_of(params.text_document.uri), params.position)

    fixing = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, fixing)
    async def actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        await ls.whole()
        return list(ls.session.fixes(path_of(params.text_document.uri), params.range))

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        await ls.whole()
        program = ls.session.programs.get(path_of(params.text_document.uri))
        if program is None:
            return []
        uri, given = program.document.uri, list(program.arguments)
        rows = program.document.lines.rows()
        line = next((i for i, row in enumerate(rows) if row.startswith("if __name__")), 0)
        title = f"follow from here: {' '.join((Path(program.document.path).name, *given))}"
        if program.answer is not None:
            count = sum(f.severity == "error" for f in program.findings)
            limit = "" if program.answer.is_complete else ", up to the limit of steps and time"
            title += f" ({count} error{'' if count == 1 else 's'}{limit})"
        here = types.Range(types.Position(line, 0), types.Position(line, 0))
        return [types.CodeLens(here, types.Command(title, "simpletorch.follow", arguments=[uri, given]))]

    @server.command("simpletorch.follow")
    async def follow_from(ls: Server, uri: str, arguments: list[str] | None = None) -> dict[str, Any]:
        path = path_of(uri)
        if path not in ls.session.programs:
            return {"followed": False}
        program = ls.session.programs[path]
        program.arguments = tuple(map(str, arguments or ()))
        await ls.follow(path)
        count = sum(f.severity == "error" for f in program.findings)
        return {"followed": program.answer is not None, "errors": count}

    @server.command("simpletorch.page")
    async def page(ls: Server, uri: str) -> str | None:
        path = path_of(uri)
        return await ls.follow(path, page=True) if path in ls.session.programs else None

    @server.feature(types.SHUTDOWN)
    async def shutdown(ls: Server, params: None = None) -> None:
        await ls.leave()

    return server


def serve() -> int:
    """Serve one editor over standard input and output; its exit code is the protocol's."""
    server = made()
    server.start_io()
    return server.code
