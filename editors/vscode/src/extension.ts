// The client of `simpletorch language-server`, and a panel that shows a program with its shapes.

import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("simpletorch.followWith", followWith),
    vscode.commands.registerCommand("simpletorch.showShapes", () => showShapes(context)),
    vscode.commands.registerCommand("simpletorch.restart", restart),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
  client = undefined;
}

async function start(): Promise<void> {
  const [command, ...args] = vscode.workspace
    .getConfiguration("simpletorch")
    .get<string[]>("command", ["simpletorch", "language-server"]);
  const server: ServerOptions = { command, args };
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "python", scheme: "file" },
      { language: "python", scheme: "untitled" },
    ],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.py") },
  };
  client = new LanguageClient("simpletorch", "simpletorch", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    void vscode.window.showErrorMessage(
      `simpletorch: ${command} doesn't start (${error}). Is it installed, with pip install 'simpletorch-typed[language-server]'?`,
    );
  }
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

function openProgram(): vscode.TextDocument | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === "python" ? document : undefined;
}

async function ask<T>(command: string, ...given: unknown[]): Promise<T | undefined> {
  return client?.sendRequest<T>("workspace/executeCommand", { command, arguments: given });
}

async function followWith(): Promise<void> {
  const document = openProgram();
  if (document === undefined) {
    return;
  }
  const line = await vscode.window.showInputBox({ prompt: "The program's arguments", placeHolder: "--epochs 3" });
  if (line !== undefined) {
    await ask("simpletorch.follow", document.uri.toString(), line.split(/\s+/).filter(Boolean));
  }
}

async function showShapes(context: vscode.ExtensionContext): Promise<void> {
  const document = openProgram();
  if (document === undefined) {
    return;
  }
  const uri = document.uri.toString();
  const beside = vscode.ViewColumn.Beside;
  const panel = vscode.window.createWebviewPanel("simpletorch.shapes", "Shapes", beside, { enableScripts: false });
  const show = async () => {
    panel.webview.html = (await ask<string | null>("simpletorch.page", uri)) ?? "<p>The program can't be followed.</p>";
  };
  const saved = vscode.workspace.onDidSaveTextDocument((d) => (d.uri.toString() === uri ? show() : undefined));
  panel.onDidDispose(() => saved.dispose(), undefined, context.subscriptions);
  await show();
}
