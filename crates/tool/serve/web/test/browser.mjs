// Chromium for tests: pages that report every problem, axe-core, and contrast by pixels.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const CHROMIUM = process.env.ASSAY_CHROMIUM ?? "/usr/bin/chromium";
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Both sizes in both schemes. */
export const VIEWS = [1280, 390].flatMap((width) =>
  ["light", "dark"].map((scheme) => ({ width, scheme })));

/** Longest wait for a page, ms: a busy host takes many times as long as an idle one. */
const WAIT_MS = 180_000;
const POLL_MS = 50;

/** Starts Chromium; the caller closes it. */
export function openBrowser() {
  return puppeteer.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
      "--disable-component-update", "--no-first-run"],
  });
}

/** Returns a page whose `problems` lists console errors, exceptions, failed and refused requests. */
export async function openPage(browser, { width = 1280, scheme = "light" } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  page.problems = [];
  const problem = (text) => page.problems.push(text);
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) problem(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problem(`exception: ${error.stack ?? error}`));
  page.on("requestfailed", (request) => {
    // A page that is left closes its stream.
    const isLeft = request.failure()?.errorText === "net::ERR_ABORTED";
    if (!isLeft) problem(`failed: ${request.url()} ${request.failure()?.errorText}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) problem(`${response.status()}: ${response.url()}`);
  });
  page.on("request", (request) => {
    const { host, protocol } = new URL(request.url());
    const isOwn = !page.home || host === page.home || ["data:", "blob:"].includes(protocol);
    if (!isOwn) problem(`a request leaves the site: ${request.url()}`);
  });
  const isSmall = width < 640;
  await page.setViewport({ width, height: isSmall ? 844 : 900, deviceScaleFactor: isSmall ? 2 : 1,
    isMobile: isSmall, hasTouch: isSmall });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  return page;
}

/** Loads an address and waits until its charts near the window are drawn. */
export async function load(page, address) {
  page.home = new URL(address).host;
  await page.bringToFront();
  await page.goto(address, { waitUntil: "load" });
  await settle(page);
}

/** Scrolls through the page, so that each chart is drawn, and waits until all are. */
export async function settle(page) {
  await page.evaluate(async () => {
    for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
      scrollTo(0, y);
      // A chart is drawn once a frame has shown it, which takes any time on a busy host.
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }
    scrollTo(0, 0);
  });
  await page.waitForFunction(() => [...document.querySelectorAll("figure[data-chart]")].every((one) =>
    one.classList.contains("drawn") || one.querySelector(".note") || !one.checkVisibility()));
  await frames(page);
}

/** Waits until a condition holds, also while the page goes to another address. */
export async function until(page, condition) {
  for (let waited = 0; waited < WAIT_MS; waited += POLL_MS) {
    if (await page.evaluate(condition).catch(() => false)) return;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  const shown = await page.evaluate(() => document.body.innerText).catch(String);
  throw new Error(`it does not hold after ${WAIT_MS / 1000} s: ${condition}\nthe page: ${shown}`);
}

/** Waits for two frames. */
export function frames(page) {
  return page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => done()))));
}

/** Returns the serious and critical findings of axe-core; by `evaluate`, which the policy allows. */
export async function seriousFindings(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => globalThis.axe.run(document));
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
}

/** Returns whether the page itself scrolls sideways. */
export function scrollsSideways(page) {
  return page.evaluate(() =>
    document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

/** Moves the cursor of each drawn chart by keys; returns the charts that then read nothing. */
export async function unreadCharts(page) {
  const unread = [];
  for (const figure of await page.$$("figure[data-chart].drawn")) {
    const host = await figure.$(".canvas");
    if (!(await host.evaluate((one) => one.checkVisibility()))) continue;
    await host.focus();
    for (const key of ["ArrowRight", "+", "ArrowRight", "0", "End", "Home"]) await page.keyboard.press(key);
    await frames(page);
    const text = await figure.$eval(".reading", (one) => one.textContent);
    if (text === "") unread.push(await figure.evaluate((one) => one.id));
  }
  return unread;
}

/**
 * Returns for each chart of the page the contrast of the texts of its axes to the ground.
 *
 * Pixels of the canvas, since no checker of accessibility reads one: the strip left of the plot and
 * the one below it, the pixel of the greatest contrast in each, over the colour of the page.
 */
export function axisContrasts(page) {
  return page.evaluate(() => {
    const parts = (css) => css.match(/[\d.]+/g).map(Number);
    const [r, g, b, alpha = 1] = parts(getComputedStyle(document.body).backgroundColor);
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const ground = alpha === 0 ? (isDark ? [18, 18, 18] : [255, 255, 255]) : [r, g, b];
    const luminance = (colour) => colour
      .map((part) => part / 255)
      .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const contrast = (colour) => {
      const [low, high] = [luminance(colour), luminance(ground)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    };
    const best = (canvas, x, y, width, height) => {
      const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
      copy.drawImage(canvas, -x, -y);
      const { data } = copy.getImageData(0, 0, width, height);
      let most = 1;
      for (let at = 0; at < data.length; at += 4) {
        const share = data[at + 3] / 255;
        if (share === 0) continue;
        const over = [0, 1, 2].map((part) => data[at + part] * share + ground[part] * (1 - share));
        most = Math.max(most, contrast(over));
      }
      return most;
    };
    return [...document.querySelectorAll(".u-wrap")].filter((one) => one.checkVisibility()).map((wrap) => {
      const canvas = wrap.querySelector("canvas");
      const over = wrap.querySelector(".u-over");
      const scale = canvas.width / wrap.clientWidth;
      const [left, bottom] = [over.offsetLeft * scale, (over.offsetTop + over.clientHeight) * scale];
      return {
        chart: wrap.closest("figure").id,
        // The marks of the axis are next to the plot.
        y: best(canvas, 0, 0, left - 6 * scale, bottom),
        x: best(canvas, left, bottom + 6 * scale, canvas.width - left, canvas.height - bottom - 6 * scale),
      };
    });
  });
}
