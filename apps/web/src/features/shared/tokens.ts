import { locale } from "../../i18n/i18n";

/** Formats a number of tokens: 950, 12.3K, 1M. */
export function tokens(count: number): string {
  return new Intl.NumberFormat(locale(), { notation: "compact", maximumFractionDigits: 1 }).format(count);
}
