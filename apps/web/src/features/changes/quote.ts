import type { LinePlace } from "../diff/Block";

/** A comment on a line as a part of a prompt: where it is, the line, and what is said of it. */
export function quoteOf({ path, line, text }: LinePlace, comment: string): string {
  const code = text.replace(/\r$/, "");
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `\`${path}:${line}\`\n${fence}\n${code}\n${fence}\n${comment}`;
}
