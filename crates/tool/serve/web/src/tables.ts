/** Tables and texts: sorting by a heading, scrolling by keys. */
import { all, button } from "./elements";

/** Makes the headings of marked tables sort its rows. */
export function sortTables(): void {
  for (const table of all<HTMLTableElement>("table[data-sort]")) {
    const headings = [...table.querySelectorAll<HTMLTableCellElement>("thead tr:last-child th")];
    for (const heading of headings.filter((one) => !one.querySelector("a, button, input"))) {
      const sort = button("", () => {
        const direction = heading.ariaSort === "ascending" ? "descending" : "ascending";
        headings.forEach((one) => (one.ariaSort = one === heading ? direction : null));
        for (const body of table.tBodies) sortRows(body, heading.cellIndex, direction);
      });
      sort.className = "sort";
      sort.append(...heading.childNodes);
      heading.append(sort);
    }
  }
}

/** Sorts rows by their values if all are numbers, else as texts; empty cells are the last. */
function sortRows(body: HTMLTableSectionElement, column: number, direction: string): void {
  const key = ({ cells }: HTMLTableRowElement) =>
    cells[column]?.dataset.value ?? cells[column]?.textContent?.trim() ?? "";
  const texts = new Intl.Collator(undefined, { numeric: true });
  const rows = [...body.rows].filter((row) => key(row) !== "");
  const empty = [...body.rows].filter((row) => key(row) === "");
  const isNumeric = rows.every((row) => !Number.isNaN(Number(key(row))));
  rows.sort((a, b) => isNumeric ? Number(key(a)) - Number(key(b)) : texts.compare(key(a), key(b)));
  body.append(...(direction === "ascending" ? rows : rows.reverse()), ...empty);
}

/** Lets keys reach what scrolls sideways. */
export function focusScrollers(): void {
  const check = () => all(".wide, figure:not(.drawn) .static, pre").forEach((one) => {
    if (one.scrollWidth > one.clientWidth + 1) one.tabIndex = 0;
  });
  document.addEventListener("toggle", check, true);
  addEventListener("resize", check);
  check();
}
