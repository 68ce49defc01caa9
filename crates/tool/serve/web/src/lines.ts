/** The list of a chart's lines: which are shown, and what the cursor reads of each. */
import { button, element } from "./elements";
import type { Plot, Reading } from "./plot";
import { figure } from "./quantity";

/** Returns the expression of a pattern: a part of a name, or an expression between slashes. */
function matcher(pattern: string): RegExp {
  const part = pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const [, source = part, flags = "i"] = /^\/(.+)\/(i?)$/.exec(pattern) ?? [];
  return new RegExp(source, flags);
}

/** Returns the list of the plot's lines, and what writes into it what the cursor reads. */
export function lineList(plot: Plot) {
  const { series, y: { unit } } = plot.chart;
  const count = element("span", { className: "quiet" });
  const boxes = series.map(() => element("input", { type: "checkbox" }));
  const values = series.map(() => element("span", { className: "value" }));
  const rows = series.map(({ name }, index) => {
    const { colour, style } = plot.strokes[index]!;
    const sample = element("span", { className: "sample" });
    sample.style.borderTop = `2px ${style} var(--${colour})`;
    return element("label", {}, boxes[index]!, sample, element("span", {}, name), values[index]!);
  });
  const apply = (isShown: (name: string, index: number) => boolean) => {
    plot.show(isShown);
    pattern.ariaInvalid = "false";
    boxes.forEach((box, index) => (box.checked = plot.shown[index]!));
    count.textContent = `${plot.shown.filter(Boolean).length} of ${series.length} shown`;
  };
  const pattern = element("input", { type: "search", placeholder: "part of a name, or /regex/" });
  pattern.ariaLabel = "Show the lines whose name matches";
  pattern.oninput = () => {
    try {
      const expression = matcher(pattern.value);
      apply((name) => expression.test(name));
    } catch {
      // The lines stay as they were.
      pattern.ariaInvalid = "true";
      count.textContent = "invalid pattern";
    }
  };
  const choose = (isShown: boolean) => () => {
    pattern.value = "";
    apply(() => isShown);
  };
  const bar = element("div", { className: "tools" },
    button("All", choose(true)), button("None", choose(false)), pattern);
  const list = element("div", { className: "lines", role: "group", ariaLabel: "Lines" }, ...rows);
  list.onchange = () => apply((_, index) => boxes[index]!.checked);
  const summary = element("summary", {}, "Lines ", count);
  apply(() => true);
  return {
    root: element("details", { open: true }, summary, ...(series.length > 2 ? [bar] : []), list),
    write: (reading: Reading | null) => rows.forEach((row, index) => {
      const value = reading?.values[index];
      values[index]!.textContent = value == null ? "" : figure(unit, value);
      row.classList.toggle("active", reading !== null && index === plot.active);
    }),
  };
}
