// An experiment is written, checked, started, stopped and resumed from pages, and watched to its verdict, on
// the server at ASSAY_RUN_SITE, whose address has the token.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { load, openBrowser, openPage, until } from "./browser.mjs";

const SITE = process.env.ASSAY_RUN_SITE;
const skip = SITE ? false : "no server that may run experiments";
const EXPERIMENT = `[experiment]
name     = "paged"
question = "Does a page start runs?"
base     = "one"

[benchmark]
steps    = ["readrandom"]
rows     = "1k"
duration = "2s"
warmup   = "100ms"

[factors]
repetitions = 3

[[variant]]
name   = "one"
engine = "memory"

[[variant]]
name   = "two"
engine = "memory"
`;

let browser;
before(async () => {
  if (!skip) browser = await openBrowser();
});
after(async () => browser?.close());

const text = (page, selector) => page.$eval(selector, (one) => one.textContent);
const write = (page, content) => page.$eval("textarea", (area, value) => {
  area.value = value;
  area.dispatchEvent(new Event("input"));
}, content);
const isLive = () => location.pathname.endsWith("/live/");
const press = async (page, label) => {
  const [button] = await page.$$(`xpath///button[starts-with(., "${label}")]`);
  assert.ok(button, label);
  await button.click();
};

test("an experiment is checked, started, stopped, resumed and watched", { skip }, async () => {
  const page = await openPage(browser);
  await load(page, SITE);
  await load(page, new URL("/run/", SITE).href);
  await write(page, EXPERIMENT.replace('"1k"', '"1kk"'));
  await until(page, () => document.querySelector("#errors")?.textContent.includes("line 8"));
  assert.equal(await page.$eval("#start", (one) => one.disabled), true);
  await page.click("#errors button");
  const line = await page.$eval("textarea", (area) => area.value.slice(0, area.selectionStart).split("\n").length);
  assert.equal(line, 8);
  await write(page, EXPERIMENT);
  await until(page, () => document.querySelector("#plan")?.textContent.includes("of machine time"));
  assert.equal(await text(page, "#errors"), "");
  await page.click("#start");
  await until(page, isLive);
  await until(page, () => document.querySelector("#now")?.textContent.includes("readrandom"));
  await press(page, "Stop after this run");
  await until(page, () => document.querySelector("#connection")?.textContent.includes("has ended"));
  await page.reload();
  await until(page, () => document.querySelector("#progress")?.textContent.match(/^[1-5] of 6/));
  await press(page, "Resume");
  await until(page, isLive);
  await until(page, () => document.querySelector("#connection")?.textContent.includes("has ended"));
  assert.match(await text(page, "#progress"), /^6 of 6 runs are done/);
  assert.doesNotMatch(await text(page, "#label"), /preliminary/);
  assert.deepEqual(page.problems, []);
  await page.close();
});
