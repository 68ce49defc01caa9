/** A heat map: counts of a histogram over time, on a logarithmic axis. */
import { lowerBound, type Heat, type Range } from "./chart";
import { colour } from "./colours";
import { element } from "./elements";
import type { Pen } from "./layers";
import { figure, rounded } from "./quantity";

/** Colours of the ramp from `--heat0` of the style sheet, the fewest, to `--heat4`, the most. */
const SHADES = 256;

export class HeatMap {
  readonly x: Range;
  readonly y: Range;
  private readonly most: number;
  private readonly image: HTMLCanvasElement;
  private readonly ramp = element("canvas", { width: SHADES, height: 1, ariaHidden: "true" });

  constructor(private readonly heat: Heat) {
    const { columns, column_width: width, rows, counts } = heat;
    this.x = { min: columns[0] ?? 0, max: (columns.at(-1) ?? 0) + width };
    this.y = { min: rows[0]!, max: rows.at(-1)! };
    this.most = counts.reduce((most, count) => Math.max(most, count), 1);
    this.image = element("canvas", { width: Math.max(1, columns.length), height: rows.length - 1 });
    this.paint();
  }

  /** Fills the image with the colours of the scheme in force. */
  paint(): void {
    const ramp = this.ramp.getContext("2d", { willReadFrequently: true })!;
    const gradient = ramp.createLinearGradient(0, 0, SHADES, 0);
    [0, 1, 2, 3, 4].forEach((stop) => gradient.addColorStop(stop / 4, colour(`heat${stop}`)));
    ramp.fillStyle = gradient;
    ramp.fillRect(0, 0, SHADES, 1);
    const shades = new Uint32Array(ramp.getImageData(0, 0, SHADES, 1).data.buffer);
    const { width, height } = this.image;
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const scale = (SHADES - 1) / Math.log(Math.max(2, this.most));
    this.heat.counts.forEach((count, at) => {
      const place = (height - 1 - (at % height)) * width + Math.floor(at / height);
      if (count > 0) pixels[place] = shades[Math.round(scale * Math.log(count))]!;
    });
    this.image.getContext("2d")!.putImageData(image, 0, 0);
  }

  draw({ ctx, x, y }: Pen): void {
    const [left, top] = [x(this.x.min), y(this.y.max)];
    const [width, height] = [x(this.x.max) - left, y(this.y.min) - top];
    // Without smoothing a column narrower than a pixel could be left out.
    ctx.imageSmoothingEnabled = width < this.image.width;
    ctx.drawImage(this.image, left, top, width, height);
  }

  /** Returns what the stored cell at a place holds; `null` outside of the map. */
  read(x: number, y: number): string | null {
    const { columns, column_width: width, rows, counts } = this.heat;
    const column = lowerBound(columns, x - width * (1 - 1e-9));
    const bucket = lowerBound(rows, y) - 1;
    if (!(columns[column]! <= x) || bucket < 0 || bucket + 1 >= rows.length) return null;
    const count = counts[column * (rows.length - 1) + bucket]!;
    const [low, high] = [figure("ns", rows[bucket]!), figure("ns", rows[bucket + 1]!)];
    return `${figure("count", count)} from ${low} to ${high}`;
  }

  /** Returns the legend: which colour is how many. */
  legend(): HTMLElement {
    const name = element("span", {}, "Operations per cell, logarithmic:");
    return element("p", { className: "ramp" }, name, "1", this.ramp, rounded("count", this.most));
  }
}
