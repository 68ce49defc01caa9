// Each page in both sizes and schemes: of the site at ASSAY_SITE, or of the fixtures.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { after, before, test } from "node:test";
import { axisContrasts, load, VIEWS, openBrowser, openPage, scrollsSideways, seriousFindings,
  unreadCharts } from "./browser.mjs";
import { startSite } from "./fixtures.mjs";

/** Folder of screenshots, if they are wanted. */
const PICTURES = process.env.ASSAY_PICTURES;
/** Most pages of a real site that are visited. */
const MOST = 16;

let browser, site, addresses;

before(async () => {
  browser = await openBrowser();
  if (process.env.ASSAY_SITE) {
    addresses = await crawl(process.env.ASSAY_SITE);
  } else {
    site = await startSite();
    addresses = site.pages;
  }
  if (PICTURES) await mkdir(PICTURES, { recursive: true });
});

after(async () => {
  await browser?.close();
  await site?.stop();
});

/** Returns the pages below an address that links reach, one per kind of address first. */
async function crawl(base) {
  const page = await openPage(browser);
  const known = [new URL(base).href];
  for (let at = 0; at < known.length && known.length < MOST; at += 1) {
    await load(page, known[at]);
    const links = await page.$$eval("a[href]:not([download])", (all) => all.map((link) => link.href));
    for (const link of links.map((one) => one.split("#")[0])) {
      const isFile = /\.(csv|md|svg|json|txt)$/.test(link.split("?")[0]);
      if (link.startsWith(base) && !isFile && !known.includes(link)) known.push(link);
    }
  }
  await page.close();
  return known.slice(0, MOST);
}

for (const { width, scheme } of VIEWS) {
  test(`pages are sound at ${width} px in the ${scheme} scheme`, async () => {
    for (const [at, address] of addresses.entries()) {
      const page = await openPage(browser, { width, scheme });
      await load(page, address);
      assert.deepEqual(await seriousFindings(page), [], address);
      assert.equal(await scrollsSideways(page), false, `${address} scrolls sideways`);
      for (const { chart, x, y } of await axisContrasts(page)) {
        assert.ok(x >= 4.5 && y >= 4.5, `${address} ${chart}: contrast ${x.toFixed(1)} and ${y.toFixed(1)}`);
      }
      assert.deepEqual(await unreadCharts(page), [], address);
      if (PICTURES) {
        const name = `${at}-${new URL(address).pathname.split("/").pop() || "index"}-${width}-${scheme}.png`;
        await page.screenshot({ path: `${PICTURES}/${name}`, fullPage: true });
      }
      assert.deepEqual(page.problems, [], address);
      await page.close();
    }
  });
}

test("pages work without script", async () => {
  for (const address of addresses) {
    const page = await openPage(browser, { width: 390 });
    await page.setJavaScriptEnabled(false);
    page.home = new URL(address).host;
    await page.goto(address);
    assert.equal(await scrollsSideways(page), false, `${address} scrolls sideways`);
    const hidden = await page.$$eval("figure[data-chart] > .static svg, form button", (all) =>
      all.filter((one) => !one.checkVisibility() && !one.closest("details")).map((one) => one.outerHTML.slice(0, 99)));
    assert.deepEqual(hidden, [], address);
    assert.deepEqual(page.problems, [], address);
    await page.close();
  }
});
