/** What means something in a paragraph of Markdown, or is not kept as it is. */
const marks = /[\\`*_~[\]<>&|@\r\t\0]|:\/\/|www\.| \n|\n\n/im;

/** How each line of it begins: never as a heading, a list, a quote, a rule or the line below a heading does. */
const beginnings = /^(?!\d{1,9}[.)])[\p{L}\p{N}"'“‘(]/u;

/** Whether a piece of Markdown is one paragraph of plain text, which reads as it was written. */
export function isParagraph(piece: string): boolean {
  const text = piece.trimEnd();
  return !marks.test(text) && text.split("\n").every((line) => beginnings.test(line));
}
