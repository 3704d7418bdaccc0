import { createContext, useContext } from "react";

/** A file of the project and, if given, lines in it. */
export interface FilePlace {
  /** Relative to the folder of the session, with slashes. */
  path: string;
  /** The first and the last line, from 1; 0 if none is given. */
  line: number;
  end: number;
}

/** The files of the session's folder. */
export interface SessionFiles {
  /** The absolute path of the folder; "" while unknown. */
  folder: string;
  /** Shows a file. The host is asked for it only then. */
  open(place: FilePlace): void;
}

/** null where files cannot be shown. */
export const FilesContext = createContext<SessionFiles | null>(null);

export function useFiles(): SessionFiles | null {
  return useContext(FilesContext);
}
