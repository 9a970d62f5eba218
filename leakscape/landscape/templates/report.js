// Sorts tables by the button in a column's head; cells without a figure come last either way.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const turn = { none: "ascending", ascending: "descending", descending: "none" };
      const order = turn[head.getAttribute("aria-sort") || "none"];
      heads.forEach((other) => other.querySelector("button") && other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      const key = (row) => row.cells[column].dataset.key;
      const sign = order === "descending" ? -1 : 1;
      const compare = (one, other) => {
        const [a, b] = [key(one), key(other)];
        if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1);
        const numbers = !isNaN(a) && !isNaN(b);
        return sign * (numbers ? a - b : a.localeCompare(b));
      };
      const rows = order === "none" ? original : [...original].sort(compare);
      body.append(...rows);
    });
  });
}

// Opens what is folded, or folds it again; a page is printed as it stands.
for (const button of document.querySelectorAll("button[data-unfold]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = button.dataset.open !== "yes";
    button.dataset.open = open ? "yes" : "";
    button.textContent = open ? "Fold all tables" : "Open all folded tables";
    button.closest("section").querySelectorAll("details").forEach((part) => (part.open = open));
  });
}
