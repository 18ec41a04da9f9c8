// Takes the types out of a project's sources: node build.mjs PACKAGES; ./src becomes ./out.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const packages = process.argv[2];
const { default: ts } = await import(pathToFileURL(`${packages}/typescript/lib/typescript.js`).href);
const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: false };

mkdirSync("out", { recursive: true });
for (const name of readdirSync("src")) {
  const { outputText } = ts.transpileModule(readFileSync(`src/${name}`, "utf8"), { compilerOptions });
  writeFileSync(`out/${name.replace(/\.ts$/, ".js")}`, outputText);
}
if (existsSync(`${packages}/decimal.js`)) cpSync(`${packages}/decimal.js`, "node_modules/decimal.js", { recursive: true });
writeFileSync("out/package.json", '{ "type": "module" }');
