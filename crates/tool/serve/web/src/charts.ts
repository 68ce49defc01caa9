/** Figures of a page: the static picture gives way to a chart once it comes near the window. */
import { type Chart, placed } from "./chart";
import { all, button, element, request } from "./elements";
import { listenToKeys, listenToPointers } from "./gestures";
import { lineList } from "./lines";
import { storePng, storeSvg } from "./pictures";
import { Plot } from "./plot";

const KEYS = "Arrow keys move the cursor, up and down change the line, plus and minus zoom, " +
  "0 resets the zoom, Home and End go to its ends, Enter opens a mark at the cursor";

/** Puts a chart with its tools in the place of the figure's static picture. */
export function mount(figure: HTMLElement, received: Chart): Plot {
  const chart = placed(received);
  const host = element("div", { className: "canvas", tabIndex: 0, role: "application" });
  host.ariaLabel = `${chart.title}. ${KEYS}`;
  host.ariaRoleDescription = "chart";
  figure.insertBefore(host, figure.querySelector(":scope > .static, :scope > details"));
  figure.classList.add("drawn");
  const plot = new Plot(host, chart, figure.dataset.sync);
  const lines = lineList(plot);
  // Screen readers announce each step of the keys, and not each move of the mouse.
  const reading = element("output", { className: "reading", ariaLive: "off" });
  host.onfocus = () => (reading.ariaLive = "polite");
  host.onblur = () => (reading.ariaLive = "off");
  plot.onRead = (read) => {
    reading.textContent = read?.text ?? "";
    lines.write(read);
  };
  listenToKeys(plot);
  listenToPointers(plot);
  host.before(tools(figure, plot));
  host.after(reading, plot.heat?.legend() ?? "", chart.series.length > 1 ? lines.root : "");
  return plot;
}

function tools(figure: HTMLElement, plot: Plot): HTMLElement {
  const name = figure.id || "chart";
  const bar = element("div", { className: "tools", role: "group" });
  bar.ariaLabel = `Tools of ${plot.chart.title}`;
  bar.append(button("Reset zoom", () => plot.zoom(null)));
  const log = button("Logarithmic", () => {
    plot.setLog(!plot.isLog);
    log.ariaPressed = String(plot.isLog);
  });
  log.ariaPressed = String(plot.isLog);
  bar.append(plot.heat ? "" : log, button("PNG", () => storePng(plot, name)));
  const svg = figure.querySelector<SVGSVGElement>(".static svg");
  if (svg) bar.append(button("SVG", () => storeSvg(svg, name)));
  return bar;
}

/** Draws the page's charts as they come near the window. */
export function drawFigures(): void {
  const observer = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter(({ isIntersecting }) => isIntersecting)) {
      observer.unobserve(target);
      void draw(target as HTMLElement);
    }
  }, { rootMargin: "400px" });
  all("figure[data-chart]").forEach((figure) => observer.observe(figure));
}

async function draw(figure: HTMLElement): Promise<void> {
  try {
    const chart = await request<Chart>(figure.dataset.chart!);
    const hasPoints = chart.series.some(({ y }) => Array.from(y).some((one) => one !== null));
    if (hasPoints || chart.heat?.columns.length) return void mount(figure, chart);
    const text = /^(percentiles|heat)-/.test(figure.id)
      ? "No counted interval of this step has a latency." : "There is nothing to draw.";
    figure.querySelector(".static")?.replaceChildren(element("p", { className: "note" }, text));
  } catch (error) {
    const note = element("p", { className: "note", role: "status" },
      `This picture stays as it is, without zoom and cursor: ${(error as Error).message}.`);
    figure.querySelector(".static")?.after(note);
  }
}
