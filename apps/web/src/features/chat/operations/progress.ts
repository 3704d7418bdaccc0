import type { ProcessLine } from "../../../api/types";
import { locale, number } from "../../../i18n/i18n";

/** Returns the progress of an operation between 0 and 1; null if unknown. */
export function fraction(line: ProcessLine): number | null {
  const { current, total, percent } = line;
  if (current !== undefined && total !== undefined && total > 0) {
    return Math.min(current / total, 1);
  }
  return percent === undefined ? null : Math.min(percent / 100, 1);
}

/** Returns the progress in figures; "" if unknown. */
export function figures(line: ProcessLine): string {
  const { current, total, percent } = line;
  if (current !== undefined && total !== undefined) {
    return `${short(current)} / ${short(total)}`;
  }
  if (percent !== undefined) {
    return new Intl.NumberFormat(locale(), { style: "percent" }).format(percent / 100);
  }
  return current === undefined ? "" : short(current);
}

function short(n: number): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(n);
}

/** Returns the time since the beginning, such as "+1.4 s". */
export function after(line: ProcessLine, startedAt: number): string {
  const seconds = Math.max(0, line.timestamp - startedAt) / 1000;
  return seconds < 100 ? `+${number(seconds, 1)} s` : `+${number(Math.round(seconds))} s`;
}
