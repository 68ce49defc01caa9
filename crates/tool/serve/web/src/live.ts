/** The page of a running experiment: one stream of events, closed while the page is hidden. */
import type { Series, Shade } from "./chart";
import { mount } from "./charts";
import { all, byId, element } from "./elements";
import { figure } from "./quantity";

type Metric = "per_s" | "p50_ns" | "p99_ns" | "lag_ns";
/** One second; `at_s` is its end since the step's start. */
interface Second extends Record<Metric, number | null> {
  run: string; step: string; at_s: number; invalid: string | null; is_warmup: boolean;
}
interface Progress {
  done: number; planned: number; left_s: number | null; run: string | null; step: string | null;
}
interface Run { id: string; end: string; is_complete: boolean }
interface Verdict { label: string; headline: string; sentences: string[]; is_preliminary: boolean }
interface Snapshot extends Progress { seconds: Second[]; runs: Run[]; verdict: Verdict | null }

const NAMES = { per_s: "throughput", p50_ns: "p50", p99_ns: "p99", lag_ns: "start lag" };
/** Seconds of a step that are drawn: more than a day. */
const ROOM = 100_000;
const MOST_LOGGED = 200;
/** After an answer that is no stream the browser does not try again by itself. */
const AGAIN_MS = 5_000;

/** Returns the line of one metric, in arrays that are allocated before they are needed. */
function growing(metric: Metric) {
  const [places, values] = [new Float64Array(ROOM), new Float64Array(ROOM)];
  const series: Series = { name: NAMES[metric], group: NAMES[metric], x: [], y: [] };
  const show = (count: number) =>
    Object.assign(series, { x: places.subarray(0, count), y: values.subarray(0, count) });
  const push = (second: Second) => {
    const [value, count] = [second[metric], series.x.length];
    if (value === null) return;
    [places[count], values[count]] = [second.at_s, value];
    show(count + 1);
  };
  return { series, show, push };
}

/** Draws a chart that grows by seconds. */
function liveChart(host: HTMLElement) {
  const metric = host.dataset.metric as Metric;
  const metrics: Metric[] = metric === "p99_ns" ? ["p99_ns", "p50_ns"] : [metric];
  const lines = metrics.map(growing);
  const shades: Shade[] = [];
  let end = 0;
  host.dataset.sync ??= "live";
  const plot = mount(host, {
    title: host.querySelector("h3")?.textContent ?? NAMES[metric],
    x: { label: "since the start of the step", unit: "s", scale: "linear" },
    y: { label: "", unit: metric === "per_s" ? "per_s" : "ns", scale: "linear" },
    series: lines.map(({ series }) => series), shades, marks: [],
  });
  const clear = () => {
    lines.forEach((line) => line.show(0));
    shades.length = end = 0;
    plot.zoom(null);
  };
  const push = (second: Second) => {
    const { at_s: to, invalid, is_warmup } = second;
    lines.forEach((line) => line.push(second));
    const why = invalid === null ? "warm-up, not counted" : `invalid: ${invalid}`;
    if (invalid !== null || is_warmup) shades.push({ from: end, to, group: "", why });
    end = to;
  };
  return { clear, push, refresh: () => plot.refresh() };
}

/** Follows the experiment of this page, if it has one that runs. */
export function followExperiment(): void {
  const main = document.querySelector<HTMLElement>("main[data-events]");
  if (!main) return;
  const charts = all("figure.live").map(liveChart);
  const connection = byId("connection") ?? main.appendChild(element("p", { id: "connection" }));
  let source: EventSource | null = null;
  let [again, isOver, step] = [0, false, ""];
  const push = (second: Second) => {
    const its = `${second.run}, ${second.step}`;
    if (its !== step) charts.forEach((chart) => chart.clear());
    step = its;
    charts.forEach((chart) => chart.push(second));
    const { at_s, invalid } = second;
    if (invalid !== null) log(`${its}, ${figure("s", at_s)}: invalid second: ${invalid}`, "warn");
  };
  const actions = {
    run, progress, verdict,
    snapshot(now: Snapshot) {
      byId("log")!.replaceChildren();
      charts.forEach((chart) => chart.clear());
      progress(now);
      now.runs.forEach(run);
      now.seconds.forEach(push);
      if (now.verdict) verdict(now.verdict);
      charts.forEach((chart) => chart.refresh());
    },
    second(second: Second) {
      push(second);
      charts.forEach((chart) => chart.refresh());
    },
    end() {
      isOver = true;
      close();
      const reload = element("a", { href: location.href }, "Load the finished page");
      connection.replaceChildren("The experiment has ended. ", reload);
    },
  };
  // A browser has few connections per host: a hidden page occupies none.
  const close = () => {
    clearTimeout(again);
    source?.close();
    source = null;
  };
  const follow = () => {
    if (document.hidden || isOver) return close();
    if (source) return;
    const opened = (source = new EventSource(main.dataset.events!));
    for (const [kind, action] of Object.entries(actions) as [string, (data: any) => void][]) {
      opened.addEventListener(kind, ({ data }) => action(JSON.parse(data)));
    }
    opened.onopen = () => connection.replaceChildren();
    opened.onerror = () => {
      connection.textContent = "The connection is lost. The page reconnects by itself.";
      if (opened.readyState !== EventSource.CLOSED) return;
      close();
      again = window.setTimeout(follow, AGAIN_MS);
    };
  };
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", close);
  addEventListener("pageshow", follow);
  follow();
}

function run({ id, end, is_complete }: Run): void {
  log(is_complete ? `${id} is complete` : `${id} ended early: ${end}`, is_complete ? "" : "warn");
}

function progress({ done, planned, left_s, run, step }: Progress): void {
  const left = left_s === null ? "" : `, about ${duration(left_s)} left`;
  write("progress", `${done} of ${planned} runs are done${left}`);
  write("now", [run, step].filter(Boolean).join(" \u00b7 "));
  Object.assign(byId("bar")!, { max: Math.max(1, planned), value: done });
}

function verdict({ label, headline, sentences, is_preliminary }: Verdict): void {
  const place = write("label", is_preliminary ? `${label} (preliminary)` : label);
  place.className = `verdict ${label.toLowerCase()}`;
  const lines = [element("strong", {}, headline), ...sentences];
  byId("verdict")!.replaceChildren(...lines.map((line) => element("li", {}, line)));
}

function log(text: string, className = ""): void {
  const list = byId("log")!;
  list.prepend(element("li", { className }, text));
  while (list.children.length > MOST_LOGGED) list.lastElementChild!.remove();
}

/** Changes a text; what stays the same is not read out again. */
function write(id: string, text: string): HTMLElement {
  const place = byId(id)!;
  if (place.textContent !== text) place.textContent = text;
  return place;
}

function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds / 60) % 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
}
