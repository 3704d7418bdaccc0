import { type FormEvent, type RefObject, useId, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import type { MemoryNote } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Select } from "../../components/Select";
import { Skeleton } from "../../components/Skeleton";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/memory";
import { useAct } from "../shared/use-act";
import { DeleteNote } from "./DeleteNote";
import { NoteConflict } from "./NoteConflict";
import { placeOf } from "./note";
import { useNote } from "./use-note";

export interface NoteFormProps {
  host: Host;
  projectId: string | undefined;
  /** Whether notes for all projects are refused. */
  limited: boolean;
  /** null for a new one. */
  note: MemoryNote | null;
  /** Called with the result, in words. */
  onDone: (what: string) => Promise<unknown>;
  onCancel: () => void;
}

/** Edits a note, or creates one. */
export function NoteForm({ host, projectId, limited, note, onDone, onCancel }: NoteFormProps) {
  const [name, setName] = useState(note?.name ?? "");
  const [scope, setScope] = useState<MemoryNote["scope"]>(note?.scope ?? (projectId ? "project" : "user"));
  const place = placeOf(scope, name, projectId);
  const { base, text, setText, theirs, take, error: unread, save } = useNote(host, note ? place : null);
  const [deleting, setDeleting] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const { busy, error, act } = useAct();
  const takeTheirs = () => {
    if (theirs) {
      take(theirs);
      field.current?.focus(); // the button is gone
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void act("save", async () => {
      if (await save(place)) {
        await onDone(t("memory.noteForm.saved", { name }));
      }
    });
  };
  const failed = error ?? unread;
  const editable = base !== null && !base.partial;
  return (
    <form data-testid="note-form" onSubmit={submit} noValidate className="space-y-3 rounded-md border border-line p-3">
      {note ? (
        <h4 className="break-all font-medium font-mono text-sm">{note.name}</h4>
      ) : (
        <NewNote name={name} onName={setName} scope={scope} onScope={projectId && !limited ? setScope : null} />
      )}
      {limited && !note ? <p className="text-muted text-sm">{t("memory.noteForm.limited")}</p> : null}
      {base || unread ? null : <Skeleton label={t("memory.noteForm.loading")} rows={4} />}
      {base?.partial ? <p className="text-sm text-warn">{t("memory.noteForm.partial")}</p> : null}
      {editable ? <NoteText text={text} onText={setText} focused={note !== null} field={field} /> : null}
      {note ? <p className="break-all font-mono text-faint text-xs">{note.path}</p> : null}
      {theirs ? <NoteConflict theirs={theirs} isNew={!base?.version} onTake={takeTheirs} /> : null}
      <ErrorText>{failed}</ErrorText>
      <div className="flex flex-wrap justify-end gap-2">
        {note && base?.version && !theirs ? (
          <Button tone="danger" className="mr-auto" data-testid="note-delete" onClick={() => setDeleting(true)}>
            {t("memory.noteForm.delete")}
          </Button>
        ) : null}
        <Button onClick={onCancel}>{t("memory.noteForm.cancel")}</Button>
        {editable ? (
          <Button
            type="submit"
            tone={theirs ? "danger" : "primary"}
            data-testid="note-save"
            busy={busy !== null}
            disabled={!name || text.trim() === ""}
          >
            {theirs?.version ? t("memory.noteForm.replace") : t("memory.noteForm.save")}
          </Button>
        ) : null}
      </div>
      {deleting && base ? (
        <DeleteNote
          host={host}
          place={place}
          version={base.version}
          onDone={onDone}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </form>
  );
}

interface NewNoteProps {
  name: string;
  onName: (name: string) => void;
  scope: MemoryNote["scope"];
  /** null if there is only one. */
  onScope: ((scope: MemoryNote["scope"]) => void) | null;
}

function NewNote({ name, onName, scope, onScope }: NewNoteProps) {
  return (
    <>
      <TextField
        label={t("memory.noteForm.name")}
        hint={t("memory.noteForm.nameHint")}
        mono
        autoFocus
        value={name}
        placeholder="build-commands"
        data-testid="note-name"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => onName(event.target.value)}
      />
      {onScope ? (
        <Select
          label={t("memory.noteForm.appliesTo")}
          value={scope}
          options={[
            { value: "project", label: t("memory.noteForm.thisProject") },
            { value: "user", label: t("memory.noteForm.allProjects") },
          ]}
          onChange={(event) => onScope(event.target.value as MemoryNote["scope"])}
        />
      ) : null}
    </>
  );
}

interface NoteTextProps {
  text: string;
  onText: (text: string) => void;
  focused: boolean;
  field: RefObject<HTMLTextAreaElement | null>;
}

function NoteText({ text, onText, focused, field }: NoteTextProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium text-sm">
        {t("memory.noteForm.text")}
      </label>
      <textarea
        ref={field}
        id={id}
        dir="auto"
        rows={8}
        // biome-ignore lint/a11y/noAutofocus: the button that opened the form is gone
        autoFocus={focused}
        value={text}
        data-testid="note-text"
        placeholder={t("memory.noteForm.textHint")}
        onChange={(event) => onText(event.target.value)}
        className="block w-full rounded-md border border-line-strong bg-surface px-3 py-1.5 font-mono text-base placeholder:font-sans placeholder:text-faint sm:text-sm"
      />
    </div>
  );
}
