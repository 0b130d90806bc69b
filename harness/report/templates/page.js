const stored = document.getElementById("evidence");
if (stored) {
  const evidence = JSON.parse(stored.textContent);
  const input = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const areas = [...document.querySelectorAll("details.area")].map((area) => ({
    area,
    rows: [...area.querySelectorAll("tbody tr")].map((row) => ({
      row,
      words: `${row.cells[0].textContent} ${row.cells[1].textContent} ${evidence[row.dataset.r]}`.toLowerCase(),
    })),
  }));
  const total = areas.reduce((sum, { rows }) => sum + rows.length, 0);
  const show = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { area, rows } of areas) {
      let found = 0;
      for (const { row, words } of rows) {
        row.hidden = !wanted.every((word) => words.includes(word));
        found += !row.hidden;
      }
      area.hidden = !found;
      area.open = wanted.length > 0 && found > 0 && count < 500;
      count += found;
    }
    shown.textContent = `${count.toLocaleString("en")} of ${total.toLocaleString("en")}`;
  };
  document.getElementById("filter-row").hidden = false;
  input.addEventListener("input", show);
  show();
}
addEventListener("beforeprint", () => {
  for (const failure of document.querySelectorAll("details.failure")) failure.open = true;
});
