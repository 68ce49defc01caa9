/** The replay of an experiment: recorded events at their times, at a speed, from any time. */
import { byId, request } from "./elements";
import { duration } from "./quantity";

/** What each kind of event does to the page. */
export type Actions = Record<string, (data: any) => void>;
interface Recorded { at_s: number; kind: string; data: unknown }

/** Time between two steps of the replay. */
const STEP_MS = 100;

/** Lets the controls replay the events, which are in the page or at an address; shows their end. */
export async function replay(controls: HTMLElement, actions: Actions, refresh: () => void) {
  const [play, slider] = [controls.querySelector("button")!, controls.querySelector("input")!];
  const inlined = byId("recording")?.textContent;
  const address = controls.dataset.replay!;
  const events: Recorded[] = inlined ? JSON.parse(inlined) : await request(address);
  const end = events.at(-1)!.at_s;
  let [now, next, timer] = [0, 0, 0];
  const show = (to: number) => {
    // The slider rounds: its right end can be below the time of the last events.
    now = to > end - 1e-6 ? end : to;
    const first = next > 0 && events[next - 1]!.at_s > now ? 0 : next;
    next = events.filter(({ at_s }) => at_s <= now).length;
    events.slice(first, next).forEach(({ kind, data }) => actions[kind]!(data));
    if (first < next) refresh();
    slider.value = String(now);
    byId("time")!.textContent = slider.ariaValueText = `${duration(now)} of ${duration(end)}`;
  };
  const pause = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  play.onclick = () => {
    if (timer) return pause();
    if (now >= end) show(0);
    play.textContent = "Pause";
    timer = window.setInterval(() => {
      show(now + (STEP_MS / 1e3) * Number(controls.querySelector("select")!.value));
      if (now >= end) pause();
    }, STEP_MS);
  };
  slider.oninput = () => show(slider.valueAsNumber);
  slider.max = String(end);
  controls.hidden = false;
  show(end);
}
