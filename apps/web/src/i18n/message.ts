// The message compiler turns "Delete {name}?" into ["Delete ", ["name"], "?"].

/** A compiled message. It supports only what messages use: placeholders and plurals. */
export type Message = string | readonly Part[];
type Part = string | readonly [name: string, kind?: "plural", forms?: Readonly<Record<string, Message>>];

/** The messages of one part of the catalog: by their ids, or in a build by their positions. */
export type Messages = Readonly<Record<string, Message>>;

export type Values = Readonly<Record<string, unknown>>;

/** The number format and the plural rules of a language. */
export interface Forms {
  plurals: Intl.PluralRules;
  numbers: Intl.NumberFormat;
}

/** Fills in the placeholders of a message: numbers are formatted in the language, other values are unchanged. */
export function format(message: Message, values: Values, forms: Forms): string {
  return typeof message === "string" ? message : message.map((part) => partOf(part, values, forms)).join("");
}

function partOf(part: Part, values: Values, written: Forms): string {
  if (typeof part === "string") {
    return part;
  }
  const [name, , forms] = part;
  const value = values[name];
  if (!forms) {
    return typeof value === "number" ? written.numbers.format(value) : String(value);
  }
  const count = Number(value);
  return format(forms[count] ?? forms[written.plurals.select(count)] ?? forms.other ?? "", values, written);
}
