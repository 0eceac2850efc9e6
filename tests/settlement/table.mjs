// Prints tables row by row, and computes the figures in them.

/** The value below which `share` of all values lie; NaN without values. */
export function percentile(values, share) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

/** Milliseconds as seconds with two digits. */
export const seconds = milliseconds => (Number.isFinite(milliseconds) ? (milliseconds / 1_000).toFixed(2) : "-");

/** Milliseconds with one digit. */
export const milliseconds = value => (Number.isFinite(value) ? value.toFixed(1) : "-");

export function count(values) {
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** Counts in words: "12 × 503, 2 × 409". */
export const words = counts => Object.entries(counts).map(([name, number]) => `${number} × ${name}`).join(", ") || "-";

/** Prints the title and the names of the columns; the answer prints a row. The last column may be long. */
export function startTable(title, columns) {
  const width = column => Math.max(column.length, 9);
  const line = values => console.log(values.map((value, at) => (at === columns.length - 1 ? String(value) : String(value).padStart(width(columns[at])))).join("  "));
  console.log(`\n${title}`);
  line(columns);
  return row => line(columns.map(column => row[column] ?? "-"));
}
