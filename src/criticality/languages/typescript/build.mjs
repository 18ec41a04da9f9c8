// Takes the types out of a project's sources and tests: node build.mjs [PACKAGES]; what runs is in ./out.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const packages = resolve(process.argv[2] ?? "node_modules");
const { default: ts } = await import(pathToFileURL(`${packages}/typescript/lib/typescript.js`).href);
const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: false };

for (const folder of ["src", "tests"].filter((name) => existsSync(name))) {
  mkdirSync(`out/${folder}`, { recursive: true });
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts"))) {
    const { outputText } = ts.transpileModule(readFileSync(`${folder}/${name}`, "utf8"), { compilerOptions });
    writeFileSync(`out/${folder}/${name.replace(/\.ts$/, ".js")}`, outputText);
  }
}
writeFileSync("out/package.json", '{ "type": "module" }');
const decimals = `${packages}/decimal.js`;
if (process.argv[2] !== undefined && existsSync(decimals)) {
  cpSync(decimals, "node_modules/decimal.js", { recursive: true });
}
