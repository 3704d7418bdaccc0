/** Joins class names; values other than non-empty strings are omitted. */
export function cx(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
