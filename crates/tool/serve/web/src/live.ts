/** The page of an experiment that runs, by one stream of events, or whose runs are replayed. */
import type { Shade } from "./chart";
import { mount } from "./charts";
import { all, byId, element } from "./elements";
import { duration, figure } from "./quantity";
import { type Actions, replay } from "./replay";

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
const MOST_LOGGED = 200;
/** After an answer that is no stream the browser does not try again by itself. */
const AGAIN_MS = 5_000;
const NONE = { label: "none yet", headline: "No run has ended.", sentences: [],
  is_preliminary: false };

/** Draws a chart that grows by seconds. */
function liveChart(host: HTMLElement) {
  const metric = host.dataset.metric as Metric;
  const metrics: Metric[] = metric === "p99_ns" ? ["p99_ns", "p50_ns"] : [metric];
  const series = metrics.map((of) =>
    ({ of, name: NAMES[of], group: NAMES[of], x: [] as number[], y: [] as (number | null)[] }));
  const shades: Shade[] = [];
  host.dataset.sync ??= "live";
  const plot = mount(host, {
    title: host.querySelector("h3")?.textContent ?? NAMES[metric],
    x: { label: "since the start of the step", unit: "s", scale: "linear" },
    y: { label: "", unit: metric === "per_s" ? "per_s" : "ns", scale: "linear" },
    series, shades, marks: [],
  });
  const clear = () => {
    for (const values of [shades, ...series.flatMap(({ x, y }) => [x, y])]) values.length = 0;
    plot.zoom(null);
    host.hidden = metric === "lag_ns";
  };
  const push = (second: Second) => {
    const { at_s: to, invalid, is_warmup } = second;
    const from = series[0]!.x.at(-1) ?? 0;
    const why = invalid === null ? "warm-up, not counted" : `invalid: ${invalid}`;
    if (invalid !== null || is_warmup) shades.push({ from, to, group: "", why });
    series.forEach(({ x, y, of }) => (x.push(to), y.push(second[of])));
    if (second[metric] !== null) host.hidden = false;
  };
  clear();
  return { clear, push, refresh: () => plot.refresh() };
}

/** Shows the experiment of this page, while it runs or again. */
export function watchExperiment(): void {
  const main = document.querySelector<HTMLElement>("main[data-events]");
  const replayed = byId("replay");
  if (!main && !replayed) return;
  const charts = all("figure.live").map(liveChart);
  const refresh = () => charts.forEach((chart) => chart.refresh());
  let step = "";
  const second = (second: Second) => {
    const its = `${second.run}, ${second.step}`;
    if (its !== step) charts.forEach((chart) => chart.clear());
    step = its;
    charts.forEach((chart) => chart.push(second));
    const { at_s, invalid } = second;
    if (invalid !== null) log(`${its}, ${figure("s", at_s)}: invalid second: ${invalid}`, "warn");
  };
  const snapshot = (now: Snapshot) => {
    byId("log")!.replaceChildren();
    charts.forEach((chart) => chart.clear());
    progress(now);
    now.runs.forEach(run);
    now.seconds.forEach(second);
    verdict(now.verdict ?? NONE);
  };
  const actions: Actions = { run, progress, verdict, second, snapshot };
  if (main) follow(main.dataset.events!, actions, refresh);
  if (replayed) replay(replayed, actions, refresh).catch((error: Error) =>
    write("connection", `The replay cannot be loaded: ${error.message}.`));
}

/** Opens the stream of events while the page is visible. */
function follow(address: string, actions: Actions, refresh: () => void): void {
  const connection = byId("connection")!;
  let source: EventSource | null = null;
  let [again, isOver] = [0, false];
  // A browser has few connections per host: a hidden page occupies none.
  const close = () => {
    clearTimeout(again);
    source?.close();
    source = null;
  };
  const end = () => {
    isOver = true;
    close();
    all("form.buttons").forEach((form) => (form.hidden = true));
    const reload = element("a", { href: location.href }, "Load the finished page");
    connection.replaceChildren("The experiment has ended. ", reload);
  };
  const open = () => {
    if (document.hidden || isOver) return close();
    if (source) return;
    const opened = (source = new EventSource(address));
    for (const [kind, action] of Object.entries<Actions[string]>({ ...actions, end })) {
      opened.addEventListener(kind, ({ data }) => (action(JSON.parse(data)), refresh()));
    }
    opened.onopen = () => connection.replaceChildren();
    opened.onerror = () => {
      connection.textContent = "The connection is lost. The page reconnects by itself.";
      if (opened.readyState !== EventSource.CLOSED) return;
      close();
      again = window.setTimeout(open, AGAIN_MS);
    };
  };
  document.addEventListener("visibilitychange", open);
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
}

function run({ id, end, is_complete }: Run): void {
  log(is_complete ? `${id} is complete` : `${id} ended early: ${end}`, is_complete ? "" : "warn");
}

function progress({ done, planned, left_s, run, step }: Progress): void {
  const left = left_s === null || left_s < 1 ? "" : `, about ${duration(left_s)} left`;
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
