/** Colours of the style sheet for the canvas, which inherits none. */

/** Whether the dark scheme is in force; its changes are events. */
export const scheme = matchMedia("(prefers-color-scheme: dark)");

/** Returns the value of a CSS variable of the page, by its name without dashes. */
export const colour = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** How a series is drawn: a variable and a border style of the style sheet. */
export interface Stroke { colour: string; style: string; dash: number[]; width: number }

/** Number of colours for groups, as in `render`'s palette.rs. */
const COLOURS = 6;
/** Beyond so many points, wide or dashed lines take too long to draw without a graphics card. */
const MANY = 5_000;
const SOLID = { style: "solid", dash: [], width: 1.4 };
/** Dashes that make series of one group distinguishable, as in plot.css. */
const DASHES = [SOLID, { ...SOLID, style: "dashed", dash: [5, 3] },
  { ...SOLID, style: "dotted", dash: [1.5, 2.5] }];

/** Returns one colour per group, and another dash for each series of a group. */
export function strokes(series: { group: string; x: ArrayLike<number> }[]): Stroke[] {
  const groups = [...new Set(series.map(({ group }) => group))];
  const isMany = series.reduce((sum, { x }) => sum + x.length, 0) > MANY;
  const counts = groups.map(() => 0);
  return series.map(({ group }) => {
    const index = groups.indexOf(group);
    const dash = DASHES[counts[index]!++ % DASHES.length]!;
    const stroke = isMany ? { ...SOLID, width: 1 / devicePixelRatio } : dash;
    return { colour: `c${index % COLOURS}`, ...stroke };
  });
}
