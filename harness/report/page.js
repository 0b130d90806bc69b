const rows = [...document.querySelectorAll("#cases tr[data-words]")];
const shown = document.getElementById("shown");
function show() {
  const words = document.getElementById("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const row of rows) {
    const visible = words.every((word) => row.dataset.words.includes(word));
    row.hidden = !visible;
    count += visible;
  }
  shown.textContent = `${count} of ${rows.length} cases`;
}
document.getElementById("filter").addEventListener("input", show);
show();
