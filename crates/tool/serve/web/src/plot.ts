/** One chart in a canvas: uPlot with zoom and cursor that the plots of a group share. */
import uPlot from "uplot";
import { axis } from "./axes";
import { type Chart, clamp, type Mark, nearest, type Range, type Series, span } from "./chart";
import { colour, scheme, type Stroke, strokes } from "./colours";
import { element } from "./elements";
import { HeatMap } from "./heat";
import { drawBands, drawDots, drawMarks, drawShades, layer, linePath } from "./layers";
import { figure } from "./quantity";

/** A cursor this far beyond the end of a line (pixels) reads nothing from it. */
const BEYOND = 8;

/** What the cursor reads: a sentence about the line in hand, and the values of all lines. */
export interface Reading { text: string; values: (number | null)[] }

interface Place { x: number; y: number }

/** Plots that share cursor and zoom, by name. */
const groups = new Map<string, Set<Plot>>();

export class Plot {
  readonly strokes: Stroke[];
  readonly shown: boolean[];
  readonly heat: HeatMap | undefined;
  /** Index of the line that the cursor reads. */
  active = 0;
  /** Receives what the cursor reads; `null` without a cursor. */
  onRead: (reading: Reading | null) => void = () => undefined;
  isLog: boolean;
  u!: uPlot;
  /** The zoomed range; `null`: everything. */
  view: Range | null;
  private full!: Range;
  private readonly group: Set<Plot>;
  /** The place of the cursor (pixels) at the last reading. */
  private spot = "";
  private readonly dot = element("div", { className: "dot", hidden: true });

  constructor(readonly host: HTMLElement, readonly chart: Chart, sync: string | undefined) {
    this.strokes = strokes(chart.series);
    this.shown = chart.series.map(() => true);
    this.isLog = chart.y.scale === "log" || chart.heat !== undefined;
    this.heat = chart.heat && new HeatMap(chart.heat);
    this.group = (sync && groups.get(sync)) || new Set();
    if (sync) groups.set(sync, this.group);
    this.view = [...this.group][0]?.view ?? null;
    this.group.add(this);
    this.build();
    new ResizeObserver(([entry]) => this.u.setSize(entry!.contentRect)).observe(host);
    scheme.addEventListener("change", () => {
      this.heat?.paint();
      this.u.redraw(false);
    });
  }

  /** Draws what was added to the chart's data. */
  refresh(): void {
    this.full = this.extent();
    this.u.setData(this.data());
  }

  setLog(isLog: boolean): void {
    this.isLog = isLog;
    this.u.destroy();
    this.build();
  }

  /** Returns the lines that are shown, and how. */
  lines(): (Series & { index: number; stroke: Stroke })[] {
    return this.chart.series.flatMap((series, index) =>
      this.shown[index] ? [{ ...series, index, stroke: this.strokes[index]! }] : []);
  }

  show(isShown: (name: string, index: number) => boolean): void {
    this.u.batch(() => this.chart.series.forEach(({ name }, index) => {
      const show = isShown(name, index);
      if (show !== this.shown[index]) this.u.setSeries(index + 1, { show });
      this.shown[index] = show;
    }));
    this.read(false);
  }

  /** Returns the range of x that is drawn. */
  get visible(): Range {
    return this.view ?? this.full;
  }

  /** Shows a range in all plots of the group; the cursor stays at its point, within the range. */
  zoom(view: Range | null): void {
    if (view && !(view.max > view.min)) return;
    const { left, top } = this.u.cursor as { left: number; top: number };
    const x = this.u.posToVal(left, "x");
    for (const plot of this.group) {
      plot.view = view;
      plot.u.setScale("x", { ...plot.visible });
    }
    if (left >= 0) this.point(clamp(x, this.visible.min, this.visible.max), top);
  }

  /** Shows what lies between two places of the plot (pixels), within the data. */
  window(left: number, right: number): void {
    const { u, full } = this;
    const [first, last] = [u.valToPos(full.min, "x"), u.valToPos(full.max, "x")];
    if (right - left >= last - first) return this.zoom(null);
    const shift = Math.max(0, first - left) - Math.max(0, right - last);
    this.zoom({ min: u.posToVal(left + shift, "x"), max: u.posToVal(right + shift, "x") });
  }

  /** Makes the range wider or narrower around a place (pixels; by default the cursor). */
  zoomBy(factor: number, around = this.u.cursor.left!): void {
    const width = this.u.over.clientWidth;
    const middle = around < 0 ? width / 2 : around;
    this.window(middle * (1 - factor), middle + (width - middle) * factor);
  }

