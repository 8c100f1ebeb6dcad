/** A picture of a terminal as SVG: text stays text, so it is sharp at any size and can be searched. */

const CELL = { width: 8.4, height: 18 };
const MARGIN = 16;
const COLOURS = { background: "#0d1117", text: "#d1d7e0", good: "#3fb950", bad: "#f85149", title: "#79c0ff" };

/** Which lines stand out. @type {readonly (readonly [RegExp, string])[]} */
const MARKS = [
  [/^\u2501\u2501 /, COLOURS.title],
  [/^ +\u2713 /, COLOURS.good],
  [/error: |^ +\* Cannot |failed\*\*/, COLOURS.bad],
];

/**
 * @param {string} text without control sequences
 * @param {number} columns longer lines are broken
 */
export function terminalPicture(text, columns) {
  const lines = text.split("\n").flatMap((line) => broken(line, columns));
  const width = Math.round(columns * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  const rows = lines.map((line, index) => {
    const y = MARGIN + (index + 0.75) * CELL.height;
    const colour = MARKS.find(([pattern]) => pattern.test(line))?.[1] ?? COLOURS.text;
    return `<text x="${MARGIN}" y="${y}" fill="${colour}">${escaped(line)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    `  font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="14" xml:space="preserve">`,
    `<rect width="100%" height="100%" rx="8" fill="${COLOURS.background}"/>`,
    ...rows,
    "</svg>",
    "",
  ].join("\n");
}

/** Broken at blanks; the rest is set in. @param {string} line @param {number} columns */
function broken(line, columns) {
  const pieces = [];
  for (let rest = line; ;) {
    if (rest.length <= columns) return [...pieces, rest];
    const blank = rest.lastIndexOf(" ", columns);
    const at = blank > columns / 2 ? blank : columns;
    pieces.push(rest.slice(0, at));
    rest = `        ${rest.slice(at).trimStart()}`;
  }
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
