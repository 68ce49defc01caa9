/** What a plot has below and above its lines: shades, bands, points, marks. */
import uPlot from "uplot";
import { FONT } from "./axes";
import { type Gaps, type Series, span } from "./chart";
import { colour } from "./colours";
import type { Plot } from "./plot";

const linear = uPlot.paths.linear!();
/** Lines with fewer pixels per point have no dots. */
const DOT_SPACE = 8;

/** The canvas of a plot; `x` and `y` place values, `pixel` is one of the style sheet. */
export interface Pen {
  ctx: CanvasRenderingContext2D; area: uPlot.BBox; pixel: number;
  x: (value: number) => number; y: (value: number) => number;
}

/** Returns a hook that draws within the plot's area. */
export function layer(...drawings: ((pen: Pen) => void)[]): ((u: uPlot) => void)[] {
  return drawings.map((draw) => (u) => {
    const { ctx, bbox: area } = u;
    const place = (scale: string) => (value: number) => u.valToPos(value, scale, true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.width, area.height);
    ctx.clip();
    draw({ ctx, area, pixel: uPlot.pxRatio, x: place("x"), y: place("y") });
    ctx.restore();
  });
}

/** Returns the path of a line; uPlot's own clips gaps, which costs more than all else. */
export function linePath(u: uPlot, at: number, { x, y }: Series, [first, last]: [number, number]) {
  if (last - first > 4 * u.bbox.width) return linear(u, at, first, last);
  const stroke = new Path2D();
  for (let index = first, isDown = false; index <= last; index += 1) {
    const place = [u.valToPos(x[index]!, "x", true), u.valToPos(y[index]!, "y", true)] as const;
    if (y[index] != null) stroke[isDown ? "lineTo" : "moveTo"](...place);
    isDown = y[index] != null;
  }
  return { stroke, flags: 0 };
}

/** Draws the spans that are not counted, of the groups that are shown. */
export function drawShades(plot: Plot, { ctx, area: { top, height }, pixel, x }: Pen): void {
  const groups = new Set(["", ...plot.lines().map(({ group }) => group)]);
  for (const { from, to, why } of plot.chart.shades.filter(({ group }) => groups.has(group))) {
    const [left, width] = [x(from), Math.max(pixel, x(to) - x(from))];
    const isInvalid = why.startsWith("invalid");
    ctx.fillStyle = colour(isInvalid ? "invalid" : "trimmed");
    ctx.fillRect(left, top, width, height);
    // An edge at the foot: the shade is not known by its colour alone.
    ctx.fillStyle = colour("alarm");
    if (isInvalid) ctx.fillRect(left, top + height - 4 * pixel, width, 4 * pixel);
  }
}

/** Draws the bands between the lower and upper limits of lines. */
export function drawBands(plot: Plot, { ctx, x, y }: Pen): void {
  for (const line of plot.lines()) {
    const { low, high } = line;
    if (!low || !high) continue;
    const [first, last] = span(line.x, plot.visible);
    const known = Array.from({ length: last - first + 1 }, (_, at) => first + at)
      .filter((at) => low[at] != null && high[at] != null);
    const edge = (values: Gaps) => (at: number) => ctx.lineTo(x(line.x[at]!), y(values[at]!));
    ctx.beginPath();
    known.forEach(edge(high));
    known.reverse().forEach(edge(low));
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = colour(line.stroke.colour);
    ctx.fill();
  }
}

/** Draws the points of lines that have few. */
export function drawDots(plot: Plot, { ctx, area, pixel, x, y }: Pen): void {
  for (const line of plot.lines()) {
    const [first, last] = span(line.x, plot.visible);
    if ((last - first) * DOT_SPACE * pixel > area.width) continue;
    ctx.fillStyle = colour(line.stroke.colour);
    for (let at = first; at <= last; at += 1) {
      if (line.y[at] == null) continue;
      ctx.beginPath();
      ctx.arc(x(line.x[at]!), y(line.y[at]!), 2.4 * pixel, 0, 2 * Math.PI);
      ctx.fill();
    }
  }
}

/** Draws releases and change points, with their texts where there is room. */
export function drawMarks(plot: Plot, { ctx, area: { top, height }, pixel, x }: Pen): void {
  const ends = [0, 0, 0];
  ctx.fillStyle = colour("ink");
  ctx.font = FONT.replace("11px", `${11 * pixel}px`);
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  for (const mark of plot.chart.marks ?? []) {
    const left = x(mark.x);
    for (let y = top; y < top + height; y += 6 * pixel) ctx.fillRect(left, y, pixel, 3 * pixel);
    const row = ends.findIndex((end) => end < left);
    if (row < 0) continue;
    ctx.fillText(mark.text, left + 3 * pixel, top + (2 + 13 * row) * pixel);
    ends[row] = left + ctx.measureText(mark.text).width + 8 * pixel;
  }
}