  /**
   * Moves the cursor by points of the line in hand, or to a line before or after it.
   *
   * Infinitely many points lead to the first or last point of the zoomed part.
   */
  step(points: number, lines: number): void {
    const { u, chart: { series, x: { unit } } } = this;
    const shown = this.lines().map(({ index }) => index);
    this.active = shown.at((shown.indexOf(this.active) + lines) % shown.length) ?? 0;
    const { clientWidth: width, clientHeight: height } = u.over;
    const { left, top } = u.cursor as { left: number; top: number };
    const { min, max } = Number.isFinite(points) ? this.full : this.visible;
    const places = Array.from(unit === "percentile" ? [] : series[this.active]?.x ?? [])
      .filter((place) => min <= place && place <= max);
    const by = left < 0 && Number.isFinite(points) ? 0 : points;
    const next = nearest(places, u.posToVal(Math.max(0, left), "x")) + by;
    const x = places[clamp(next, 0, places.length - 1)]
      ?? u.posToVal(Math.max(0, left) + (points * width) / 100, "x");
    const to = u.valToPos(clamp(x, min, max), "x");
    if (to < 0 || to > width) this.window(to - width / 2, to + width / 2);
    this.point(clamp(x, min, max), clamp(top + (series.length ? 0 : 4 * lines), 0, height));
  }

  /** Moves the cursors of the group to a place of x, once scales have changed: after this task. */
  private point(x: number, top: number): void {
    queueMicrotask(() => {
      this.u.setCursor({ left: this.u.valToPos(x, "x"), top }, false);
      this.read(false);
      this.share();
    });
  }

  private brush(u: uPlot): void {
    const { left, width } = u.select;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (width > 0) this.window(left, left + width);
  }

  private build(): void {
    this.full = this.extent();
    const { clientWidth: width, clientHeight: height } = this.host;
    this.u = new uPlot({ width, height, ...this.options() }, this.data(), this.host);
    this.u.over.append(this.dot);
  }

  /** Returns the data as uPlot has it; a map without lines has an empty one. */
  private data(): uPlot.AlignedData {
    const lines = this.chart.series.map(({ x, y }) => [x, y]);
    return [null, ...(lines.length ? lines : [[[], []]])] as unknown as uPlot.AlignedData;
  }

