/** The editor of an experiment file: the server's checker reads it while it is typed. */
import { button, byId, debounced, element, request } from "./elements";

interface Problem { line: number; column: number; message: string; help: string | null }
interface Checked { errors: Problem[]; plan: string }

const WAIT_MS = 300;

/** Checks the page's experiment file as it is typed. */
export function checkExperiment(): void {
  const text = document.querySelector<HTMLTextAreaElement>("textarea[data-check]");
  if (!text) return;
  const [errors, plan] = [byId("errors")!, byId("plan")!];
  const start = byId("start") as HTMLButtonElement;
  const check = async () => {
    const body = text.value;
    const init = { method: "POST", body, headers: { "Content-Type": "text/plain" } };
    try {
      const found = await request<Checked>(text.dataset.check!, init);
      if (body !== text.value) return;
      errors.replaceChildren(...found.errors.map((problem) => entry(text, problem)));
      plan.textContent = found.plan;
      start.disabled = found.errors.length > 0;
      text.ariaInvalid = String(start.disabled);
    } catch (error) {
      const reason = `The file could not be checked: ${(error as Error).message}.`;
      errors.replaceChildren(element("li", {}, reason));
    }
  };
  const later = debounced(WAIT_MS, () => void check());
  const edited = (text.oninput = () => {
    start.disabled = true;
    later();
  });
  edited();
}

/** Returns the line of an error; a click on it puts the caret there. */
function entry(text: HTMLTextAreaElement, { line, column, message, help }: Problem): HTMLElement {
  const go = button(`line ${line}, column ${column}: ${message}`, () => {
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    text.focus();
    text.setSelectionRange(start + column - 1, start + (lines[line - 1]?.length ?? 0));
    text.scrollTop = (text.scrollHeight * (line - 4)) / lines.length;
  });
  return element("li", {}, go, element("small", {}, help ?? ""));
}
