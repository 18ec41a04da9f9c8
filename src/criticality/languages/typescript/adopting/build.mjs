// Takes the types out of a package's sources: node package.mjs TYPESCRIPT; what runs is in ./out/package.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const { default: ts } = await import(pathToFileURL(`${process.argv[2]}/typescript/lib/typescript.js`).href);
// One module system for all: it finds ./words, ./words.js and ./words.ts alike.
const compilerOptions = {
  target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.CommonJS, esModuleInterop: true, verbatimModuleSyntax: false,
  rewriteRelativeImportExtensions: true,
};
for (const name of readdirSync("package", { recursive: true }).filter((file) => file.endsWith(".ts"))) {
  const place = `out/package/${name.replace(/\.ts$/, ".js")}`;
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, ts.transpileModule(readFileSync(`package/${name}`, "utf8"), { compilerOptions }).outputText);
}
writeFileSync("out/package/package.json", '{ "type": "commonjs" }');
