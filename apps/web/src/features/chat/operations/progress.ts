import type { ProcessLine } from "../../../api/types";

/** How far an operation is, between 0 and 1; null where it does not say. */
export function fraction(line: ProcessLine): number | null {
  const { current, total, percent } = line;
  if (current !== undefined && total !== undefined && total > 0) {
    return Math.min(current / total, 1);
  }
  return percent === undefined ? null : Math.min(percent / 100, 1);
}

/** The same in figures; "" where it does not say. */
export function figures(line: ProcessLine): string {
  const { current, total, percent } = line;
  if (current !== undefined && total !== undefined) {
    return `${short(current)} / ${short(total)}`;
  }
  if (percent !== undefined) {
    return `${Math.round(percent)} %`;
  }
  return current === undefined ? "" : short(current);
}

function short(n: number): string {
  return String(Math.round(n * 100) / 100);
}

/** "+1.4 s" after the beginning. */
export function after(line: ProcessLine, startedAt: number): string {
  const seconds = Math.max(0, line.timestamp - startedAt) / 1000;
  return seconds < 100 ? `+${seconds.toFixed(1)} s` : `+${Math.round(seconds)} s`;
}
