import { type Forms, format, type Messages, type Values } from "./message";

/** Looks a message up and fills in its placeholders. */
export type Translate<Id extends string> = (id: Id, values?: Values) => string;

/** The names and hints of a diagnosis, shared with the command line. */
export type DoctorWords = typeof import("../api/doctor-words.json");

/** The messages of a language other than English. */
export interface Translation {
  /** The locale of dates, numbers and plurals, such as "zh-CN". */
  locale: string;
  /** By the names of the catalog's parts. */
  parts: Readonly<Record<string, Messages>>;
  doctor?: DoctorWords;
}

// One language for the whole page while it is open: choosing another one reloads the page.
let spoken: Translation = { locale: "en", parts: {} };
let forms: Forms = formsOf("en");

/**
 * Returns the number and plural rules of a locale. They are created on demand: a slow phone needs tens of milliseconds
 * for them, before it shows anything.
 */
function formsOf(name: string): Forms {
  let plurals: Intl.PluralRules | undefined;
  let numbers: Intl.NumberFormat | undefined;
  return {
    get plurals() {
      plurals ??= new Intl.PluralRules(name);
      return plurals;
    },
    get numbers() {
      numbers ??= new Intl.NumberFormat(name);
      return numbers;
    },
  };
}

/** Sets the language, before any text is shown. */
export function speak(translation: Translation): void {
  spoken = translation;
  forms = formsOf(translation.locale);
}

/** Returns the current language. */
export function translation(): Translation {
  return spoken;
}

/** Returns the locale of dates, numbers and lists. */
export function locale(): string {
  return spoken.locale;
}

/** Formats a number in the current language, with the given number of decimals. */
export function number(value: number, digits = 0): string {
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(spoken.locale, fraction).format(value);
}

/**
 * Returns the function that looks up messages of a part of the catalog. Each part is loaded in English with the pages
 * that show it; a translation has all parts.
 */
export function translator<Id extends string>(part: string, english: Messages): Translate<Id> {
  return (id, values = {}) => format((spoken.parts[part] ?? english)[id] ?? id, values, forms);
}
