// A warm TypeScript: keeps the last program, so that a check after one body changed takes milliseconds.
// node checker.mjs TYPESCRIPT PROJECT: a line asks, a line of JSON answers.
import { createInterface } from "node:readline";
import { statSync } from "node:fs";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";

const [library, project] = process.argv.slice(2);
const { default: ts } = await import(pathToFileURL(library).href);

function settings() {
  const file = ts.readConfigFile(`${project}/tsconfig.json`, ts.sys.readFile);
  return ts.parseJsonConfigFileContent(file.config, ts.sys, project);
}

let parsed = settings();
const registry = ts.createDocumentRegistry();
const host = {
  getCompilationSettings: () => parsed.options,
  getScriptFileNames: () => parsed.fileNames,
  getScriptVersion: (name) => {
    try {
      const { mtimeMs, size } = statSync(name);
      return `${mtimeMs}:${size}`;
    } catch {
      return "gone";
    }
  },
  getScriptSnapshot: (name) => {
    const text = ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => project,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
};
const service = ts.createLanguageService(host, registry);

function told(found) {
  let place = "tsconfig.json";
  if (found.file !== undefined && found.start !== undefined) {
    const { line, character } = found.file.getLineAndCharacterOfPosition(found.start);
    place = `${relative(project, found.file.fileName)}:${line + 1}:${character + 1}`;
  }
  return { place, message: ts.flattenDiagnosticMessageText(found.messageText, " ").replace(/\s+/g, " ") };
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === "sources") parsed = settings();
  const found = [...parsed.errors, ...service.getCompilerOptionsDiagnostics()];
  for (const name of parsed.fileNames) {
    found.push(...service.getSyntacticDiagnostics(name), ...service.getSemanticDiagnostics(name));
  }
  const errors = found.filter((one) => one.category === ts.DiagnosticCategory.Error).map(told);
  process.stdout.write(JSON.stringify({ errors }) + "\n");
}
