// What a package exports, as the compiler reads it; nothing of it runs.
// node reader.mjs TYPESCRIPT ROOT PATH: JSON with each file and its functions, or with a fault.
import { pathToFileURL } from "node:url";
import { neutralName, Shapes, Unfit } from "./shapes.mjs";

const [library, root, target] = process.argv.slice(2);
const { default: ts } = await import(pathToFileURL(library).href);
const { SymbolFlags: S } = ts;

/** Names by which a function reaches outside or is not the same twice. */
const OUTSIDE = new Set([
  "console", "process", "fetch", "require", "setTimeout", "setInterval", "setImmediate", "queueMicrotask",
  "globalThis", "localStorage", "document", "window", "crypto", "performance", "eval", "alert", "navigator",
]);
const MODULES = new Set(["path", "util", "url", "querystring", "assert", "buffer", "string_decoder", "punycode"]);
/** What the compiler says where types of node are not installed: a package that runs there is whole without them. */
const NO_TYPES = [2580, 2591];

const [program, fault] = compiled();
process.stdout.write(JSON.stringify(fault ? { fault } : { files: sources().map(read) }));

function compiled() {
  const defaults = { compilerOptions: { target: "es2023", module: "nodenext", strict: true, skipLibCheck: true } };
  const place = `${root}/tsconfig.json`;
  const { config = {}, error } = ts.sys.fileExists(place) ? ts.readConfigFile(place, ts.sys.readFile) : { config: defaults };
  if (error) return [undefined, `tsconfig.json: ${words(error.messageText)}`];
  const parsed = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const wanted = parsed.fileNames
    .filter((name) => name === target || name.startsWith(`${target}/`))
    .filter((name) => name.endsWith(".ts") && !/\.d\.ts$|[./](test|spec)\.ts$|\/node_modules\//.test(name));
  const options = { ...parsed.options, noEmit: true, allowImportingTsExtensions: true, composite: false, incremental: false, ignoreDeprecations: "6.0" };
  return [{ wanted: wanted.sort(), made: ts.createProgram(parsed.fileNames, options) }, undefined];
}

function sources() {
  return program.wanted.map((name) => program.made.getSourceFile(name)).filter(Boolean);
}

function read(source) {
  const checker = program.made.getTypeChecker();
  const errors = [...program.made.getSyntacticDiagnostics(source), ...program.made.getSemanticDiagnostics(source)];
  const error = errors.find((one) => one.category === ts.DiagnosticCategory.Error && !NO_TYPES.includes(one.code));
  const path = source.fileName;
  if (error) {
    const { line } = source.getLineAndCharacterOfPosition(error.start ?? 0);
    return { path, text: source.text, fault: `line ${line + 1}: ${words(error.messageText)}`, functions: [] };
  }
  const module = checker.getSymbolAtLocation(source);
  const exported = module ? checker.getExportsOfModule(module) : [];
  const functions = exported.flatMap((symbol) => described(checker, source, symbol));
  const known = new Set(functions.map((one) => one.name));
  for (const node of source.statements) {
    if (ts.isFunctionDeclaration(node) && node.name && !known.has(node.name.text)) {
      functions.push({ name: node.name.text, line: lineOf(source, node), refused: "it is not exported" });
    }
  }
  return { path, text: source.text, functions };
}

function described(checker, source, symbol) {
  const own = symbol.flags & S.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declared = (own.declarations ?? []).filter((node) => node.getSourceFile() === source);
  const node = declared.find((one) => ts.isClassDeclaration(one) || one.body || one.initializer);
  if (node === undefined) return [];
  const name = own.name === "default" ? (node.name?.text ?? "default") : own.name;
  const about = { name, exported: symbol.name, line: lineOf(source, node) };
  if (ts.isClassDeclaration(node)) return [{ ...about, refused: "it is a class; methods are not adopted" }];
  const made = ts.isFunctionDeclaration(node) ? node : node.initializer;
  if (!made || !(ts.isFunctionDeclaration(made) || ts.isArrowFunction(made) || ts.isFunctionExpression(made))) return [];
  const whole = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const doc = ts.displayPartsToString(own.getDocumentationComment(checker));
  const base = { ...about, source: whole.getFullText(source).trim(), doc };
  try {
    if (declared.length > 1) throw new Unfit("it is declared more than once");
    return [{ ...base, ...signed(checker, source, made) }];
  } catch (refused) {
    if (!(refused instanceof Unfit)) throw refused;
    return [{ ...base, refused: refused.message }];
  }
}

function signed(checker, source, node) {
  if (node.asteriskToken) throw new Unfit("it is a generator");
  if (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Async) throw new Unfit("it is asynchronous");
  effects(checker, node.body);
  const shapes = new Shapes(ts, checker, standard);
  const params = node.parameters.map((one, at) => {
    const name = ts.isIdentifier(one.name) ? one.name.text : `given${at || ""}`;
    if (one.dotDotDotToken) throw new Unfit(`it takes any number of values (...${name})`);
    const standing = one.initializer ? one.initializer.getText(source) : one.questionToken ? "undefined" : "";
    return { name: neutralName(name), default: standing, ...typed(shapes, checker.getTypeAtLocation(one), name, neutralName(name), `its parameter ${name}`, standing) };
  });
  if (new Set(params.map((one) => one.name)).size < params.length) throw new Unfit("its parameters differ in case alone");
  const result = checker.getReturnTypeOfSignature(checker.getSignatureFromDeclaration(node));
  const plain = ts.isBlock(node.body);
  const [start, end] = [node.body.getStart(source), node.body.end].map((at) => [...source.text.slice(0, at)].length);
  const body = plain ? node.body.getText(source).slice(1, -1) : `return ${node.body.getText(source)};`;
  return { params, result: typed(shapes, result, "result", "result", "its result", "").type, named: shapes.toJSON(), start, end, body };
}

function typed(shapes, type, hint, own, whose, standing) {
  try {
    return { type: shapes.kept("", own, shapes.typed(type, hint)) };
  } catch (unfit) {
    if (!(unfit instanceof Unfit)) throw unfit;
    if (standing) return { type: "" };
    throw new Unfit(`${whose} is ${unfit.message}, no plain value`);
  }
}

/** Whether something is declared by the standard library; what it maps, as Record and Partial do, is the package's own. */
function standard(node) {
  return !ts.isMappedTypeNode(node) && program.made.isSourceFileDefaultLibrary(node.getSourceFile());
}

function effects(checker, body) {
  ts.forEachChild(body, function look(node) {
    if (ts.isAwaitExpression(node)) throw new Unfit("it waits for something");
    if (ts.isIdentifier(node) && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node)) {
      const from = imported(checker, node);
      if (from && builtin(from)) throw new Unfit(`it reaches outside: ${node.text} of ${from}`);
      const own = checker.getSymbolAtLocation(node)?.declarations?.some((one) => !ambient(one));
      if (OUTSIDE.has(node.text) && !own) throw new Unfit(`it reaches outside: ${node.text}`);
    }
    const text = ts.isCallExpression(node) || ts.isNewExpression(node) ? node.expression.getText() : "";
    if (text === "Math.random") throw new Unfit("it depends on chance: Math.random()");
    const now = ts.isNewExpression(node) ? text === "Date" && !node.arguments?.length : text === "Date.now";
    if (now) throw new Unfit("it looks at the clock");
    ts.forEachChild(node, look);
  });
}

function ambient(node) {
  return node.getSourceFile().isDeclarationFile || (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Ambient) !== 0;
}

function imported(checker, node) {
  let at = checker.getSymbolAtLocation(node)?.declarations?.[0];
  while (at && !ts.isImportDeclaration(at)) at = at.parent;
  return at?.moduleSpecifier.text;
}

function builtin(from) {
  const name = from.replace("node:", "");
  const core = ["fs", "os", "net", "http", "https", "child_process", "worker_threads", "dns", "crypto", "timers", "vm", "v8"];
  return !MODULES.has(name) && (from.startsWith("node:") || core.includes(name.split("/")[0]));
}

function lineOf(source, node) {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

function words(text) {
  return ts.flattenDiagnosticMessageText(text, " ").replace(/\s+/g, " ").slice(0, 200);
}
