const requirements = JSON.parse(document.getElementById("requirements").textContent);
const rows = [...document.querySelectorAll("#cases tr")].map((row) => {
  const names = row.dataset.r ? row.dataset.r.split(" ").map((number) => requirements[number]) : [];
  return { row, words: `${row.cells[0].textContent} ${row.cells[1].textContent} ${names.join(" ")}`.toLowerCase() };
});
const shown = document.getElementById("shown");
function show() {
  const wanted = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { row, words } of rows) {
    row.hidden = !wanted.every((word) => words.includes(word));
    count += !row.hidden;
  }
  shown.textContent = `${count} of ${rows.length}`;
}
document.getElementById("filter").addEventListener("input", show);
show();
