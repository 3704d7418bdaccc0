import type { MemoryNote, Requests } from "../../api/types";

/** Identifies a note in a request. */
export type NotePlace = Requests["get_memory_note"]["request"];

export function placeOf(scope: MemoryNote["scope"], name: string, projectId: string | undefined): NotePlace {
  return scope === "project" && projectId ? { scope, projectId, name } : { scope, name };
}
