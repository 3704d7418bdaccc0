import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type MemoryNote } from "../../api/types";
import { Button } from "../../components/Button";
import { PlusIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/memory";
import { isRefusal } from "../shared/errors";
import { isLimited, may } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { useHostQuery } from "../shared/host-queries";
import { useLostFocus } from "../shared/lost-focus";
import { Section } from "../shared/Section";
import { withHelp } from "../shared/with-help";
import { NoteForm } from "./NoteForm";
import { NoteRow } from "./NoteRow";
import { ReviewNotes } from "./ReviewNotes";

export interface MemoryListProps {
  host: Host;
  /** If absent, only the notes for all projects are shown. */
  projectId?: string;
  mayManage: boolean;
}

const keyOf = (note: MemoryNote) => `${note.scope} ${note.name}`;

/**
 * Keeps the form of a note that is deleted while it is edited, with the text in it. It comes first, so that it does not
 * move.
 */
function withEdited(notes: MemoryNote[], edited: MemoryNote | null): MemoryNote[] {
  return !edited || notes.some((note) => keyOf(note) === keyOf(edited)) ? notes : [edited, ...notes];
}

/** The notes that the agent keeps for later sessions, which can be read, changed and deleted. */
export function MemoryList({ host, projectId, mayManage }: MemoryListProps) {
  const { data, error, refetch } = useHostQuery(host, "list_memory", projectId ? { projectId } : {});
  // The edited note, as it was when editing began; "" for a new one.
  const [editing, setEditing] = useState<MemoryNote | "" | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const { info } = useHostData(host);
  const limited = isLimited(info);
  const mayPrompt = may(info, "prompt");
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const edit = (note: MemoryNote | "") => {
    setDone(null);
    setEditing(note);
  };
  const edited = editing ? keyOf(editing) : null;
  const form = (note: MemoryNote | null) => (
    <NoteForm
      host={host}
      projectId={projectId}
      limited={limited}
      note={note}
      onDone={async (what) => {
        await refetch();
        setEditing(null);
        setDone(what);
      }}
      onCancel={() => setEditing(null)}
    />
  );
  return (
    <Section title={t("memory.memoryList.memory")} error={error ? withHelp(error) : null} done={done}>
      <p className="mt-1 text-muted text-sm">
        {projectId ? t("memory.memoryList.ofTheProject") : t("memory.memoryList.ofAllProjects")}
      </p>
      {data || error ? null : <Skeleton label={t("memory.memoryList.loading")} rows={2} className="mt-2" />}
      {data?.notes.length === 0 ? <p className="mt-2 text-sm">{t("memory.memoryList.none")}</p> : null}
      <ul className="mt-2 divide-y divide-line">
        {withEdited(data?.notes ?? [], editing || null).map((note) => (
          <li key={keyOf(note)} data-testid="note" className="py-2.5">
            {edited === keyOf(note) ? (
              form(note)
            ) : (
              <NoteRow
                host={host}
                projectId={projectId}
                note={note}
                onEdit={mayManage && !(limited && note.scope === "user") ? () => edit(note) : null}
              />
            )}
          </li>
        ))}
      </ul>
      {mayManage && data && editing === "" ? form(null) : null}
      <div className="mt-3 flex flex-wrap items-center gap-2 empty:mt-0">
        {mayManage && data && editing !== "" ? <NewButton onClick={() => edit("")} /> : null}
        {projectId && mayPrompt && data?.notes.length ? <ReviewNotes host={host} projectId={projectId} /> : null}
      </div>
    </Section>
  );
}

function NewButton({ onClick }: { onClick: () => void }) {
  const ref = useLostFocus<HTMLButtonElement>();
  return (
    <Button ref={ref} data-testid="new-note" onClick={onClick}>
      <PlusIcon /> {t("memory.memoryList.newNote")}
    </Button>
  );
}
