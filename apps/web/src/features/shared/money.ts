import { locale } from "../../i18n/i18n";

/** Formats US dollars: cents, and below one cent as many digits as are significant. */
export function dollars(cost: number): string {
  const digits = cost < 0.01 ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 } : {};
  const currency = { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" } as const;
  return new Intl.NumberFormat(locale(), { ...currency, ...digits }).format(cost);
}
