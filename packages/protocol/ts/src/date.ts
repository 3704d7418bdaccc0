// Dates of session files.

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Parses a timestamp to Unix milliseconds. Pi and scorel write RFC 3339 in UTC;
 * offsets are accepted too. All other text is NaN, an unknown date.
 */
export function dateOf(value: unknown): number {
  const parts = typeof value === "string" ? rfc3339.exec(value) : null;
  if (!parts) {
    return Number.NaN;
  }
  const [text, clock] = parts;
  // Date.parse reads February 30 as March 2, and 24:00 as the next day.
  const local = Date.parse(`${clock}.000Z`);
  const exists = !Number.isNaN(local) && new Date(local).toISOString() === `${clock}.000Z`;
  return exists ? Date.parse(text) : Number.NaN;
}

/** Compares dates. Unknown ones are equal and come last. */
export function compareDates(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) {
    return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  }
  return a - b;
}
