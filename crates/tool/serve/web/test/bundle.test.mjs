// What the bundle holds: the licences of its packages, and no address of another host.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

const read = (name) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

test("the licence of uPlot is in the bundle", async () => {
  const licences = await read("dist/licences.txt");
  assert.ok(licences.includes(await read("node_modules/uplot/LICENSE")));
  assert.match(licences, /^uplot \d+\.\d+\.\d+\n/);
});

test("script and style sheet load nothing from another host", async () => {
  const names = (await read("dist/app.js")).match(/https?:\/\/[^"'`\s)]+/g) ?? [];
  assert.deepEqual(names.filter((name) => name !== "http://www.w3.org/2000/svg"), []);
  assert.doesNotMatch(await read("dist/app.css"), /url\(|@import/);
});

test("script and style sheet can stand in a page", async () => {
  assert.doesNotMatch(await read("dist/app.js"), /<\/script|<!--/i);
  assert.doesNotMatch(await read("dist/app.css"), /<\//);
});

test("the lock file names no host", async () => {
  assert.doesNotMatch(await read("package-lock.json"), /"resolved"/);
});
