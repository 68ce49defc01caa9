// A small site with one page for each part of the contract between pages and script.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const WEB = new URL("..", import.meta.url);
const STYLES = new URL("../../../report/render/src/", WEB);
/** The site's place behind a proxy: pages use relative addresses only. */
const PREFIX = "/bench/assay/";
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

/** Returns numbers from 0 to 1 that are the same in each run. */
function random(seed) {
  let state = seed;
  return () => ((state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648);
}

function line(name, group, count, level, noise) {
  const next = random(level + name.length);
  const x = Array.from({ length: count }, (_, at) => at + 0.5 + 0.001 * next());
  const wave = (at) => 1 + 0.15 * Math.sin(at / (count / 12)) + noise * (next() - 0.5);
  return { name, group, x, y: x.map((_, at) => (at % 97 === 40 ? null : level * wave(at))) };
}

const axis = (label, unit, scale = "linear") => ({ label, unit, scale });

/** Quantiles up to 99.999 %. */
const QUANTILES = Array.from({ length: 240 }, (_, at) => 1 - 10 ** (-at / 48));

const CHARTS = {
  seconds: () => ({
    title: "Throughput, second by second",
    x: axis("since the start of the step", "s"), y: axis("operations per second", "per_s"),
    series: [line("rocksdb-11.8 r1", "rocksdb", 600, 182_000, 0.1),
      line("rocksdb-11.8 r2", "rocksdb", 590, 176_000, 0.1), line("lmdb r1", "lmdb", 600, 540_000, 0.05)],
    shades: [{ from: 0, to: 30, group: "rocksdb", why: "warm-up, not counted" },
      { from: 210, to: 216, group: "rocksdb", why: "invalid: the client was late: 12 ms of start lag" }],
    marks: [],
  }),
  responses: () => ({
    title: "Longest response time, second by second",
    x: axis("since the start of the step", "s"), y: axis("response time", "ns", "log"),
    series: [line("rocksdb-11.8 r1", "rocksdb", 600, 3_400_000, 1.5),
      line("lmdb r1", "lmdb", 600, 210_000, 1.2)], shades: [], marks: [],
  }),
  percentiles: () => ({
    title: "Distribution of response times",
    x: axis("share of the operations", "percentile"), y: axis("response time", "ns", "log"),
    series: [["rocksdb-11.8", 80_000], ["lmdb", 9_000]].map(([name, level]) => {
      const y = QUANTILES.map((q) => level * (1 - Math.log10(1 - q + 1e-12)) ** 2.2);
      return { name, group: name, x: [...QUANTILES, 1], y: [...y, y.at(-1) * 2],
        low: [...y.map((value) => value * 0.8), null], high: [...y.map((value) => value * 1.3), null] };
    }),
    shades: [], marks: [],
  }),
  history: () => ({
    title: "Throughput of readrandom over time",
    x: axis("", "time"), y: axis("operations per second", "per_s"),
    series: [{ name: "rocksdb", group: "rocksdb", x: Array.from({ length: 24 }, (_, at) => 1.76e9 + at * 604_800),
      y: Array.from({ length: 24 }, (_, at) => 171_000 + 900 * Math.sin(at * 2) - (at > 13 ? 9_000 : 0)) }],
    shades: [], marks: [{ x: 1.76e9 + 6 * 604_800, text: "release 10.2" }, { x: 1.76e9 + 14 * 604_800, text: "change: -5.3 %", href: "#change-0-0" }],
  }),
  heat: () => {
    const next = random(7);
    const rows = Array.from({ length: 301 }, (_, at) => 1_000 * 1.035 ** at);
    const columns = Array.from({ length: 900 }, (_, at) => at);
    const counts = columns.flatMap((at) => rows.slice(1).map((row) => {
      const centre = 85_000 * (1 + 0.4 * Math.sin(at / 60)) * (at % 180 > 170 ? 12 : 1);
      return Math.floor(4_000 * Math.exp(-((Math.log(row / centre) / 0.35) ** 2)) * (0.7 + 0.6 * next()));
    }));
    return { title: "Response times over time", x: axis("since the start of the step", "s"),
      y: axis("response time", "ns", "log"), series: [], shades: [], marks: [],
      heat: { columns, column_width: 1, rows, counts } };
  },
  scaling: () => ({
    title: "Throughput by number of clients", x: axis("clients", "count", "log"), y: axis("operations per second", "per_s"),
    series: ["rocksdb", "lmdb"].map((name, at) => ({ name, group: name, x: [1, 2, 4, 8, 16, 32, 64],
      y: [1, 1.9, 3.6, 6.1, 8.9, 9.7, 9.1].map((by) => by * 14_000 * (at + 1)) })),
    shades: [], marks: [{ x: 16, text: "CPUs: 16" }],
  }),
  empty: () => ({ title: "Empty", x: axis("", "s"), y: axis("", "ns"), series: [], shades: [], marks: [] }),
  many: () => ({
    title: "200 runs", x: axis("since the start of the step", "s"), y: axis("operations per second", "per_s"),
    series: Array.from({ length: 200 }, (_, at) =>
      line(`engine-${at % 9} r${Math.floor(at / 9)}`, `engine-${at % 9}`, 1_000, 50_000 + 2_000 * at, 0.2)),
    shades: [], marks: [],
  }),
  long: () => ({
    title: "100,000 points", x: axis("since the start of the step", "s"), y: axis("bytes written", "bytes"),
    series: [line("innodb", "innodb", 100_000, 3 * 2 ** 20, 0.9)], shades: [], marks: [],
  }),
};

const figure = (kind, title, sync = "", id = `${kind}-1`) => `<figure class="chart" id="${id}" data-chart="chart?kind=${kind}" ${sync && `data-sync="${sync}"`}>
<h3>${title}</h3><figcaption>How to read it.</figcaption>
<div class="static"><svg class="plot" viewBox="0 0 1060 120" role="img" aria-label="${title}"><text x="4" y="20" class="head">static</text>
<line x1="40" y1="100" x2="1050" y2="100" class="grid"/><polyline points="40,90 300,30 600,70 1050,20" class="second" stroke="#0072B2"/></svg></div>
<details><summary>Table</summary><div class="wide"><table><thead><tr><th>s</th><th>per s</th></tr></thead><tbody><tr><th>1</th><td>2</td></tr></tbody></table></div></details></figure>`;

const page = (title, body, main = "<main>") => `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/report.css"><link rel="stylesheet" href="assets/app.css"><script src="assets/app.js" defer></script></head>
<body><nav aria-label="Pages"><a href="./" aria-current="page">Archive</a><a href="experiment">Experiment</a><a href="many">Compare</a><a href="live">Now</a><a href="edit">Run</a></nav>
${main}<h1>${title}</h1>${body}</main><footer>assay 1.0</footer></body></html>`;

const ROWS = [["quickstart", 251_000, "1.04", "better"], ["readrandom-night", 9_400, "0.35", "worse"],
  ["insert benchmark", 88_000, "1.00", ""], ["linkbench", 1_200_000, "", "none"]];

const LIVE = `<p id="progress"></p><progress id="bar" aria-label="Runs"></progress><p id="now"></p><p id="label" class="verdict"></p>
<ul id="verdict" class="sentences"></ul><p id="connection" role="status"></p>
${["per_s", "p99_ns", "lag_ns"].map((metric, at) => `<figure class="live" id="live-${metric}" data-metric="${metric}"><h3>${["Throughput", "Response time", "Start lag"][at]}</h3></figure>`).join("")}
<h2>Log</h2><ol id="log" tabindex="0" aria-label="Log"></ol>`;
const CONTROLS = `<div class="tools" id="replay" role="group" aria-label="Replay" data-replay="replay.json" hidden>
<button type="button">Play</button><select aria-label="Speed">${[1, 10, 60, 600].map((speed) => `<option value="${speed}">${speed}x</option>`).join("")}</select>
<input type="range" min="0" step="any" aria-label="Time since the first run"><span id="time"></span></div>`;

const PAGES = {
  "": (query) => page("Archive", `
<form data-filter><label>Search <input type="search" name="search" value="${query.get("search") ?? ""}"></label>
<label>Engine <select name="engine"><option value="">all</option><option>rocksdb</option></select></label><button>Filter</button></form>
<p class="note">${query.get("search") ? "1 of 4 shown; 3 hidden by the filter, 1 of them worse." : "4 experiments."}</p>
<div class="wide"><table data-sort><thead><tr><th>experiment</th><th>per s</th><th>ratio</th></tr></thead><tbody>${ROWS.filter(([name]) =>
    name.includes(query.get("search") ?? "")).map(([name, value, ratio, state]) =>
    `<tr><th><a href="experiment">${name}</a></th><td data-value="${value}">${Math.round(value / 1e3)} k</td><td class="${state}">${ratio}</td></tr>`).join("")}</tbody></table></div>`),
  experiment: (query) => page("readrandom on three engines", `<p class="kicker">results/readrandom/20261127T022804Z-ea7c</p>
<p class="verdict truthy">TRUTHY: usable, with 2 warnings</p><ul class="sentences"><li>rocksdb-11.8 is 1.09 times as fast as rocksdb-9.10 [1.04, 1.13].</li><li class="warn"><a href="#warnings">2 warnings</a></li></ul>
<form data-auto><label>Base <select name="base"><option value="">rocksdb-9.10</option><option${query.get("base") ? " selected" : ""}>lmdb</option></select></label>
<fieldset><legend>Steps</legend><label><input type="checkbox" name="step" value="1"> fillunique</label><label><input type="checkbox" name="step" value="2"> readrandom</label></fieldset><button>Show</button></form>
<div class="wide"><table><thead><tr><th>variant</th>${"<th>a long heading of a metric</th>".repeat(9)}</tr></thead><tbody><tr><th>rocksdb-11.8-universal</th>${"<td class=better>189 k 1.09</td><td class=worse>44 k 0.92</td><td>3.3</td>".repeat(3)}</tr></tbody></table></div>
<pre>assay run readrandom --resume quick-readrandom --repetitions 3 --variant "8.0 + innodb_log_writer_threads=OFF"</pre>
<h2>Time</h2>${figure("seconds", "Throughput, second by second", "time")}${figure("responses", "Longest response time", "time")}${figure("heat", "Response times over time", "time")}
<h2>Distribution</h2>${figure("percentiles", "Distribution of response times")}<h2>History</h2>${figure("history", "Throughput of readrandom over time")}
<ul class="sentences" aria-label="Marks"><li><a href="#change-0-0">change: -5.3 %</a></li></ul><section id="change-0-0"><p>A change</p></section>
<dl class="facts"><div><dt>host</dt><dd>2 x Xeon 2.6 GHz, 24 GiB</dd></div><div><dt>file system</dt><dd>ext4 on virtio NVMe</dd></div></dl>`),
  many: () => page("Compare anything", figure("many", "200 runs") + figure("long", "100,000 points") + figure("scaling", "Throughput by number of clients")),
  empty: () => page("Empty", ["heat-0", "percentiles-0", "seconds-0"].map((id) => figure("empty", "Empty", "", id)).join("")),
  broken: () => page("Broken", figure("missing", "A chart without data")),
  live: () => page("Now", `${LIVE}<form class="buttons" method="post" action="stop"><button>Stop after this run</button></form>`, `<main data-events="events">`),
  replay: () => page("Replay", CONTROLS + LIVE),
  edit: () => page("New experiment", `<form method="post" action="start"><label for="file">Experiment file</label>
<textarea id="file" data-check="check" name="file" spellcheck="false">name = "mine"\n\n[[step]]\nkind = "readrandom"\nmax_backgroud_jobs = 4\n</textarea>
<ol id="errors"></ol><pre id="plan"></pre><button id="start">Start</button></form>`),
};

function second(at) {
  const isInvalid = at % 17 === 9 || at % 17 === 10;
  return { run: "rocksdb-11.8.r2", step: "readrandom", at_s: at, per_s: 170_000 + 30_000 * Math.sin(at / 5), p50_ns: 85_000 + 200 * at,
    p99_ns: 900_000 + 100_000 * Math.cos(at / 3), lag_ns: isInvalid ? 9_000_000 : 40_000, invalid: isInvalid ? "the client was late" : null, is_warmup: at <= 5 };
}

const progress = (done) => ({ done, planned: 24, left_s: 130, run: "rocksdb-11.8.r2", step: "readrandom" });
const verdict = (headline) => ({ label: "truthy", headline, sentences: ["lmdb reads 3.5 times as fast."], is_preliminary: true });

/** Returns the events of two runs of 100 seconds each; the second begins 20 seconds after the first has ended. */
export function recording() {
  const runs = ["lmdb.r1", "rocksdb-11.8.r1"];
  const state = (done, run, step) => ({ done, planned: 2, left_s: done < 2 ? 130 : 0, run, step });
  const events = [{ at_s: 0, kind: "snapshot", data: { ...state(0, null, null), seconds: [], runs: [], verdict: null } }];
  runs.forEach((run, place) => {
    const add = (seconds, kind, data) => events.push({ at_s: 120 * place + seconds, kind, data });
    add(0, "progress", state(place, run, null));
    for (let at = 1; at <= 100; at += 1) add(at, "second", { ...second(at), run });
    add(100, "run", { id: run, end: "complete", is_complete: true });
    add(100, "progress", state(place + 1, null, null));
    if (place === 1) add(100, "verdict", verdict("rocksdb-11.8 is </script><b>twice</b> as fast."));
  });
  return events;
}

/** Returns the replay as one file, as the server makes it: style sheets, script and events are in the page. */
export async function replayFile() {
  const [report, style, script] = await Promise.all(["report.css", "app.css", "app.js"].map(async (name) => String(await asset(name))));
  const events = JSON.stringify(recording()).replaceAll("<", "\\u003c");
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Replay</title><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<style>${report}${style}</style></head><body class="site"><main><h1>Replay</h1>${CONTROLS}${LIVE}
<script type="application/json" id="recording">${events}</script></main><script>${script}</script></body></html>`;
}

/** Sends a snapshot and then one second each 100 ms; after `ends` of them the experiment is over. */
function stream(response, ends) {
  const send = (kind, data) => response.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  let at = 40;
  send("snapshot", { experiment: "quickstart", id: "x", ...progress(11), seconds: Array.from({ length: at }, (_, i) => second(i + 1)),
    runs: [{ id: "lmdb.r1", end: "complete", is_complete: true }, { id: "redb.r1", end: "timed out", is_complete: false }], verdict: verdict("Nothing is decided yet.") });
  const timer = setInterval(() => {
    send("second", second((at += 1)));
    if (at === 44) send("verdict", verdict("rocksdb-11.8 is 1.09 times as fast."));
    if (at === 45) send("run", { id: "rocksdb-11.8.r2", end: "complete", is_complete: true });
    if (at === 46) send("progress", progress(12));
    if (at - 40 === ends) send("end", {});
  }, 100);
  response.on("close", () => clearInterval(timer));
}

function check(text) {
  const at = text.split("\n").findIndex((one) => one.includes("backgroud"));
  const errors = at < 0 ? [] : [{ line: at + 1, column: 1, message: "unknown option `max_backgroud_jobs`", help: "did you mean `max_background_jobs`?" }];
  return { errors, plan: errors.length ? "" : "24 runs of 3 variants" };
}

const asset = async (name) => name === "report.css"
  ? (await readFile(new URL("html/page.css", STYLES), "utf8")) + (await readFile(new URL("plot/plot.css", STYLES), "utf8"))
  : readFile(new URL(`dist/${name}`, WEB));

/** Starts the site; returns its base address, its open streams and how to stop it. */
export async function startSite() {
  const site = { streams: new Set(), ends: Infinity, started: [] };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://x");
    const name = pathname.startsWith(PREFIX) ? pathname.slice(PREFIX.length) : null;
    const answer = (type, body, status = 200) => {
      response.writeHead(status, { "Content-Type": type, "Content-Security-Policy": POLICY });
      response.end(body);
    };
    const json = (value) => answer("application/json", JSON.stringify(value));
    if (name === "events") {
      site.streams.add(response);
      response.on("close", () => site.streams.delete(response));
      return stream(response, site.ends);
    }
    if (name === "replay.json") return json(recording());
    if (name === "chart" && CHARTS[searchParams.get("kind")]) return json(CHARTS[searchParams.get("kind")]());
    if (request.method === "POST") {
      let body = "";
      for await (const part of request) body += part;
      if (name === "check") return json(check(body));
      site.started.push(body);
      return answer("text/html", page("Started", ""));
    }
    if (name?.startsWith("assets/")) {
      const type = name.endsWith(".css") ? "text/css" : "text/javascript";
      return answer(type, await asset(name.slice("assets/".length)));
    }
    if (name !== null && PAGES[name]) return answer("text/html", PAGES[name](searchParams));
    return answer("text/plain", "not found", 404);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  site.base = `http://127.0.0.1:${server.address().port}${PREFIX}`;
  site.pages = Object.keys(PAGES).filter((name) => name !== "broken").map((name) => site.base + name);
  site.stop = () => new Promise((done) => {
    server.closeAllConnections();
    server.close(done);
  });
  return site;
}
