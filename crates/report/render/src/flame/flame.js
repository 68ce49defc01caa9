// Zoom and search of a flame graph in a file of its own.
"use strict";
(() => {
  const NEAR = 0.11; // coordinates have one decimal
  const CHARACTER = 6.7, PADDING = 6, NAME_MIN = 3;
  const svg = document.querySelector("svg.plot");
  const whole = svg.viewBox.baseVal.width;
  const byId = (id) => document.getElementById(id);
  const boxes = [...svg.querySelectorAll("g.tree > g")].map((g) => {
    const rect = g.querySelector("rect");
    const [x, y, width] = ["x", "y", "width"].map((name) => Number(rect.getAttribute(name)));
    const name = g.querySelector("title").textContent.split("\n")[0];
    return { g, rect, x, y, width, name, tree: g.parentNode, text: g.querySelector("text"), label: g.querySelector("text")?.textContent };
  });

  function draw(box, x, width) {
    box.g.style.display = "";
    box.rect.setAttribute("x", x);
    box.rect.setAttribute("width", width);
    const room = Math.floor((width - PADDING) / CHARACTER);
    if (!box.text) {
      box.text = document.createElementNS(svg.namespaceURI, "text");
      box.text.setAttribute("y", box.y + 12);
      box.g.append(box.text);
    }
    box.text.setAttribute("x", x + PADDING / 2);
    const fits = box.name.length <= room;
    const short = room < NAME_MIN ? "" : `${box.name.slice(0, room - 1)}\u2026`;
    box.text.textContent = fits ? box.name : short;
  }

  function zoom(to) {
    const end = to.x + to.width, scale = whole / to.width;
    for (const box of boxes.filter((one) => one.tree === to.tree)) {
      const isWithin = box.x >= to.x - NEAR && box.x + box.width <= end + NEAR && box.y <= to.y;
      const isCaller = box.x <= to.x + NEAR && box.x + box.width >= end - NEAR && box.y > to.y;
      if (isCaller) draw(box, 0, whole);
      else if (isWithin) draw(box, (box.x - to.x) * scale, box.width * scale);
      else box.g.style.display = "none";
    }
  }

  function search(typed) {
    let expression;
    try {
      expression = new RegExp(typed, "i");
    } catch {
      expression = new RegExp(typed.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
    const found = boxes.filter((box) => typed !== "" && expression.test(box.name));
    boxes.forEach((box) => box.g.classList.toggle("dim", typed !== "" && !found.includes(box)));
    // A function within a function that was found counts once.
    let [sum, end] = [0, 0];
    const inTree = found.filter((box) => box.tree === boxes[0].tree);
    for (const box of inTree.sort((a, b) => a.x - b.x || b.width - a.width)) {
      sum += Math.max(0, box.x + box.width - Math.max(end, box.x));
      end = Math.max(end, box.x + box.width);
    }
    const share = ((100 * sum) / boxes[0].width).toFixed(1);
    byId("matched").textContent = typed === "" ? "" : `"${typed}": ${share} % of the whole`;
  }

  const ask = () => search(prompt("Function (text or regular expression):") || "");
  const reset = () => {
    for (const box of boxes) {
      draw(box, box.x, box.width);
      if (box.label !== undefined) box.text.textContent = box.label;
    }
    search("");
  };
  boxes.forEach((box) => box.g.addEventListener("click", () => zoom(box)));
  for (const [id, act] of [["search", ask], ["reset", reset]]) {
    byId(id).setAttribute("visibility", "visible");
    byId(id).addEventListener("click", act);
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") reset();
    if (event.key !== "f" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    ask();
  });
})();
