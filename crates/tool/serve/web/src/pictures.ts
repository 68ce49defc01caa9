/** Pictures to store: the canvas as PNG, the static drawing as SVG. */
import { colour } from "./colours";
import { element } from "./elements";
import type { Plot } from "./plot";

/** Lets the browser store a file. */
function download(name: string, content: Blob): void {
  const href = URL.createObjectURL(content);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

/** Stores what the plot shows, with its title and the names of its lines. */
export function storePng(plot: Plot, name: string): void {
  const { u, chart } = plot;
  const [source, scale] = [u.ctx.canvas, u.ctx.canvas.width / u.width];
  const lines = plot.lines();
  const height = source.height + (34 + 16 * lines.length) * scale;
  const canvas = element("canvas", { width: source.width, height });
  const ctx = canvas.getContext("2d")!;
  ctx.fillStyle = colour("ground");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(source, 0, 26 * scale);
  ctx.scale(scale, scale);
  ctx.fillStyle = colour("ink");
  ctx.font = "600 14px system-ui, sans-serif";
  ctx.fillText(chart.title, 8, 18, u.width - 16);
  ctx.font = "12px system-ui, sans-serif";
  ctx.lineWidth = 2;
  lines.forEach(({ name: line, stroke }, at) => {
    const y = u.height + 38 + 16 * at;
    ctx.strokeStyle = colour(stroke.colour);
    ctx.setLineDash(stroke.dash);
    ctx.stroke(new Path2D(`M12 ${y - 4}h32`));
    ctx.fillText(line, 52, y, u.width - 60);
  });
  canvas.toBlob((blob) => blob && download(`${name}.png`, blob));
}

/** Stores a drawing with those rules of the page's style sheets that apply to it. */
export function storeSvg(svg: SVGSVGElement, name: string): void {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const own = rules.filter((rule) =>
    rule instanceof CSSStyleRule && svg.querySelector(rule.selectorText) !== null);
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = own.map((rule) => rule.cssText).join("\n");
  copy.prepend(style);
  const text = new XMLSerializer().serializeToString(copy);
  download(`${name}.svg`, new Blob([text], { type: "image/svg+xml" }));
}
