import type { FileChange, GitFile, GitStatusResponse } from "../../../api/types";

/** A commit being prepared. */
export interface CommitDraft {
  message: string;
  /** The files that were selected (true) or deselected (false); the others have their initial state. */
  chosen: ReadonlyMap<string, boolean>;
}

export const emptyDraft: CommitDraft = { message: "", chosen: new Map() };

/** An uncommitted file. */
export interface UncommittedFile extends GitFile {
  /** Its lines, or the note that its content is withheld; undefined if the diff does not list it. */
  change: FileChange | undefined;
  /** Whether it can be committed from here. */
  possible: boolean;
}

/** Returns the files of a status, with their changes from the diff. */
export function uncommittedFiles(status: GitStatusResponse, changes: readonly FileChange[]): UncommittedFile[] {
  const known = new Map(changes.map((change) => [change.path, change]));
  return status.files.map((file) => {
    const change = known.get(file.path);
    return { ...file, change, possible: !change?.closed && file.status !== "conflicted" };
  });
}

/** Returns the files to commit: initially those in the index, or all if it is empty. */
export function chosenFiles(files: readonly UncommittedFile[], { chosen }: CommitDraft): UncommittedFile[] {
  const staged = files.some((file) => file.staged);
  return files.filter((file) => file.possible && (chosen.get(file.path) ?? (!staged || (file.staged ?? false))));
}

/** Returns the paths of a commit: a renamed file has both of its names. */
export function pathsOf(files: readonly GitFile[]): string[] {
  return [...new Set(files.flatMap(({ path, from }) => (from ? [from, path] : [path])))];
}
