import { useEffect, useRef } from "react";
import { Button } from "../../components/Button";
import { ScrollText } from "../../components/ScrollText";
import { t } from "../../i18n/memory";
import type { Current } from "./use-note";

export interface NoteConflictProps {
  theirs: Current;
  /** Whether the text was meant to be a new note. */
  isNew: boolean;
  onTake: () => void;
}

/** Shows that the note has changed since it was read. Nothing was saved. */
export function NoteConflict({ theirs, isNew, onTake }: NoteConflictProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ref.current?.scrollIntoView?.({ block: "nearest" });
  }, []);
  if (!theirs.version) {
    return (
      <p role="alert" data-testid="note-conflict" className="text-sm text-warn">
        {t("memory.noteConflict.deleted")}
      </p>
    );
  }
  return (
    <div
      ref={ref}
      role="alert"
      data-testid="note-conflict"
      className="rounded-md border border-warn-line bg-warn-soft p-3 text-sm"
    >
      <p>{isNew ? t("memory.noteConflict.exists") : t("memory.noteConflict.changed")}</p>
      <ScrollText
        label={t("memory.noteConflict.current")}
        text={theirs.text}
        className="max-h-48 rounded-md bg-surface p-2"
      />
      {theirs.partial ? null : (
        <Button className="mt-2" data-testid="note-take" onClick={onTake}>
          {t("memory.noteConflict.take")}
        </Button>
      )}
    </div>
  );
}
