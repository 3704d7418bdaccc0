import type { FileChange, GitFile, GitStatusResponse } from "../../../api/types";

/** A commit that is being written. */
export interface CommitDraft {
  message: string;
  /** The files that somebody has chosen (true) or left out (false); the others are as they are at first. */
  chosen: ReadonlyMap<string, boolean>;
}

export const emptyDraft: CommitDraft = { message: "", chosen: new Map() };

/** An uncommitted file. */
export interface UncommittedFile extends GitFile {
  /** Its lines and whether it is closed; undefined if the diff does not list it. */
  change: FileChange | undefined;
  /** It can be committed from here. */
  possible: boolean;
}

/** The files of a status, with what the diff knows of them. */
export function uncommittedFiles(status: GitStatusResponse, changes: readonly FileChange[]): UncommittedFile[] {
  const known = new Map(changes.map((change) => [change.path, change]));
  return status.files.map((file) => {
    const change = known.get(file.path);
    return { ...file, change, possible: !change?.closed && file.status !== "conflicted" };
  });
}

/** The files that would be committed. At first those in the index, or all where it has none. */
export function chosenFiles(files: readonly UncommittedFile[], { chosen }: CommitDraft): UncommittedFile[] {
  const staged = files.some((file) => file.staged);
  return files.filter((file) => file.possible && (chosen.get(file.path) ?? (!staged || (file.staged ?? false))));
}

/** The paths of a commit: that of a file which was renamed has both of its names. */
export function pathsOf(files: readonly GitFile[]): string[] {
  return [...new Set(files.flatMap(({ path, from }) => (from ? [from, path] : [path])))];
}
