/** Quantities for people: three digits and a readable unit, as in `render`'s figure.rs. */
export type Unit = "ns" | "us" | "s" | "bytes" | "kib" | "count" | "per_s" | "share" | "ratio"
  | "mhz" | "celsius" | "percentile" | "time";

/** A scale: from which size on, divided by what, with which suffix. */
type Scale = [from: number, by: number, suffix: string];

const DECIMAL: Scale[] = [[1e15, 1, ""], [1e9, 1e9, " G"], [1e6, 1e6, " M"], [1e3, 1e3, " k"]];
const BINARY: Scale[] = [[2 ** 40, 2 ** 40, " TiB"], [2 ** 30, 2 ** 30, " GiB"],
  [2 ** 20, 2 ** 20, " MiB"], [2 ** 10, 2 ** 10, " KiB"], [0, 1, " B"]];
const SPAN: Scale[] = [[1e9, 1e9, " s"], [1e6, 1e6, " ms"], [1e3, 1e3, " \u00b5s"], [0, 1, " ns"]];

/** Units of more than one scale, with their factors to the smallest unit. */
const SMALLEST: Partial<Record<Unit, [Scale[], number]>> = { ns: [SPAN, 1], us: [SPAN, 1e3],
  s: [SPAN, 1e9], bytes: [BINARY, 1], kib: [BINARY, 1024] };

/** Returns the factor of a value's scale, and the suffix that then follows. */
function scaleOf(unit: Unit, value: number): { by: number; suffix: string } {
  if (unit === "share") return { by: 100, suffix: " %" };
  const [scales, factor] = SMALLEST[unit] ?? [DECIMAL, 1];
  // 999.6 would be written 1000: it belongs to the next scale already.
  const size = Math.abs(value) * factor * 1.000_5;
  const [, by, suffix] = scales.find(([from]) => size >= from) ?? [0, 1, ""];
  return { by: factor / by, suffix };
}

function significant(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 0.001 || size >= 999_999_999.5) return value.toExponential(2).replace("+", "");
  return value.toFixed([0.009_95, 0.0995, 9.995, 99.95].filter((from) => size < from).length);
}

/** Returns a value as a quantity: `251 k`, `1.50 GiB`; percentiles are -log10(1 - q). */
export function figure(unit: Unit, value: number): string {
  if (unit === "percentile") return percentile(value, 1);
  if (unit === "time") return moment(value).slice(0, 16);
  const { by, suffix } = scaleOf(unit, value);
  return significant(value * by) + suffix;
}

/** Returns a round value without empty decimals: `10 ms`. */
export function rounded(unit: Unit, value: number): string {
  const [number, suffix] = figure(unit, value).split(" ");
  const short = number!.includes(".") ? number!.replace(/\.?0*(?=e|$)/, "") : number!;
  return suffix ? `${short} ${suffix}` : short;
}

/** Returns a moment in the time zone of the tables. */
const moment = (seconds: number) => new Date(seconds * 1e3).toISOString().replace("T", " ");

/** Returns the percentile at a place of the axis, with as many digits as it has nines. */
export function percentile(place: number, more = 0): string {
  const digits = Math.max(0, Math.ceil(place - 1e-9) - 2) + more;
  return `${(100 * (1 - 10 ** -place)).toFixed(digits)} %`;
}

/** Returns a length of time without its smallest parts: `2 h 5 min`. */
export function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds / 60) % 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
}

/** Returns the labels of marks that are `step` apart, all in one scale. */
export function labels(unit: Unit, marks: number[], step: number): string[] {
  if (unit === "percentile") return marks.map((mark) => percentile(mark));
  const part = step < 86_400 ? ([5, 16] as const) : ([0, 10] as const);
  if (unit === "time") return marks.map((mark) => moment(mark).slice(...part));
  const { by, suffix } = scaleOf(unit, Math.max(...marks.map(Math.abs)));
  const isExact = (size: number) => Math.abs(((step * by * size + 0.5) % 1) - 0.5) < 1e-6;
  const places = Math.max(0, [1, 10, 100, 1e3, 1e4, 1e5].findIndex(isExact));
  return marks.map((mark) => mark === 0 ? "0" : (mark * by).toFixed(places) + suffix);
}

/** Returns the marks of an axis of percentiles: 0, 90 %, 99 %, and more where there is room. */
export function percentileMarks(from: number, to: number, width: number): number[] {
  const room = width / (to - from);
  const tails = room < 150 ? [10] : room < 1_000 ? [10, 5, 2] : [10, 9, 8, 7, 6, 5, 4, 3, 2];
  const decades = Array.from({ length: Math.ceil(to) + 1 }, (_, decade) => decade);
  const marks = decades.flatMap((decade) => tails.map((tail) => decade + 1 - Math.log10(tail)));
  return marks.filter((mark) => mark >= from && mark <= to).sort((a, b) => a - b);
}
