import type { Host } from "../../api/contract";
import { t } from "../../i18n/memory";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import type { NotePlace } from "./note";

export interface DeleteNoteProps {
  host: Host;
  place: NotePlace;
  /** The version that was read. */
  version: string;
  onDone: (what: string) => Promise<unknown>;
  onClose: () => void;
}

/** Asks for confirmation before a note is deleted. */
export function DeleteNote({ host, place, version, onDone, onClose }: DeleteNoteProps) {
  const { name } = place;
  return (
    <ConfirmSheet
      title={t("memory.deleteNote.title", { name })}
      confirm={t("memory.noteForm.delete")}
      onConfirm={async () => {
        await host.request("delete_memory_note", { ...place, version });
        await onDone(t("memory.deleteNote.deleted", { name }));
      }}
      onClose={onClose}
    >
      {t("memory.deleteNote.explained")}
    </ConfirmSheet>
  );
}
