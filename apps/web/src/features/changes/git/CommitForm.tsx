import { type FormEvent, type ReactNode, useId, useRef, useState } from "react";
import { ApiError, type Host } from "../../../api/contract";
import { ApiKind, MAX_MESSAGE } from "../../../api/types";
import { Button } from "../../../components/Button";
import { t } from "../../../i18n/changes";
import { withHelp } from "../../shared/with-help";
import { type CommitDraft, pathsOf, type UncommittedFile } from "./commit-draft";

export interface CommitFormProps {
  host: Host;
  sessionId: string;
  draft: CommitDraft;
  onDraft: (draft: CommitDraft) => void;
  /** The current commit as shown; "" before the first one. */
  head: string;
  files: readonly UncommittedFile[];
  /** Whether git has another operation to finish. */
  blocked: boolean;
  onCommitted: (id: string) => void;
  /** Called when the repository is not as shown. */
  onRefused: () => void;
}

/** The message of a commit and its button. They stay visible below a long list. */
export function CommitForm(props: CommitFormProps) {
  const { draft, onDraft, files, blocked } = props;
  const { busy, error, commit } = useCommit(props);
  const id = useId();
  const ready = !blocked && files.length > 0 && draft.message.trim() !== "";
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (ready && !busy) {
      void commit();
    }
  };
  return (
    <form onSubmit={submit} className="-mx-4 sticky -bottom-4 z-10 border-line border-t bg-surface px-4 pt-3 pb-4">
      {error ? (
        <p role="alert" data-testid="commit-error" className="mb-2 break-words text-danger text-sm">
          {error}
        </p>
      ) : null}
      <label htmlFor={id} className="sr-only">
        {t("changes.git.message")}
      </label>
      <div className="flex items-end gap-2">
        <textarea
          id={id}
          rows={1}
          dir="auto"
          value={draft.message}
          maxLength={MAX_MESSAGE}
          placeholder={t("changes.git.message")}
          data-testid="commit-message"
          onChange={(event) => onDraft({ ...draft, message: event.target.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) {
              submit(event);
            }
          }}
          className="touchable field-sizing-content max-h-40 min-w-0 flex-1 resize-none rounded-md border border-line bg-surface px-3 py-1.5 text-base"
        />
        <Button type="submit" tone="primary" data-testid="commit" busy={busy} disabled={!ready}>
          {t("changes.git.commit")}
        </Button>
      </div>
    </form>
  );
}

/** Commits. A commit that is repeated because its answer was lost is made once. */
function useCommit({ host, sessionId, draft, head, files, onCommitted, onRefused }: CommitFormProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const last = useRef({ what: "", clientKey: "" });
  const commit = async () => {
    const wanted = { head, message: draft.message.trim(), paths: pathsOf(files) };
    const what = JSON.stringify(wanted);
    if (last.current.what !== what) {
      last.current = { what, clientKey: crypto.randomUUID() };
    }
    setBusy(true);
    setError(null);
    try {
      const made = await host.request("git_commit", { sessionId, clientKey: last.current.clientKey, ...wanted });
      onCommitted(made.commit);
    } catch (cause) {
      setError(withHelp(cause));
      if (cause instanceof ApiError && cause.kind === ApiKind.conflict) {
        onRefused();
      }
    }
    setBusy(false);
  };
  return { busy, error, commit };
}
