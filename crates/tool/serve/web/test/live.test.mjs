// The page of a running experiment, against a stream that sends ten seconds each second.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axisContrasts, load, openBrowser, openPage } from "./browser.mjs";
import { startSite } from "./fixtures.mjs";

let browser, site;
const skip = process.env.ASSAY_SITE ? "a real site has no such stream" : false;

before(async () => {
  if (skip) return;
  [browser, site] = [await openBrowser(), await startSite()];
});

after(async () => {
  await browser?.close();
  await site?.stop();
});

async function open() {
  const page = await openPage(browser);
  await load(page, `${site.base}live`);
  return page;
}

const text = (page, selector) => page.$eval(selector, (one) => one.textContent);
const canStop = (page) => page.$eval("form.buttons", (form) => form.checkVisibility());
const isOpen = async (count) => {
  for (let tries = 0; tries < 600 && site.streams.size !== count; tries += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.equal(site.streams.size, count, "open streams");
};

test("progress, verdict, log and charts follow the stream", { skip }, async () => {
  const page = await open();
  await page.waitForFunction(() => document.querySelector("#progress").textContent.startsWith("12 of 24"));
  assert.equal(await text(page, "#progress"), "12 of 24 runs are done, about 2 min 10 s left");
  assert.equal(await text(page, "#now"), "rocksdb-11.8.r2 · readrandom");
  assert.equal(await canStop(page), true);
  assert.equal(await text(page, "#label"), "truthy (preliminary)");
  assert.match(await text(page, "#verdict"), /^rocksdb-11.8 is 1.09 times as fast/);
  const log = await page.$$eval("#log li", (all) => all.map((one) => one.textContent));
  assert.ok(log.includes("rocksdb-11.8.r2 is complete") && log.at(-1) === "lmdb.r1 is complete", log.join("\n"));
  assert.ok(log.some((line) => line.includes("invalid second: the client was late")));
  await page.focus("#live-per_s .canvas");
  let read = "";
  for (let press = 0; press < 20 && !read.includes("invalid"); press += 1) {
    await page.keyboard.press("ArrowRight");
    read = await text(page, "#live-per_s .reading");
  }
  assert.match(read, /s · throughput: \d+ k · invalid: the client was late$/);
  for (const { chart, x, y } of await axisContrasts(page)) assert.ok(x > 4.5 && y > 4.5, chart);
  assert.deepEqual(page.problems, []);
  await page.close();
});

test("a hidden page closes its stream: eight tabs load", { skip }, async () => {
  await isOpen(0);
  const pages = [];
  for (let tab = 0; tab < 8; tab += 1) {
    const page = await open();
    await page.waitForFunction(() => document.querySelector("#progress").textContent !== "");
    pages.push(page);
  }
  await isOpen(1);
  await pages[2].bringToFront();
  await isOpen(1);
  const before = await text(pages[2], "#live-per_s .canvas");
  assert.equal(before, "");
  assert.deepEqual(pages.flatMap((page) => page.problems), []);
  await Promise.all(pages.map((page) => page.close()));
  await isOpen(0);
});

test("a lost connection is named and opened again", { skip }, async () => {
  const page = await open();
  await page.waitForFunction(() => document.querySelector("#progress").textContent !== "");
  for (const stream of site.streams) stream.destroy();
  await page.waitForFunction(() => document.querySelector("#connection").textContent.includes("reconnects"));
  await page.waitForFunction(() => document.querySelector("#connection").textContent === "");
  await isOpen(1);
  await page.close();
});

test("the end closes the stream and offers the finished page", { skip }, async () => {
  site.ends = 5;
  const page = await open();
  await page.waitForFunction(() => document.querySelector("#connection a") !== null);
  assert.equal(await canStop(page), false, "nothing is left to stop");
  assert.match(await text(page, "#connection"), /has ended. Load the finished page/);
  await isOpen(0);
  assert.deepEqual(page.problems, []);
  await page.close();
  site.ends = Infinity;
});
