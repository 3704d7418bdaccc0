import { useState } from "react";
import type { Host } from "../../api/contract";
import type { MemoryNote } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { ScrollText } from "../../components/ScrollText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/memory";
import { useHostQuery } from "../shared/host-queries";
import { useLostFocus } from "../shared/lost-focus";
import { ago, useNow } from "../shared/time";
import { withHelp } from "../shared/with-help";
import { placeOf } from "./note";

export interface NoteRowProps {
  host: Host;
  projectId: string | undefined;
  note: MemoryNote;
  /** null if this browser may not change it. */
  onEdit: (() => void) | null;
}

/** A note: its subject, the sessions that use it, and its text. */
export function NoteRow({ host, projectId, note, onEdit }: NoteRowProps) {
  const [shown, setShown] = useState(false);
  const now = useNow(60_000);
  const { name, title, scope, modifiedAt } = note;
  const first = useLostFocus<HTMLButtonElement>();
  return (
    <>
      <div className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium font-mono text-sm [overflow-wrap:anywhere]">{name}</span>
        {projectId ? (
          <span className="text-faint text-xs">
            {scope === "project" ? t("memory.noteRow.thisProject") : t("memory.noteRow.allProjects")}
          </span>
        ) : null}
        <span className="text-faint text-xs">{ago(modifiedAt, now)}</span>
      </div>
      <p dir="auto" className="mt-0.5 line-clamp-2 break-words text-muted text-sm">
        {title}
      </p>
      <div className="-ml-3 mt-1 flex flex-wrap gap-x-1">
        <Button
          ref={first}
          tone="quiet"
          className="text-xs"
          data-testid="note-show"
          aria-expanded={shown}
          aria-label={shown ? t("memory.noteRow.hideNote", { name }) : t("memory.noteRow.showNote", { name })}
          onClick={() => setShown(!shown)}
        >
          {shown ? t("memory.noteRow.hide") : t("memory.noteRow.show")}
        </Button>
        {onEdit ? (
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="note-edit"
            aria-label={t("memory.noteRow.editNote", { name })}
            onClick={onEdit}
          >
            {t("memory.noteRow.edit")}
          </Button>
        ) : null}
      </div>
      {shown ? <Text host={host} projectId={projectId} note={note} /> : null}
    </>
  );
}

function Text({ host, projectId, note }: Pick<NoteRowProps, "host" | "projectId" | "note">) {
  const { data, error } = useHostQuery(host, "get_memory_note", placeOf(note.scope, note.name, projectId));
  if (error) {
    return <ErrorText>{withHelp(error)}</ErrorText>;
  }
  if (!data) {
    return <Skeleton label={t("memory.noteForm.loading")} rows={3} className="mt-2" />;
  }
  return (
    <div className="mt-1 rounded-md border border-line bg-sunken p-2 text-xs">
      <p className="break-all font-mono text-faint">{note.path}</p>
      <ScrollText data-testid="note-content" label={t("memory.noteForm.text")} text={data.text} />
    </div>
  );
}
