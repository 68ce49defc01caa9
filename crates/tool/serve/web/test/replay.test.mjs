// The replay of two runs: play, pause, jumps, the end; from a server, and from a file without one.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { axisContrasts, load, openBrowser, openPage, seriousFindings } from "./browser.mjs";
import { recording, replayFile, startSite } from "./fixtures.mjs";

let browser, site, dir;
const skip = process.env.ASSAY_SITE ? "a real site has other runs" : false;

before(async () => {
  if (skip) return;
  [browser, site] = [await openBrowser(), await startSite()];
  dir = await mkdtemp(join(tmpdir(), "replay-"));
});

after(async () => {
  await browser?.close();
  await site?.stop();
  if (dir) await rm(dir, { recursive: true });
});

const text = (page, selector) => page.$eval(selector, (one) => one.textContent);
const at = (page) => page.$eval("#replay input", (one) => one.valueAsNumber);
const until = (page, what, ...values) => page.waitForFunction(what, {}, ...values);

async function open() {
  const page = await openPage(browser);
  await load(page, `${site.base}replay`);
  await until(page, () => !document.querySelector("#replay").hidden);
  return page;
}

async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.close();
}

/** Moves the slider as a pointer does. */
const jump = (page, seconds) => page.$eval("#replay input", (slider, to) => {
  slider.value = to;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}, seconds);

/** Returns what the last point of a chart says. */
async function last(page, metric) {
  await page.focus(`#live-${metric} .canvas`);
  await page.keyboard.down("Shift");
  for (let press = 0; press < 12; press += 1) await page.keyboard.press("ArrowRight");
  await page.keyboard.up("Shift");
  return text(page, `#live-${metric} .reading`);
}

test("a replay begins with the end, and jumps to any time", { skip }, async () => {
  const page = await open();
  assert.equal(await at(page), 220);
  assert.equal(await text(page, "#time"), "3 min 40 s of 3 min 40 s");
  assert.equal(await text(page, "#progress"), "2 of 2 runs are done");
  assert.equal(await text(page, "#label"), "truthy (preliminary)");
  assert.match(await text(page, "#verdict"), /^rocksdb-11.8 is <\/script><b>twice<\/b> as fast/);
  assert.match(await last(page, "per_s"), /^100 s · throughput: \d+ k/);
  await jump(page, 42.5);
  assert.equal(await text(page, "#progress"), "0 of 2 runs are done, about 2 min 10 s left");
  assert.equal(await text(page, "#now"), "lmdb.r1");
  assert.equal(await text(page, "#label"), "none yet");
  assert.equal(await page.$eval("#replay input", (one) => one.ariaValueText), "0 min 42 s of 3 min 40 s");
  assert.match(await last(page, "per_s"), /^42.0 s · throughput: \d+ k/);
  assert.match(await text(page, "#log"), /^lmdb.r1, readrandom, 27.0 s: invalid second/);
  await jump(page, 130);
  assert.equal(await text(page, "#now"), "rocksdb-11.8.r1");
  assert.match(await last(page, "p99_ns"), /^10.0 s · p99: \d+ \u00b5s · invalid/);
  assert.match(await text(page, "#log"), /lmdb.r1 is complete/);
  await jump(page, 0);
  assert.equal(await text(page, "#log"), "");
  assert.equal(await last(page, "per_s"), "10.0 s", "a chart without points");
  await close(page);
});

test("a replay plays, pauses and ends", { skip }, async () => {
  const page = await open();
  await page.select("#replay select", "10");
  await page.click("#replay button");
  assert.equal(await text(page, "#replay button"), "Pause");
  await until(page, () => document.querySelector("#replay input").valueAsNumber >= 3);
  await page.click("#replay button");
  assert.equal(await text(page, "#replay button"), "Play");
  const paused = await at(page);
  assert.ok(paused >= 3 && paused < 220, `${paused}`);
  await new Promise((done) => setTimeout(done, 400));
  assert.equal(await at(page), paused, "a pause lasts");
  await page.select("#replay select", "600");
  await page.click("#replay button");
  await until(page, () => document.querySelector("#replay button").textContent === "Play");
  assert.equal(await at(page), 220);
  assert.equal(await text(page, "#label"), "truthy (preliminary)");
  await page.select("#replay select", "1");
  await page.click("#replay button");
  assert.ok(await at(page) < 100, "what has ended begins again");
  await page.click("#replay button");
  await close(page);
});