  private options(): Omit<uPlot.Options, "width" | "height"> {
    const { x, y, series } = this.chart;
    const lines = series.map((line, index): uPlot.Series => ({
      stroke: () => colour(this.strokes[index]!.colour),
      width: this.strokes[index]!.width, dash: this.strokes[index]!.dash,
      show: this.shown[index]!, auto: false, points: { show: false },
      paths: (u, at) => linePath(u, at, line, span(line.x, this.visible)),
    }));
    const distr = (isLog: boolean) => (isLog ? 3 : 1);
    return {
      // Each line has places of its own.
      mode: 2,
      padding: [10, 22, 0, 0],
      legend: { show: false, live: false },
      cursor: {
        y: false, points: { show: false }, dataIdx: () => null as unknown as number,
        drag: { x: true, y: false, setScale: false, dist: 5 },
        bind: { dblclick: () => () => (this.zoom(null), null) },
      },
      scales: {
        x: { time: x.unit === "time", distr: distr(x.scale === "log"),
          range: () => [this.visible.min, this.visible.max] },
        y: { distr: distr(this.isLog), range: () => this.rise() },
      },
      axes: [axis("x", x, x.scale === "log"), axis("y", y, this.isLog)],
      series: [{}, ...(lines.length ? lines : [{ paths: () => null }])],
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1e3), "Etc/UTC"),
      hooks: {
        drawClear: layer((pen) => drawShades(this, pen)),
        drawAxes: layer((pen) => this.heat?.draw(pen), (pen) => drawBands(this, pen)),
        draw: layer((pen) => drawDots(this, pen), (pen) => drawMarks(this, pen)),
        setCursor: [() => this.read(true)],
        setSelect: [(u) => this.brush(u)],
      },
    };
  }

  /** Returns the range of all data along x. */
  private extent(): Range {
    const { series, x: { unit, scale } } = this.chart;
    const ends = series.flatMap(({ x }) => (x.length ? [x[0]!, x[x.length - 1]!] : []));
    if (this.heat) ends.push(this.heat.x.min, this.heat.x.max);
    const valid = ends.filter((end) => scale !== "log" || end > 0);
    const [min, max] = valid.length ? [Math.min(...valid), Math.max(...valid)] : [1, 10];
    if (scale === "log") return { min: Math.min(min, max / 2), max };
    if (unit !== "time") return { min: Math.min(0, min), max: max || 1 };
    const room = 0.02 * (max - min) || 43_200;
    return { min: min - room, max: max + room };
  }

  /** Returns the range of y that holds all that is shown of x. */
  private rise(): uPlot.Range.MinMax {
    if (this.heat) return [this.heat.y.min, this.heat.y.max];
    let [low, high] = [Infinity, -Infinity];
    for (const { x, y, low: lower, high: upper } of this.lines()) {
      const [first, last] = span(x, this.visible);
      for (const values of [y, lower, upper]) {
        for (let at = first; values && at <= last; at += 1) {
          const value = values[at] ?? NaN;
          if (this.isLog && value <= 0) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    if (low > high) return [this.isLog ? 1 : 0, 10];
    if (this.isLog) return uPlot.rangeLog(low, high, 10, false);
    // A history shows changes of a level; all else begins at zero, as in the static pictures.
    if (this.chart.x.unit === "time") return uPlot.rangeNum(low, high, 0.15, true);
    return [Math.min(0, low * 1.05), high > 0 ? high * 1.05 : low < 0 ? 0 : 1];
  }

  /** Moves the cursor of all plots of the group to the place of this one. */
  private share(): void {
    const left = this.u.cursor.left!;
    const x = this.u.posToVal(left, "x");
    for (const plot of this.group) {
      if (plot === this) continue;
      plot.u.setCursor({ left: left < 0 ? -10 : plot.u.valToPos(x, "x"), top: 0 }, false);
      plot.read(false);
    }
  }

  /** Returns the point that a cursor at `at` reads; percentiles are read between points too. */
  private place({ x, y }: Series, at: number): Place | null {
    const { u, chart } = this;
    const [left, first, last] = [at, x[0]!, x[x.length - 1]!].map((one) => u.valToPos(one, "x"));
    if (!(left! >= first! - BEYOND && left! <= last! + BEYOND)) return null;
    const index = nearest(x, at);
    const [before, after] = span(x, { min: at, max: at });
    const [from, to] = [y[before], y[after]];
    if (chart.x.unit !== "percentile" || before === after || from == null || to == null) {
      return y[index] == null ? null : { x: x[index]!, y: y[index]! };
    }
    const share = clamp((at - x[before]!) / (x[after]! - x[before]!), 0, 1);
    return { x: at, y: from + share * (to - from) };
  }

  /**
   * Reads all lines at the cursor; a pointer that moves also chooses the line in hand.
   *
   * uPlot reports a pointer after each change of a scale too, when other plots have the old scale.
   */
  private read(isPointed: boolean): void {
    const { u, chart } = this;
    const { left, top } = u.cursor as { left: number; top: number };
    const at = u.posToVal(left, "x");
    const isMoved = isPointed && this.spot !== `${left} ${top}`;
    this.spot = `${left} ${top}`;
    const places = chart.series.map((series, index) =>
      left >= 0 && this.shown[index] ? this.place(series, at) : null);
    const distances = places.map((one) => one ? Math.abs(u.valToPos(one.y, "y") - top) : Infinity);
    const least = Math.min(...distances);
    if (isMoved && least < Infinity) this.active = distances.indexOf(least);
    if (isMoved) this.share();
    const place = places[this.active] ?? null;
    this.dot.hidden = !place;
    if (place) {
      const [x, y] = [u.valToPos(place.x, "x"), u.valToPos(place.y, "y")];
      this.dot.style.translate = `${x}px ${y}px`;
      this.dot.style.background = colour(this.strokes[this.active]!.colour);
    }
    this.onRead(left < 0 ? null : { text: this.sentence(place?.x ?? at, place),
      values: places.map((one) => one?.y ?? null) });
  }

  /** Returns the marks near a place of x. */
  marksAt = (x: number): Mark[] => (this.chart.marks ?? []).filter((mark) =>
    Math.abs(this.u.valToPos(mark.x, "x") - this.u.valToPos(x, "x")) < BEYOND);

  private sentence(x: number, place: Place | null): string {
    const { u, chart, heat } = this;
    const series = chart.series[this.active];
    const parts = [figure(chart.x.unit, x)];
    if (place && series) {
      const value = (of: number) => figure(chart.y.unit, of);
      const index = nearest(series.x, place.x);
      const [low, high] = [series.low?.[index], series.high?.[index]];
      const range = low != null && high != null ? ` [${value(low)}, ${value(high)}]` : "";
      parts.push(`${series.name}: ${value(place.y)}${range}`);
    }
    const cell = heat?.read(x, u.posToVal(Math.max(0, u.cursor.top!), "y"));
    if (cell) parts.push(cell);
    const shades = chart.shades.filter(({ from, to, group }) =>
      from <= x && x <= to && (group === "" || group === series?.group));
    parts.push(...new Set(shades.map(({ why }) => why)), ...this.marksAt(x).map(({ text }) => text));
    return parts.join(" \u00b7 ");
  }
}
