// Forms and tables of the fixtures: filter, selectors, editor, sorting.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { load, openBrowser, openPage, until } from "./browser.mjs";
import { startSite } from "./fixtures.mjs";

let browser, site;
const skip = process.env.ASSAY_SITE ? "a real site has other forms" : false;

before(async () => {
  if (skip) return;
  [browser, site] = [await openBrowser(), await startSite()];
});

after(async () => {
  await browser?.close();
  await site?.stop();
});

async function open(name) {
  const page = await openPage(browser);
  await load(page, site.base + name);
  return page;
}

async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.close();
}

const rows = (page) => page.$$eval("tbody tr", (all) => all.map((row) => row.cells[0].textContent));

test("the filter follows what is typed, and the caret stays", { skip }, async () => {
  const page = await open("");
  // The page of the last key: empty fields are not in its address.
  const filtered = (typed, count) => until(page, `location.search === "?search=${typed}"
    && document.readyState === "complete" && document.activeElement?.name === "search"
    && document.querySelectorAll("tbody tr").length === ${count}`);
  await page.type("input[name=search]", "read");
  await filtered("read", 1);
  await page.keyboard.type("random-n");
  await filtered("readrandom-n", 1);
  const field = await page.$eval("input[name=search]", (one) => [one.value, one.selectionStart]);
  assert.deepEqual(field, ["readrandom-n", 12]);
  assert.deepEqual(await rows(page), ["readrandom-night"]);
  assert.equal(await page.evaluate(() => history.length), 2, "the filter adds no entries to the history");
  await close(page);
});

test("selectors submit by themselves and stay in use", { skip }, async () => {
  const page = await open("experiment");
  assert.equal(await page.$eval("form[data-auto] button", (one) => one.checkVisibility()), false);
  await Promise.all([page.waitForNavigation(), page.focus("select[name=base]").then(() => page.select("select[name=base]", "lmdb"))]);
  assert.equal(new URL(page.url()).search, "?base=lmdb");
  assert.equal(await page.evaluate(() => document.activeElement.name), "base");
  await close(page);
});

test("headings sort by value, by text and back", { skip }, async () => {
  const page = await open("");
  const headings = await page.$$("thead button");
  await headings[1].click();
  assert.deepEqual(await rows(page), ["readrandom-night", "insert benchmark", "quickstart", "linkbench"]);
  await headings[1].press("Enter");
  assert.deepEqual((await rows(page))[0], "linkbench");
  assert.equal(await page.$eval("thead th:nth-child(2)", (one) => one.ariaSort), "descending");
  await headings[2].click();
  assert.equal((await rows(page)).at(-1), "linkbench", "empty cells are the last");
  await headings[0].click();
  assert.equal((await rows(page))[0], "insert benchmark");
  await close(page);
});

test("the editor names errors at their line and allows the start of a sound file", { skip }, async () => {
  const page = await open("edit");
  await page.waitForSelector("#errors button");
  assert.equal(await page.$eval("#errors li", (one) => one.textContent),
    "line 5, column 1: unknown option `max_backgroud_jobs`did you mean `max_background_jobs`?");
  assert.equal(await page.$eval("#start", (one) => one.disabled), true);
  await page.click("#errors button");
  const chosen = await page.$eval("textarea", (one) => [one === document.activeElement, one.value.slice(one.selectionStart, one.selectionEnd)]);
  assert.deepEqual(chosen, [true, "max_backgroud_jobs = 4"]);
  await page.keyboard.type("max_background_jobs = 4");
  await page.waitForFunction(() => !document.querySelector("#start").disabled);
  assert.equal(await page.$eval("#plan", (one) => one.textContent), "24 runs of 3 variants");
  assert.equal(await page.$$eval("#errors li", (all) => all.length), 0);
  await Promise.all([page.waitForNavigation(), page.click("#start")]);
  assert.match(site.started[0], /max_background_jobs/);
  await close(page);
});
