import type { LinePlace } from "../diff/Block";

/** Formats a comment on a line for a prompt: the position, the line and the comment. */
export function quoteOf({ path, line, text }: LinePlace, comment: string): string {
  const code = text.replace(/\r$/, "");
  const longest = Math.max(0, ...[...code.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return `\`${path}:${line}\`\n${fence}\n${code}\n${fence}\n${comment}`;
}
