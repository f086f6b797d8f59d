"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Values under the pointer -------------------------------------------------------------------
  const tip = document.querySelector(".tip");
  const showTip = (event, text) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
    const above = event.clientY - box.height - 12;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${above > 8 ? above : event.clientY + 18}px`;
  };
  document.addEventListener("pointermove", (event) => {
    const marked = event.target.closest ? event.target.closest("[data-tip]") : null;
    if (marked) showTip(event, marked.dataset.tip);
    else tip.hidden = true;
  });
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  // Tables: the first lines only until asked for more, sorted by a click, searched while typing --
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const text = (cell.dataset.value ?? cell.textContent).trim();
    const number = Number(text.replace("−", "-").replace("%", ""));
    return text !== "" && Number.isFinite(number) ? number : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  };
  const prepare = (table) => {
    const body = table.tBodies[0];
    const first = Number(table.dataset.first || Infinity);
    const input = document.querySelector(`[data-search="${table.id}"]`);
    const count = document.querySelector(`[data-count="${table.id}"]`);
    const total = body.rows.length;
    let open = false;
    const more = document.createElement("button");
    more.type = "button";
    more.className = "more";
    if (total > first) {
      table.parentElement.after(more);
      more.addEventListener("click", () => { open = !open; show(); });
    } else if (input && total <= 8) {
      input.parentElement.hidden = true;
      input.parentElement.style.display = "none";
    }
    const show = () => {
      const wanted = input ? input.value.trim().toLowerCase() : "";
      let found = 0;
      for (const row of body.rows) {
        const matches = !wanted || row.textContent.toLowerCase().includes(wanted);
        found += matches;
        row.hidden = !matches || (!wanted && !open && found > first);
      }
      if (count) count.textContent = wanted ? `${found} of ${total}` : "";
      more.textContent = open ? "Show fewer" : `Show all ${total}`;
      more.hidden = Boolean(wanted);
    };
    if (input) input.addEventListener("input", show);
    all("button.sort", table.tHead).forEach((button) => {
      const header = button.closest("th");
      button.addEventListener("click", () => {
        const upwards = header.getAttribute("aria-sort") === "ascending";
        const numeric = header.classList.contains("numeric");
        const known = header.hasAttribute("aria-sort");
        const sign = (known ? !upwards : !numeric || header.cellIndex === 0) ? 1 : -1;
        all("th", table.tHead).forEach((other) => other.removeAttribute("aria-sort"));
        header.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const rows = [...body.rows].map((row, place) => [valueOf(row, header.cellIndex), place, row]);
        rows.sort((a, b) => sign * compare(a[0], b[0]) || a[1] - b[1]);
        body.append(...rows.map((entry) => entry[2]));
        show();
      });
    });
    window.addEventListener("beforeprint", () => { for (const row of body.rows) row.hidden = false; });
    window.addEventListener("afterprint", show);
    show();
  };
  all("table.sortable").forEach(prepare);

  // The matrix: a cell and its mirror image ------------------------------------------------------
  const data = JSON.parse(document.getElementById("matrix-data").textContent);
  const picture = document.querySelector("svg.matrix");
  if (data && picture) {
    const cells = picture.querySelector(".cells");
    const [mark, mirror] = all(".mark", cells);
    const line = document.querySelector(".matrix-tip");
    const margin = Number(cells.dataset.margin);
    const size = Number(cells.dataset.cell);
    const shown = (value) => {
      if (value === null) return "not compared";
      return data.quantity === "probability" ? `${(100 * value).toFixed(1)} %` : String(value);
    };
    const put = (node, row, column) => {
      node.setAttribute("x", margin + column * size);
      node.setAttribute("y", row * size);
      node.setAttribute("visibility", "visible");
    };
    const bold = (text) => {
      const node = document.createElement("b");
      node.textContent = text;
      return node;
    };
    const point = (event) => {
      const place = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(picture.getScreenCTM().inverse());
      const column = Math.floor((place.x - margin) / size);
      const row = Math.floor(place.y / size);
      if (row < 0 || column < 0 || row >= data.names.length || column >= data.names.length) return;
      if (row === column) return;
      put(mark, row, column);
      put(mirror, column, row);
      line.replaceChildren(
        bold(data.names[row]), " beside ", bold(data.names[column]), ": ",
        shown(data.values[row][column]), document.createElement("br"),
        "swapped: ", shown(data.values[column][row]),
      );
    };
    picture.addEventListener("pointermove", point);
    picture.addEventListener("pointerdown", point);
  }
})();
