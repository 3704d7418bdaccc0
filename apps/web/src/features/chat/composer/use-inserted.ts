import { useEffect, useRef } from "react";
import type { Insert } from "../context/history-context";
import { type FileInText, joinFiles, splitFiles } from "../images/text-files";
import type { Attached } from "../images/use-attachments";
import type { useDraft } from "./use-draft";

/** Joins what is inserted to the draft, once. It goes in front, unless it is to be appended. */
export function useInserted(
  insert: Insert | null | undefined,
  { text, setText, attached }: Pick<ReturnType<typeof useDraft>, "text" | "setText" | "attached">,
): void {
  const inserted = useRef(insert);
  useEffect(() => {
    if (!insert || inserted.current === insert) {
      return;
    }
    inserted.current = insert;
    if (insert.append) {
      setText(joined(text, insert.text));
      return;
    }
    const came = splitFiles(insert.text);
    setText(came.text === text ? text : joined(came.text, text));
    attached.replaceFiles((before) => united(came.files, before, sameFile));
    attached.replace((before) => united(insert.images ?? [], before, sameImage));
  });
}

/** Puts a blank line between two texts, if there are two. */
function joined(first: string, second: string): string {
  return [first.trimEnd(), second].filter((part) => part.trim() !== "").join("\n\n");
}

/** Returns what came, followed by what was there and did not come again. */
function united<T>(came: readonly T[], before: readonly T[], same: (a: T, b: T) => boolean): T[] {
  return [...came, ...before.filter((each) => !came.some((other) => same(each, other)))];
}

const sameFile = (a: FileInText, b: FileInText) => joinFiles("", [a]) === joinFiles("", [b]);
const sameImage = (a: Attached, b: Attached) => a.sha256 !== undefined && a.sha256 === b.sha256;
