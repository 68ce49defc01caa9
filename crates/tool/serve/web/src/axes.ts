/** Axes of a plot: marks and labels by unit, and room for the labels. */
import uPlot from "uplot";
import type { Axis } from "./chart";
import { colour } from "./colours";
import { labels, percentileMarks, rounded } from "./quantity";

export const FONT = "11px system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";
/** Distances of marks on an axis of bytes. */
const POWERS = Array.from({ length: 80 }, (_, power) => 2 ** (power - 20));

/** Least distance of marks (pixels). */
const SPACE = { x: 70, y: 32 };

/** Returns the options of an axis; colours are read at each drawing, as the scheme can change. */
export function axis(scale: "x" | "y", { label, unit }: Axis, isLog: boolean): uPlot.Axis {
  const line = { stroke: () => colour("line"), width: 1 };
  const isNines = unit === "percentile";
  return {
    scale,
    label: label || undefined,
    font: FONT,
    labelFont: FONT,
    labelSize: 18,
    gap: 4,
    incrs: unit === "bytes" ? POWERS : undefined,
    size: scale === "x" ? 30 : width,
    space: unit === "time" ? 90 : SPACE[scale],
    filter: isLog ? rounds : undefined,
    stroke: () => colour("quiet"),
    grid: isLog ? { ...line, filter: rounds } : line,
    ticks: { ...line, size: 4 },
    splits: !isNines ? undefined : (u, _, min, max) =>
      percentileMarks(min, max, u.bbox.width / uPlot.pxRatio),
    values: (_, marks, __, ___, step) => isLog
      ? marks.map((mark) => (mark === null ? null : rounded(unit, mark)))
      : labels(unit, marks, step),
  };
}

/** Returns the width that the labels need: a fixed one would trim those from 100,000 on. */
function width(u: uPlot, values: string[] | null, index: number): number {
  u.ctx.font = (u.axes[index]!.font as unknown as string[])[0]!;
  const widths = (values ?? []).map((text) => u.ctx.measureText(text ?? "").width);
  return Math.max(30, ...widths) / uPlot.pxRatio + 10;
}

/** Keeps marks of a logarithmic axis that begin with 1, or with 1, 2 and 5 where there is room. */
function rounds(u: uPlot, marks: number[], index: number): (number | null)[] {
  const scale = u.axes[index]!.scale!;
  const decade = Math.abs(u.valToPos(10, scale) - u.valToPos(1, scale));
  const first = Math.log10(2) * decade > SPACE[scale as "x" | "y"] ? /^[125]/ : /^1/;
  return marks.map((mark) => (first.test(mark.toExponential()) ? mark : null));
}
