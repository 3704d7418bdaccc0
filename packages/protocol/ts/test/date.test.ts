import { expect, test } from 'vitest';
import golden from '../../session/testdata/javascript.json';
import { dateOf } from '../src/date.ts';

test.each(golden.dates as [string, number | null][])('%s', (text, want) => {
  expect(dateOf(text)).toBe(want ?? Number.NaN);
});

test('dates of other kinds, and those that depend on the machine elsewhere', () => {
  for (const [value, want] of [
    [null, 0],
    [true, 1],
    [1767323045000.9, 1767323045000],
    [8.65e15, Number.NaN],
    [undefined, Number.NaN],
    [{}, Number.NaN],
    ['0', Number.NaN],
    ['2026-01-02T03:04:05', 1767323045000],
    ['2026-01-02 03:04:05+01:00', 1767319445000],
    ['Fri, 02 Jan 2026 03:04:05 +0100', 1767319445000],
    ['Jan 2, 2026 15:04:05', 1767366245000],
  ]) {
    expect(dateOf(value)).toBe(want);
  }
});
