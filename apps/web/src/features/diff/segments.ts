// Splits a line where its color or its words change.

import type { Token } from "../code/engine";
import { visible } from "../shared/visible";
import type { Piece } from "./compare";

export interface Segment {
  text: string;
  className: string | undefined;
  changed: boolean;
}

/** Both describe the same text; without tokens the text is plain, without pieces it is not compared. */
export function segmentsOf(text: string, tokens?: readonly Token[], pieces?: readonly Piece[]): Segment[] {
  const colors = tokens && sameText(text, tokens) ? tokens : [{ text, className: undefined }];
  const words = pieces && sameText(text, pieces) ? pieces : [{ text, changed: false }];
  const segments: Segment[] = [];
  let [c, w] = [0, 0];
  let [usedColor, usedWord] = [0, 0];
  while (c < colors.length && w < words.length) {
    const [color, word] = [colors[c], words[w]];
    if (!color || !word) {
      break;
    }
    const length = Math.min(color.text.length - usedColor, word.text.length - usedWord);
    if (length > 0) {
      const part = color.text.slice(usedColor, usedColor + length);
      segments.push({ text: visible(part), className: color.className, changed: word.changed });
    }
    usedColor += length;
    usedWord += length;
    if (usedColor >= color.text.length) {
      c++;
      usedColor = 0;
    }
    if (usedWord >= word.text.length) {
      w++;
      usedWord = 0;
    }
  }
  return segments;
}

function sameText(text: string, parts: readonly { text: string }[]): boolean {
  let at = 0;
  for (const part of parts) {
    if (!text.startsWith(part.text, at)) {
      return false;
    }
    at += part.text.length;
  }
  return at === text.length;
}
