/** Keys, clicks and fingers on a plot; uPlot itself handles the mouse. */
import type { Plot } from "./plot";

/** How much one key press zooms. */
const ZOOM = 0.5;

/** Opens the address of the mark at the cursor, if there is one. */
function follow({ marksAt, u }: Plot): void {
  const href = marksAt(u.posToVal(u.cursor.left!, "x")).find((mark) => mark.href)?.href;
  if (href) location.assign(href);
}

/** Lets the plot's cursor and zoom be moved by keys. */
export function listenToKeys(plot: Plot): void {
  plot.host.addEventListener("keydown", (event) => {
    const points = event.shiftKey ? 10 : 1;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => plot.step(-points, 0),
      ArrowRight: () => plot.step(points, 0),
      ArrowUp: () => plot.step(0, -1),
      ArrowDown: () => plot.step(0, 1),
      "+": () => plot.zoomBy(ZOOM),
      "-": () => plot.zoomBy(1 / ZOOM),
      "0": () => plot.zoom(null),
      Home: () => plot.step(-Infinity, 0),
      End: () => plot.step(Infinity, 0),
      Enter: () => follow(plot),
    };
    const action = actions[event.key === "=" ? "+" : event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
}

/**
 * Lets a click open a mark; one finger moves the range or the cursor, two change the range.
 *
 * Up and down scroll the page. uPlot lets no click through that ends a brush.
 */
export function listenToPointers(plot: Plot): void {
  const fingers = new Map<number, number>();
  plot.host.onclick = () => follow(plot);
  plot.host.onpointerdown = ({ pointerType, pointerId, clientX }) => {
    if (pointerType === "touch") fingers.set(pointerId, clientX);
  };
  plot.host.onpointerup = plot.host.onpointercancel = ({ pointerId }) => fingers.delete(pointerId);
  plot.host.onpointermove = ({ pointerId, clientX: now, clientY }) => {
    const before = fingers.get(pointerId);
    if (before === undefined) return;
    fingers.set(pointerId, now);
    const { left, top, width } = plot.u.over.getBoundingClientRect();
    const other = [...fingers].find(([id]) => id !== pointerId)?.[1];
    if (other !== undefined) {
      const apart = Math.max(1, Math.abs(now - other));
      plot.zoomBy(Math.abs(before - other) / apart, (now + other) / 2 - left);
    } else if (plot.view) {
      plot.window(before - now, width + before - now);
    } else {
      plot.u.setCursor({ left: now - left, top: clientY - top });
    }
  };
}
