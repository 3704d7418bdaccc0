const dollar = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });

/** US dollars: cents, and below one cent as many digits as tell something. */
export function dollars(cost: number): string {
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : dollar.format(cost);
}
