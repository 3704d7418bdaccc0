// The model of a diff, whatever its source.

/** One line. A `note` is not a line of either version, for example the mark of a missing line break. */
export interface DiffLine {
  kind: "same" | "added" | "removed" | "note";
  /** As in the file, without the line break. */
  text: string;
  /** Its line numbers in the old and in the new version, from 1; 0 if it has none. */
  old: number;
  new: number;
}

/** Consecutive lines in both versions. */
export interface Hunk {
  /** The diff's description of the place, such as the name of a function. */
  heading: string;
  lines: DiffLine[];
}

export type Change = "changed" | "added" | "removed" | "renamed";

/** The changes of one file. */
export interface DiffFile {
  /** Its current name, or its former one; "" if the diff has none. */
  path: string;
  /** Its former name, if it was renamed. */
  from: string | null;
  change: Change;
  hunks: Hunk[];
  /** Further information of the diff: a changed mode, or that the file is not text. */
  notes: string[];
  added: number;
  removed: number;
}

/** A diff, as far as it was parsed. */
export interface ParsedDiff {
  files: DiffFile[];
  /** How many lines of the text were not parsed. */
  unread: number;
}

export function newFile(path = ""): DiffFile {
  return { path, from: null, change: "changed", hunks: [], notes: [], added: 0, removed: 0 };
}
