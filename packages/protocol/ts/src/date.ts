// Dates of session files, read the same on every machine.

/** ISO 8601 with a time and without a zone, also with a blank in place of the T. */
const zoneless = /^[+-]?\d{4,6}-\d\d?-\d\d?[Tt ]\d\d?:\d\d(:\d\d(\.\d+)?)?$/;

/**
 * What `new Date(value).getTime()` gives, in Unix milliseconds; NaN for what is no
 * date. A time without a zone is UTC, where JavaScript takes the zone of the machine.
 */
export function dateOf(value: unknown): number {
  if (typeof value === 'string') {
    return Date.parse(zoneless.test(value) ? `${value}Z` : value);
  }
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? new Date(Number(value)).getTime()
    : Number.NaN;
}
