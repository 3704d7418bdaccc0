// Dates of session files, read the same on every machine.

const iso = /^[+-]?\d{4,6}(?:-\d\d){0,2}(?:T[\d:.]+)?$/i;
const zoned = /:.*(?:Z|GMT|[+-]\d\d:?\d\d)$/i;

/**
 * What `new Date(value).getTime()` gives, in Unix milliseconds; NaN for what is no
 * date. A time without a zone is UTC, where JavaScript takes the zone of the machine,
 * and a text without a year is no date, where engines guess one.
 */
export function dateOf(value: unknown): number {
  if (typeof value === 'string') {
    return parse(value);
  }
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? new Date(Number(value)).getTime()
    : Number.NaN;
}

function parse(text: string): number {
  if (iso.test(text)) {
    return Date.parse(text.includes(':') ? `${text}Z` : text);
  }
  if (zoned.test(text)) {
    return Date.parse(text);
  }
  return /\d{4}/.test(text) ? Date.parse(`${text} UTC`) : Number.NaN;
}
