import { closes, opens } from "./split-markdown";

/** The deepest nesting of quotes and lists at the beginning of a line, and in a whole text. */
const maxDepth = 20;
const maxContainers = 3000;
/** The most emphasis and link marks, and table cells, in lines without a blank one between them. */
const maxMarks = 2000;
const maxMarksInARow = 200;
const maxTicks = 8000;
const maxCells = 20_000;

const containers = /^(?:[ \t]*(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s)))+/;
const container = />|[-*+](?=\s)|\d[.)]/g;

/**
 * Reports whether a Markdown parser would take far too long for a text, or fail: it is shown as written. Anyone who
 * makes the model repeat something can produce such a text, and it stays in the session.
 */
export function mustStayPlain(text: string): boolean {
  let fence = "";
  let inAll = 0;
  let part = { marks: 0, ticks: 0, columns: 0, rows: 0 };
  for (const line of text.split("\n")) {
    const within = fence !== "";
    fence = within ? (closes(line, fence) ? "" : fence) : opens(line);
    if (within || fence) {
      continue;
    }
    if (line.trim() === "") {
      part = { marks: 0, ticks: 0, columns: 0, rows: 0 };
    }
    const nested = count(containers.exec(line)?.[0] ?? "", container);
    inAll += nested;
    part.marks += count(line, /[[\]*_~<&@]|!\[|:\/\//g);
    part.ticks += count(line, /`/g);
    part.columns = Math.max(part.columns, count(line, /\|/g));
    part.rows += 1;
    if (nested > maxDepth || inAll > maxContainers || indentOf(line) > 8 * maxDepth) {
      return true;
    }
    if (
      part.marks > maxMarks ||
      part.ticks > maxTicks ||
      part.columns * part.rows > maxCells ||
      longestRun(line) > maxMarksInARow
    ) {
      return true;
    }
  }
  return false;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Returns the length of the longest run of emphasis and link marks with little between them. */
function longestRun(line: string): number {
  let longest = 0;
  for (const run of line.match(/(?:[[\]*_~!][^\s[\]*_~!]{0,2})+/g) ?? []) {
    longest = Math.max(longest, count(run, /[[\]*_~!]/g));
  }
  return longest;
}
