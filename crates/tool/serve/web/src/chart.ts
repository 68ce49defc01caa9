/** What the server sends of one chart, and searches in it. */
import type { Unit } from "./quantity";

export interface Axis { label: string; unit: Unit; scale: "linear" | "log" }

/** A column of numbers. */
export type Values = ArrayLike<number>;
/** A column in which values may be absent. */
export type Gaps = ArrayLike<number | null>;

/** A line; `x` ascends, `low` and `high` are the limits of its band. */
export interface Series { name: string; group: string; x: Values; y: Gaps; low?: Gaps; high?: Gaps }

/** A span that is not counted. */
export interface Shade { from: number; to: number; group: string; why: string }

/** A release or a change point, with the address of what explains it. */
export interface Mark { x: number; text: string; href?: string }

/**
 * Counts of a histogram, column by column of time.
 *
 * `rows` are the lower limits of the buckets, which all differ by one factor; the last is the upper
 * end.
 */
export interface Heat { columns: number[]; column_width: number; rows: number[]; counts: number[] }

export interface Chart {
  title: string; x: Axis; y: Axis; series: Series[]; shades: Shade[]; marks: Mark[]; heat?: Heat;
}

export interface Range { min: number; max: number }

/** Places percentiles on -log10(1 - q); the quantile 1 has no place there. */
export function placed(chart: Chart): Chart {
  if (chart.x.unit !== "percentile") return chart;
  const places = (x: Values) => Array.from(x).filter((q) => q < 1).map((q) => -Math.log10(1 - q));
  return { ...chart, series: chart.series.map((one) => ({ ...one, x: places(one.x) })) };
}

export const clamp = (value: number, low: number, high: number) =>
  Math.max(low, Math.min(high, value));

/** Returns the index of the first value that is not below `wanted`. */
export function lowerBound(values: Values, wanted: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the value nearest to `wanted`. */
export function nearest(values: Values, wanted: number): number {
  const at = lowerBound(values, wanted);
  const isBefore = at > 0 && !(values[at]! - wanted <= wanted - values[at - 1]!);
  return isBefore ? at - 1 : at;
}

/** Returns the first and last index of what a range shows, with one neighbour at each end. */
export function span(values: Values, { min, max }: Range): [number, number] {
  const last = values.length - 1;
  return [Math.max(0, lowerBound(values, min) - 1), Math.min(last, lowerBound(values, max))];
}
