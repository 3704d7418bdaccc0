/**
 * Splits growing Markdown into pieces that later text cannot change, and the rest: while a message streams, only the
 * last piece is parsed again. It cuts only after a blank line outside code and before a complete line that begins a new
 * block: never inside a list, a quote or an indented part. The joined pieces equal the text.
 */
export function splitMarkdown(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  let fence = "";
  let afterBlank = false;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    if (newline === -1) {
      break; // it may still become the next item of a list
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

/** Splits a text repeatedly as it grows: earlier cuts stay, and only the rest is scanned. */
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

/** Returns the code of a piece that is one code block, whose end may still follow; null for any other piece. */
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

/** Constructs that affect other parts of a text: the target of a link, a footnote, HTML that blank lines do not end. */
const reaching = /^[ >]*(\[[^\]\n]*\]:|<(script|pre|style|textarea)\b|<[!?])/im;

/** Reports whether the pieces of a finished text render like the whole. */
export function standsInPieces(text: string): boolean {
  return !reaching.test(text);
}

/** Reports whether a line after a blank one begins a new block. */
function beginsBlock(line: string): boolean {
  return /^\*\*\S/.test(line) || !/^(\s|[-*+>]|\d{1,9}[.)])/.test(line);
}

/** Returns the fence that a line opens, or "". */
export function opens(line: string): string {
  return /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? "";
}

export function closes(line: string, fence: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1] ?? "";
  return found[0] === fence[0] && found.length >= fence.length;
}
