/** Elements made by script: no markup is ever parsed, which Trusted Types would refuse. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Returns a button that submits nothing. */
export function button(text: string, action: () => void): HTMLButtonElement {
  return element("button", { type: "button", onclick: action }, text);
}

/** Returns the elements of the page that match, of one type. */
export function all<E extends HTMLElement>(selector: string): E[] {
  return [...document.querySelectorAll<E>(selector)];
}

export const byId = (id: string) => document.getElementById(id);

/** Returns a function that acts once no further call came for so long. */
export function debounced(milliseconds: number, action: () => void): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(action, milliseconds);
  };
}

/** Fetches JSON; an answer that is not a success is an error too. */
export async function request<T>(address: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(address, init);
  if (!response.ok) throw new Error(`the server's answer was ${response.status}`);
  return response.json() as Promise<T>;
}
