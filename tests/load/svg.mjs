// Draws one curve over time as SVG, readable on light and on dark pages.

const [WIDTH, HEIGHT] = [720, 240];
const EDGES = { left: 64, right: 16, top: 34, bottom: 34 };
const TICKS = 4;

const STYLE = `
  svg { background: #ffffff; font: 12px system-ui, sans-serif; }
  text { fill: #333333; } .title { font-size: 14px; font-weight: 600; }
  .grid { stroke: #dddddd; } .curve { fill: none; stroke: #1558b0; stroke-width: 1.5; } .mark { stroke: #b06000; stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    svg { background: #16181d; } text { fill: #dddddd; } .grid { stroke: #3a3d44; } .curve { stroke: #7ab4ff; } .mark { stroke: #ffb454; }
  }`;

/** A step of 1, 2 or 5 times a power of ten, so that the axis has about four. */
function step(most) {
  const rough = Math.max(most, 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(times => times * power).find(size => size >= rough);
}

const escaped = text => text.replace(/[&<>]/g, sign => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

/** `points` are pairs of minutes and value; `marks` are pairs of minutes and a word. */
export function draw(title, unit, points, marks = []) {
  const [minutes, size] = [Math.max(...points.map(([at]) => at), 0.01), step(Math.max(...points.map(([, value]) => value)))];
  const most = size * Math.max(1, Math.ceil(Math.max(...points.map(([, value]) => value)) / size));
  const x = at => EDGES.left + (at / minutes) * (WIDTH - EDGES.left - EDGES.right);
  const y = value => HEIGHT - EDGES.bottom - (value / most) * (HEIGHT - EDGES.top - EDGES.bottom);
  const lines = [];
  for (let value = 0; value <= most; value += size) {
    lines.push(`<line class="grid" x1="${EDGES.left}" x2="${WIDTH - EDGES.right}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"/>`);
    lines.push(`<text x="${EDGES.left - 8}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${Number(value.toPrecision(6))}</text>`);
  }
  const pace = step(minutes);
  for (let at = 0; at <= minutes; at += pace) lines.push(`<text x="${x(at).toFixed(1)}" y="${HEIGHT - 12}" text-anchor="middle">${Number(at.toPrecision(6))}</text>`);
  for (const [at, word] of marks) {
    lines.push(`<line class="mark" x1="${x(at).toFixed(1)}" x2="${x(at).toFixed(1)}" y1="${EDGES.top}" y2="${HEIGHT - EDGES.bottom}"/>`);
    lines.push(`<text x="${(x(at) - 4).toFixed(1)}" y="${EDGES.top + 12}" text-anchor="end">${escaped(word)}</text>`);
  }
  const curve = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}</style>
<text class="title" x="${EDGES.left}" y="20">${escaped(title)}</text>
<text x="${WIDTH - EDGES.right}" y="20" text-anchor="end">${escaped(unit)}, by minute</text>
${lines.join("\n")}
<polyline class="curve" points="${curve}"/>
</svg>
`;
}
