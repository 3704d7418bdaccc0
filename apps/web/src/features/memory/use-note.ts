import { type ReactNode, useCallback, useEffect, useState } from "react";
import { ApiError, type Host } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { withHelp } from "../shared/with-help";
import type { NotePlace } from "./note";

/** A note as stored on the host. Without a version it does not exist. */
export interface Current {
  text: string;
  version: string;
  /** Whether the text is only a part of the file, and so cannot be saved. */
  partial: boolean;
}

const none: Current = { text: "", version: "", partial: false };

const isKind = (cause: unknown, kind: ApiKind) => cause instanceof ApiError && cause.kind === kind;

async function read(host: Host, place: NotePlace): Promise<Current> {
  try {
    const { note, text, partial = false } = await host.request("get_memory_note", place);
    return { text, version: note.version, partial };
  } catch (cause) {
    if (isKind(cause, ApiKind.not_found)) {
      return none;
    }
    throw cause;
  }
}

/**
 * The text of an edited note. A note that was changed meanwhile is not replaced: `theirs` has it until the person
 * chooses.
 */
export function useNote(host: Host, opened: NotePlace | null) {
  const [base, setBase] = useState<Current | null>(opened ? null : none);
  const [text, setText] = useState("");
  const [theirs, setTheirs] = useState<Current | null>(null);
  const [error, setError] = useState<ReactNode>(null);
  const take = useCallback((current: Current) => {
    setBase(current);
    setText(current.text);
    setTheirs(null);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once; later changes are detected on saving
  useEffect(() => {
    if (opened) {
      read(host, opened).then(take, (cause) => setError(withHelp(cause)));
    }
  }, []);
  /** Saves the text over the version that was read, or that replaced it. Resolves with true once it is saved. */
  const save = async (place: NotePlace): Promise<boolean> => {
    const version = theirs ? theirs.version : base?.version;
    try {
      await host.request("save_memory_note", { ...place, ...(version ? { version } : {}), text });
      return true;
    } catch (cause) {
      if (!isKind(cause, ApiKind.conflict)) {
        throw cause;
      }
      setTheirs(await read(host, place));
      return false;
    }
  };
  return { base, text, setText, theirs, take, error, save };
}
