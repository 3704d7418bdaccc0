// What a diff is made of, whoever made it.

/** One line. `note` is what is no line of either version, such as a mark of a missing line break. */
export interface DiffLine {
  kind: "same" | "added" | "removed" | "note";
  /** As the file has it, without the line break. */
  text: string;
  /** Its numbers in the old and in the new version, from 1; 0 where it has none. */
  old: number;
  new: number;
}

/** Lines that follow one another in both versions. */
export interface Hunk {
  /** What the maker of the diff says about the place, such as the name of a function. */
  heading: string;
  lines: DiffLine[];
}

export type Change = "changed" | "added" | "removed" | "renamed";

/** What became of one file. */
export interface DiffFile {
  /** Its name now, or the one that it had; "" where the diff has none. */
  path: string;
  /** The name that it had, where that is another one. */
  from: string | null;
  change: Change;
  hunks: Hunk[];
  /** What the diff says besides: another mode, or that the file is not text. */
  notes: string[];
  added: number;
  removed: number;
}

/** A diff as it is read so far. */
export interface ParsedDiff {
  files: DiffFile[];
  /** How many lines of the text were not read. */
  unread: number;
}

export function newFile(path = ""): DiffFile {
  return { path, from: null, change: "changed", hunks: [], notes: [], added: 0, removed: 0 };
}
