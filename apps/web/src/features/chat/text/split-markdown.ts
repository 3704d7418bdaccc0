/**
 * Cuts Markdown that still grows into pieces that no later text can change, and
 * the rest: while a message streams, only the last piece is parsed anew. A cut
 * stands only after a blank line outside of code, before a complete line that
 * begins a block of its own: never inside a list, a quote or an indented part.
 * The pieces joined are the text.
 */
export function splitMarkdown(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let fence = "";
  let afterBlank = false;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    if (newline === -1) {
      break; // it may yet become the next item of a list
    }
    const line = text.slice(at, newline);
    if (fence) {
      if (closes(line, fence)) {
        fence = "";
      }
    } else if (line.trim() !== "") {
      if (afterBlank && beginsBlock(line)) {
        pieces.push(text.slice(start, at));
        start = at;
      }
      fence = opens(line);
    }
    afterBlank = !fence && line.trim() === "";
    at = newline + 1;
  }
  if (start < text.length) {
    pieces.push(text.slice(start));
  }
  return pieces;
}

/** Cuts a text again and again as it grows: what was cut off stays, and only the rest is gone through. */
export class GrowingSplitter {
  #text = "";
  #pieces: string[] = [];

  split(text: string): string[] {
    const rest = this.#pieces.at(-1) ?? "";
    const grown = text.startsWith(this.#text);
    const kept = grown ? this.#pieces.slice(0, -1) : [];
    this.#pieces = [...kept, ...splitMarkdown(grown ? text.slice(this.#text.length - rest.length) : text)];
    this.#text = text;
    return this.#pieces;
  }
}

/** The code of a piece that is one block of it, whose end may be still to come; null for any other piece. */
export function codeOf(piece: string): { code: string; language: string } | null {
  const end = piece.indexOf("\n");
  const [, fence = "", language = ""] = /^(`{3,}|~{3,})([\w+#-]*)[ \t]*$/.exec(piece.slice(0, Math.max(0, end))) ?? [];
  const body = piece.slice(end + 1);
  if (fence === "" || /[\r\0]/.test(body)) {
    return null;
  }
  const closed = new RegExp(`^ {0,3}${fence}${fence[0]}*[ \\t]*$`, "m").exec(body);
  if (closed && body.slice(closed.index + closed[0].length).trim() !== "") {
    return null;
  }
  return { code: (closed ? body.slice(0, closed.index) : body).replace(/\n$/, ""), language };
}

/** What one part of a text can say of another: the target of a link, a note, HTML that blank lines do not end. */
const reaching = /^[ >]*(\[[^\]\n]*\]:|<(script|pre|style|textarea)\b|<[!?])/im;

/** Whether the pieces of a finished text read as the whole does. */
export function standsInPieces(text: string): boolean {
  return !reaching.test(text);
}

/** Whether a line after a blank one can belong to nothing that came before. */
function beginsBlock(line: string): boolean {
  return /^\*\*\S/.test(line) || !/^(\s|[-*+>]|\d{1,9}[.)])/.test(line);
}

/** The fence that a line opens, or "". */
export function opens(line: string): string {
  return /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? "";
}

export function closes(line: string, fence: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1] ?? "";
  return found[0] === fence[0] && found.length >= fence.length;
}
