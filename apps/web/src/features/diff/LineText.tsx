import { useState } from "react";
import { t } from "../../i18n/diff";
import type { Token } from "../code/engine";
import type { Piece } from "./compare";
import { segmentsOf } from "./segments";

/** How many characters of a long line are shown, and how many more on each request. */
export const shownChars = 2000;
const moreChars = 20_000;

export interface LineTextProps {
  text: string;
  tokens: readonly Token[] | undefined;
  pieces: readonly Piece[] | undefined;
  /** The element around words that the other version does not have. */
  mark: "ins" | "del";
}

/** The highlighted text of a line, with its changes. */
export function LineText({ text, tokens, pieces, mark: Mark }: LineTextProps) {
  const [shown, setShown] = useState(shownChars);
  const hidden = text.length - shown;
  const segments = hidden > 0 ? segmentsOf(text.slice(0, shown)) : segmentsOf(text, tokens, pieces);
  return (
    <>
      {segments.map(({ text: part, className, changed }, i) => {
        if (!changed && !className) {
          return part; // an element for each costs more layout time than all the colors
        }
        const Around = changed ? Mark : "span";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line have no other key
          <Around key={i} className={className}>
            {part}
          </Around>
        );
      })}
      {hidden > 0 ? (
        <button type="button" className="diff-more" onClick={() => setShown(shown + moreChars)}>
          {t("diff.showMoreCharacters", { hidden })}
        </button>
      ) : null}
    </>
  );
}
