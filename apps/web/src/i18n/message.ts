// What the compiler of messages makes of "Delete {name}?" is ["Delete ", ["name"], "?"].

/** A compiled message. It has only what messages use: placeholders and plurals. */
export type Message = string | readonly Part[];
type Part = string | readonly [name: string, kind?: "plural", forms?: Readonly<Record<string, Message>>];

/** The messages of one part of the catalog: by their ids, or in a build by their places. */
export type Messages = Readonly<Record<string, Message>>;

export type Values = Readonly<Record<string, unknown>>;

/** Puts values at the placeholders of a message. They are shown as they are. */
export function format(message: Message, values: Values, plurals: Intl.PluralRules): string {
  return typeof message === "string" ? message : message.map((part) => partOf(part, values, plurals)).join("");
}

function partOf(part: Part, values: Values, plurals: Intl.PluralRules): string {
  if (typeof part === "string") {
    return part;
  }
  const [name, , forms] = part;
  const value = values[name];
  if (!forms) {
    return String(value);
  }
  const count = Number(value);
  return format(forms[count] ?? forms[plurals.select(count)] ?? forms.other ?? "", values, plurals);
}
