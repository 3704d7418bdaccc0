import { createContext, useContext } from "react";

/** A file of the project and, if they are named, lines in it. */
export interface FilePlace {
  /** Relative to the folder of the session, with slashes. */
  path: string;
  /** The first and the last line, from 1; 0 where none is named. */
  line: number;
  end: number;
}

/** The files of the folder that the session works in. */
export interface SessionFiles {
  /** Its absolute path; "" while it is not known. */
  folder: string;
  /** Shows a file. Only then is the machine asked for it. */
  open(place: FilePlace): void;
}

/** null where files cannot be shown. */
export const FilesContext = createContext<SessionFiles | null>(null);

export function useFiles(): SessionFiles | null {
  return useContext(FilesContext);
}