test("keys move the slider", { skip }, async () => {
  const page = await open();
  await page.focus("#replay input");
  await page.keyboard.press("Home");
  assert.equal(await text(page, "#time"), "0 min 0 s of 3 min 40 s");
  await page.keyboard.press("ArrowRight");
  const moved = await at(page);
  assert.ok(moved > 0 && moved < 10, `${moved}`);
  await page.keyboard.press("End");
  assert.equal(await text(page, "#progress"), "2 of 2 runs are done");
  await close(page);
});

test("the right end of the slider shows the last events", { skip }, async () => {
  const page = await openPage(browser);
  const end = 8.677011137000001;
  const events = recording().slice(0, 1);
  events.push({ at_s: end, kind: "progress", data: { done: 2, planned: 2, left_s: 0, run: null, step: null } });
  await page.setRequestInterception(true);
  page.on("request", (request) => request.url().endsWith("replay.json")
    ? request.respond({ contentType: "application/json", body: JSON.stringify(events) }) : request.continue());
  await load(page, `${site.base}replay`);
  await until(page, () => !document.querySelector("#replay").hidden);
  for (const [time, done] of [[8.677, 0], [8.677011137, 2]]) {
    await jump(page, time);
    assert.match(await text(page, "#progress"), new RegExp(`^${done} of 2 runs are done`), `${time}`);
  }
  await close(page);
});

test("the chart of start lag is hidden until a second has one", { skip }, async () => {
  const page = await openPage(browser);
  const events = recording().slice(0, 60).map(({ at_s, kind, data }) =>
    ({ at_s, kind, data: { ...data, lag_ns: at_s > 30 ? data.lag_ns : null } }));
  await page.setRequestInterception(true);
  page.on("request", (request) => request.url().endsWith("replay.json")
    ? request.respond({ contentType: "application/json", body: JSON.stringify(events) }) : request.continue());
  await load(page, `${site.base}replay`);
  await until(page, () => !document.querySelector("#replay").hidden);
  const isShown = (metric) => page.$eval(`#live-${metric}`, (one) => one.checkVisibility());
  for (const [time, isExpected] of [[50, true], [20, false], [0, false], [40, true]]) {
    await jump(page, time);
    assert.equal(await isShown("lag_ns"), isExpected, `${time}`);
    assert.equal(await isShown("per_s"), true);
  }
  assert.match(await last(page, "lag_ns"), /^40.0 s · start lag: 40.0 \u00b5s/);
  await close(page);
});

test("a replay that cannot be loaded is named", { skip }, async () => {
  const page = await openPage(browser);
  await page.setRequestInterception(true);
  page.on("request", (request) => request.url().endsWith("replay.json")
    ? request.respond({ status: 500, body: "" }) : request.continue());
  await load(page, `${site.base}replay`);
  await until(page, () => document.querySelector("#connection").textContent !== "");
  assert.equal(await text(page, "#connection"), "The replay cannot be loaded: the server's answer was 500.");
  await page.close();
});

test("a replay in one file makes no request", { skip }, async () => {
  const page = await openPage(browser);
  const file = join(dir, "replay.html");
  await writeFile(file, await replayFile());
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await until(page, () => !document.querySelector("#replay").hidden);
  assert.match(await text(page, "#verdict"), /<\/script><b>twice<\/b>/);
  assert.equal(await page.$("#verdict b"), null);
  await jump(page, 42.5);
  assert.match(await last(page, "per_s"), /^42.0 s · throughput: \d+ k/);
  for (const { chart, x, y } of await axisContrasts(page)) assert.ok(x > 4.5 && y > 4.5, chart);
  assert.deepEqual(requests.filter((one) => !one.startsWith("data:")), [pathToFileURL(file).href]);
  assert.deepEqual(await seriousFindings(page), []);
  await close(page);
});
