// The bundle without an editor: `vscode` is a stand-in that has every name, the server is the real one.
//
//     node test/headless.js simpletorch language-server
//
// Opens a program with a mistake and waits for the server to say so.

const Module = require("node:module");
const path = require("node:path");

const command = process.argv.slice(2);
const opened = { handlers: [] };
const commands = new Map();
const said = [];

/** Something that has every member, can be called, built and derived from. */
function anything(known = {}) {
  const target = Object.assign(function () {}, known); // a bundle copies the names that are there
  return new Proxy(target, {
    get(_, name) {
      if (name in known) return known[name];
      if (name === "prototype") return target.prototype;
      if (name === Symbol.iterator) return function* () {};
      if (name === Symbol.toPrimitive) return () => "";
      if (name === "then") return undefined;
      return (known[name] = anything());
    },
    apply: () => anything(),
    construct: () => anything(),
  });
}

class Disposable {
  constructor(dispose) { this.dispose = dispose ?? (() => {}); }
  static from(...all) { return new Disposable(() => all.forEach((d) => d.dispose())); }
}
class EventEmitter {
  constructor() { this.listeners = []; this.event = (f) => (this.listeners.push(f), new Disposable()); }
  fire(value) { this.listeners.forEach((f) => f(value)); }
  dispose() {}
}
class CancellationTokenSource {
  constructor() { this.token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() }; }
  cancel() {}
  dispose() {}
}
class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range {
  constructor(a, b, c, d) {
    this.start = a instanceof Position ? a : new Position(a, b);
    this.end = a instanceof Position ? b : new Position(c, d);
  }
}
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class Uri {
  constructor(value) { this.value = value; this.scheme = value.split(":")[0]; this.fsPath = value.replace("file://", ""); this.path = this.fsPath; }
  toString() { return this.value; }
  static parse(value) { return new Uri(value); }
  static file(value) { return new Uri(`file://${value}`); }
}
class Base { constructor(...given) { Object.assign(this, given[0] ?? {}); } }

const collection = { set: (uri, found) => said.push([uri.toString(), found]), delete() {}, clear() {}, dispose() {} };
const channel = { append() {}, appendLine() {}, show() {}, dispose() {}, error() {}, info() {}, warn() {}, debug() {}, trace() {} };
const nothing = () => new Disposable();
const text = "import torch\nx = torch.zeros(3, 5) @ torch.zeros(7, 11)\n";
const document = {
  uri: Uri.file(path.join(__dirname, "program.py")), languageId: "python", version: 1, isClosed: false,
  fileName: path.join(__dirname, "program.py"), getText: () => text,
};
const events = new Proxy({}, { get: () => nothing });
const workspace = {
  textDocuments: [document], notebookDocuments: [], workspaceFolders: undefined, isTrusted: true,
  getConfiguration: () => ({
    get: (name, fallback) => (name === "command" ? command : fallback), has: () => false, inspect: () => undefined,
  }),
  createFileSystemWatcher: () => ({ onDidCreate: nothing, onDidChange: nothing, onDidDelete: nothing, dispose() {} }),
};
const vscode = anything({
  Disposable, EventEmitter, CancellationTokenSource, Position, Range, Diagnostic, Uri,
  CodeLens: Base, CodeAction: Base, CompletionItem: Base, DocumentLink: Base, InlayHint: Base, SymbolInformation: Base,
  CallHierarchyItem: Base, TypeHierarchyItem: Base, CancellationError: Error, DiagnosticRelatedInformation: Base, Location: Base,
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 }, DiagnosticTag: { Unnecessary: 1, Deprecated: 2 },
  ViewColumn: { Beside: -2 },
  version: "1.91.0",
  env: { appName: "headless", language: "en" },
  extensions: { all: [], getExtension: () => undefined, onDidChange: nothing },
  commands: { registerCommand: (name, f) => (commands.set(name, f), new Disposable()), executeCommand: async () => {} },
  languages: new Proxy({ createDiagnosticCollection: () => collection, match: () => 10 }, { get: (t, n) => t[n] ?? nothing }),
  window: new Proxy(
    {
      createOutputChannel: () => channel, activeTextEditor: undefined, visibleTextEditors: [],
      showErrorMessage: async (m) => { console.error(m); process.exit(1); },
      tabGroups: { all: [], onDidChangeTabs: nothing, onDidChangeTabGroups: nothing },
    },
    { get: (t, n) => (n in t ? t[n] : nothing) },
  ),
  workspace: new Proxy(workspace, { get: (t, n) => (n in t ? t[n] : nothing) }),
});

const load = Module._load;
Module._load = function (name, ...rest) {
  return name === "vscode" ? vscode : load.call(this, name, ...rest);
};

(async () => {
  const extension = require("../dist/extension.js");
  const deadline = setTimeout(() => { console.error("nothing was said in time"); process.exit(1); }, 60_000);
  await extension.activate({ subscriptions: [] });
  while (!said.some(([, found]) => found.length)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  clearTimeout(deadline);
  console.log(JSON.stringify({ commands: [...commands.keys()].sort(), said: said.at(-1)[1].map((d) => d.message) }));
  await extension.deactivate();
  process.exit(0);
})().catch((error) => { console.error(error); process.exit(1); });
