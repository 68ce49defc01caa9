/** Forms that submit by themselves: the filter while it is typed in, selectors when they change. */
import { all, debounced } from "./elements";

type Field = HTMLInputElement | HTMLSelectElement;
/** The field in use when its page was left; whether its value was typed after the request. */
interface Memory { name: string; value: string; caret: number | null; top: number; isNew: boolean }

const KEY = `field of ${location.pathname}`;
const WAIT_MS = 150;

/** Returns the address that a form stands for: without its empty fields, so that it is short. */
function address(form: HTMLFormElement): string {
  const fields = [...new FormData(form)].filter(([, value]) => value !== "") as [string, string][];
  return `${form.action.split(/[?#]/)[0]}?${new URLSearchParams(fields)}`;
}

const isFilter = (form: HTMLFormElement) => "filter" in form.dataset;

/** Makes filters and selectors submit by themselves; the field in use stays in use. */
export function submitForms(): void {
  const forms = all<HTMLFormElement>("form:is([data-auto], [data-filter])");
  let requested = location.href;
  for (const form of forms.filter(isFilter)) {
    // What is typed meanwhile is no entry of the browser's history.
    const submit = () => location.replace((requested = address(form)));
    form.addEventListener("input", debounced(WAIT_MS, submit));
  }
  for (const form of forms.filter((one) => !isFilter(one))) {
    form.addEventListener("change", () => location.assign(address(form)));
    form.querySelectorAll<HTMLElement>("button:not([name])").forEach((one) => (one.hidden = true));
  }
  restore(forms);
  addEventListener("pagehide", () => {
    const field = document.activeElement as Field | null;
    if (!field?.form || !forms.includes(field.form)) return;
    const { name, value, form } = field;
    const isNew = isFilter(form) && address(form) !== requested;
    const caret = "selectionStart" in field ? field.selectionStart : null;
    const memory: Memory = { name, value, caret, top: scrollY, isNew };
    sessionStorage.setItem(KEY, JSON.stringify(memory));
  });
}

function restore(forms: HTMLFormElement[]): void {
  const memory = JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Memory | null;
  sessionStorage.removeItem(KEY);
  if (!memory) return;
  const fields = forms.flatMap((form) => [...form.elements]) as Field[];
  const named = fields.filter(({ name }) => name === memory.name);
  const field = named.find(({ value }) => value === memory.value) ?? named[0];
  field?.focus({ preventScroll: true });
  scrollTo(0, memory.top);
  if (memory.caret === null || !(field instanceof HTMLInputElement)) return;
  if (memory.isNew) {
    field.value = memory.value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  field.setSelectionRange(memory.caret, memory.caret);
}
