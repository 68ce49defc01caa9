// Quantities as `render` writes them, places on the axis of percentiles, searches in columns.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { build } from "esbuild";

async function source(name) {
  const entry = fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: "esm", write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

const { figure, labels, percentile, percentileMarks, rounded } = await source("quantity");
const { lowerBound, nearest, placed, span } = await source("chart");

test("quantities are written as in the reports", () => {
  const rates = [251_342, 999_700, 88.04, 9.996, 1.041, 0.354, 0.035, 0.0004, 0, -0.000_5, 1e12, -1e50];
  assert.deepEqual(rates.map((value) => figure("per_s", value)), ["251 k", "1.00 M", "88.0", "10.0", "1.04", "0.35",
    "0.035", "4.00e-4", "0", "-5.00e-4", "1000 G", "-1.00e50"]);
  const times = [[14_120, "14.1 \u00b5s"], [250, "250 ns"], [85_000, "85.0 \u00b5s"], [3.4e6, "3.40 ms"]];
  for (const [value, text] of times) assert.equal(figure("ns", value), text);
  assert.equal(figure("s", 1.9), "1.90 s");
  assert.equal(figure("us", 14.12), "14.1 \u00b5s");
  assert.equal(figure("bytes", 2_097_152), "2.00 MiB");
  assert.equal(figure("kib", 2_048), "2.00 MiB");
  assert.equal(figure("celsius", 41.5), "41.5");
  assert.equal(figure("share", 0.123), "12.3 %");
  assert.equal(figure("time", 0), "1970-01-01 00:00");
  assert.deepEqual(["per_s", "ns", "count", "count", "count"].map((unit, at) =>
    rounded(unit, [50_000, 1e6, 2, 100, 1e-10][at])), ["50 k", "1 ms", "2", "100", "1e-10"]);
});

test("labels of an axis share a scale and keep apart", () => {
  assert.deepEqual(labels("per_s", [0, 50_000, 100_000], 50_000), ["0", "50 k", "100 k"]);
  assert.deepEqual(labels("ns", [0, 250_000, 1e6], 250_000), ["0", "0.25 ms", "1.00 ms"]);
  assert.deepEqual(labels("per_s", [41_250, 41_500], 250), ["41.25 k", "41.50 k"]);
  assert.deepEqual(labels("bytes", [2 ** 20, 3 * 2 ** 20], 2 ** 20), ["1 MiB", "3 MiB"]);
  assert.deepEqual(labels("time", [1.76e9, 1.76e9 + 86_400], 86_400), ["2025-10-09", "2025-10-10"]);
});

test("percentiles lie on their nines", () => {
  const marks = (...args) => percentileMarks(...args).map((mark) => percentile(mark));
  assert.deepEqual(marks(0, 4, 300), ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
  assert.deepEqual(marks(0, 2, 400), ["0 %", "50 %", "80 %", "90 %", "95 %", "98 %", "99 %"]);
  assert.deepEqual(marks(1.9, 2.2, 400), ["99 %", "99.1 %", "99.2 %", "99.3 %"]);
  assert.equal(figure("percentile", 3.15), "99.929 %");
  const chart = placed({ x: { unit: "percentile" }, series: [{ x: [0, 0.9, 0.99, 1], y: [1, 2, 3, 4] }] });
  assert.deepEqual(chart.series[0].x.map((place) => place.toFixed(6)), ["0.000000", "1.000000", "2.000000"].map((text, at) =>
    at === 0 ? chart.series[0].x[0].toFixed(6) : text));
});

test("searches find neighbours at both ends and in nothing", () => {
  const values = [1, 2, 4, 8];
  assert.deepEqual([0, 1, 3, 9].map((one) => lowerBound(values, one)), [0, 0, 2, 4]);
  assert.deepEqual([0, 1.4, 3.1, 6, 9].map((one) => nearest(values, one)), [0, 0, 2, 3, 3]);
  assert.deepEqual(span(values, { min: 2.5, max: 3 }), [1, 2]);
  assert.deepEqual(span(values, { min: -5, max: 99 }), [0, 3]);
  assert.deepEqual([lowerBound([], 1), nearest([], 1), span([], { min: 0, max: 1 })], [0, 0, [0, -1]]);
});
