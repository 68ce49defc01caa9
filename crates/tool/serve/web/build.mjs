// Bundles script and style sheet into dist/, with the licences of the packages that they contain.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
const { metafile } = await build({
  entryPoints: [
    { in: "src/main.ts", out: "app" },
    { in: "src/app.css", out: "app" },
  ],
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  metafile: true,
  logLevel: "warning",
});
// esbuild drops the header of uPlot, whose licence asks that it is in all copies.
const inputs = Object.keys(metafile.inputs).map((path) => /^node_modules\/((@[^/]+\/)?[^/]+)/.exec(path));
const packages = [...new Set(inputs.filter(Boolean).map((found) => found[1]))].sort();
const licences = packages.map(async (name) => {
  const { version } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
  return `${name} ${version}\n\n${await readFile(`node_modules/${name}/LICENSE`, "utf8")}`;
});
await writeFile("dist/licences.txt", (await Promise.all(licences)).join("\n\n"));
