/** Characters with a meaning in a paragraph of Markdown, or that are not preserved. */
const marks = /[\\`*_~[\]<>&|@\r\t\0]|:\/\/|www\.| \n|\n\n/im;

/** The beginning of each line: not that of a heading, a list, a quote, a rule or a heading's underline. */
const beginnings = /^(?!\d{1,9}[.)])[\p{L}\p{N}"'“‘(]/u;

/** Reports whether a piece of Markdown is one paragraph of plain text, which renders as written. */
export function isParagraph(piece: string): boolean {
  const text = piece.trimEnd();
  return !marks.test(text) && text.split("\n").every((line) => beginnings.test(line));
}
