import { type Forms, format, type Messages, type Values } from "./message";

/** Looks a message up and puts values at its placeholders. */
export type Translate<Id extends string> = (id: Id, values?: Values) => string;

/** The names and hints of a diagnosis, which the command line has too. */
export type DoctorWords = typeof import("../api/doctor-words.json");

/** The messages of a language other than English. */
export interface Translation {
  /** For dates, numbers and plurals, such as "zh-CN". */
  locale: string;
  /** By the names of the parts of the catalog. */
  parts: Readonly<Record<string, Messages>>;
  doctor?: DoctorWords;
}

// One language for the whole page, as long as it is open: choosing another one loads it again.
let spoken: Translation = { locale: "en", parts: {} };
let forms: Forms = formsOf("en");

/** Made when they are needed: a slow phone takes tens of milliseconds for them before it shows anything. */
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

/** The language as it is spoken now. */
export function translation(): Translation {
  return spoken;
}

/** What dates, numbers and lists are formatted for. */
export function locale(): string {
  return spoken.locale;
}

/** A number as the language writes it, with as many decimal digits as are wanted. */
export function number(value: number, digits = 0): string {
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return new Intl.NumberFormat(spoken.locale, fraction).format(value);
}

/**
 * Returns the function that looks messages up in a part of the catalog. Each part
 * is loaded with the pages that show it, in English; a translation has all parts.
 */
export function translator<Id extends string>(part: string, english: Messages): Translate<Id> {
  return (id, values = {}) => format((spoken.parts[part] ?? english)[id] ?? id, values, forms);
}
