import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Host } from "../../../api/contract";
import type { GitStatusResponse } from "../../../api/types";
import { Notice } from "../../../components/Notice";
import { Skeleton } from "../../../components/Skeleton";
import { t } from "../../../i18n/changes";
import { Failed } from "../Failed";
import { FileDetail } from "../FileDetail";
import { FileRow } from "../FileRow";
import { CheckBox } from "./CheckBox";
import { CommitForm } from "./CommitForm";
import { type CommitDraft, chosenFiles, type UncommittedFile, uncommittedFiles } from "./commit-draft";
import { gitKey, shortId } from "./git-key";

export interface UncommittedProps {
  host: Host;
  sessionId: string;
  status: GitStatusResponse;
  mayWrite: boolean;
  onPrompt: ((text: string) => void) | null;
  draft: CommitDraft;
  onDraft: (draft: CommitDraft) => void;
  onCommitted: () => void;
}

/** The uncommitted changes, and the form to commit them. */
export function Uncommitted({
  host,
  sessionId,
  status,
  mayWrite,
  onPrompt,
  draft,
  onDraft,
  onCommitted,
}: UncommittedProps) {
  const [made, setMade] = useState<string | null>(null);
  const changes = useQuery({
    queryKey: gitKey(host, sessionId, "uncommitted"),
    queryFn: () => host.request("git_diff", { sessionId }),
    enabled: status.files.length > 0,
    retry: false,
    gcTime: 0,
  });
  if (status.files.length === 0) {
    return (
      <>
        <Made id={made} />
        <p role="status" className="text-muted text-sm">
          {t("changes.git.nothing")}
        </p>
      </>
    );
  }
  if (changes.isPending) {
    return <Skeleton label={t("changes.loading")} rows={5} />;
  }
  if (!changes.data) {
    return <Failed error={changes.error} onRetry={() => changes.refetch()} />;
  }
  const files = uncommittedFiles(status, changes.data.files);
  const chosen = chosenFiles(files, draft);
  const choose = (paths: readonly string[], on: boolean) =>
    onDraft({ ...draft, chosen: new Map([...draft.chosen, ...paths.map((path) => [path, on] as const)]) });
  return (
    <>
      <Made id={made} />
      {status.busy ? <Notice tone="warn" title={t("changes.git.busy", { operation: status.busy })} /> : null}
      {mayWrite ? (
        <AllFiles files={files} chosen={chosen.length} onChoose={choose} />
      ) : (
        <p className="text-muted text-sm">{t("changes.git.viewOnly")}</p>
      )}
      <ul className="space-y-2">
        {files.map((file) => (
          <FileRow
            key={file.path}
            file={{ ...file.change, ...file }}
            note={noteOf(file)}
            before={
              mayWrite ? (
                <CheckBox
                  label={t("changes.git.include", { path: file.path })}
                  checked={chosen.includes(file)}
                  disabled={!file.possible}
                  onChange={(on) => choose([file.path], on)}
                />
              ) : null
            }
          >
            {() => <Detail {...{ host, sessionId, onPrompt }} path={file.path} />}
          </FileRow>
        ))}
      </ul>
      {status.truncated || changes.data.truncated ? (
        <p className="text-muted text-xs">{t("changes.truncated")}</p>
      ) : null}
      {mayWrite ? (
        <CommitForm
          {...{ host, sessionId, draft, onDraft }}
          head={status.head ?? ""}
          files={chosen}
          blocked={Boolean(status.busy)}
          onRefused={onCommitted}
          onCommitted={(id) => {
            setMade(id);
            onDraft({ ...draft, message: "" });
            onCommitted();
          }}
        />
      ) : null}
    </>
  );
}

interface AllFilesProps {
  files: readonly UncommittedFile[];
  chosen: number;
  onChoose: (paths: readonly string[], on: boolean) => void;
}

/** Selects all files at once, and shows how many are selected. */
function AllFiles({ files, chosen, onChoose }: AllFilesProps) {
  const possible = files.filter((file) => file.possible);
  return (
    <div className="flex items-center text-muted text-sm">
      <CheckBox
        label={t("changes.git.all")}
        checked={chosen > 0 && chosen === possible.length}
        some={chosen > 0}
        disabled={possible.length === 0}
        onChange={(on) =>
          onChoose(
            possible.map(({ path }) => path),
            on,
          )
        }
      />
      <p role="status">{t("changes.git.chosen", { chosen, count: files.length })}</p>
    </div>
  );
}

function noteOf({ staged, untracked, change }: UncommittedFile): string {
  return [
    staged ? t("changes.git.staged") : untracked ? t("changes.git.untracked") : "",
    change?.closed ? t("changes.git.cannotBeCommitted") : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

function Detail({
  host,
  sessionId,
  path,
  onPrompt,
}: Pick<UncommittedProps, "host" | "sessionId" | "onPrompt"> & { path: string }) {
  return (
    <FileDetail
      queryKey={gitKey(host, sessionId, "uncommitted", path)}
      load={async () => {
        const { files } = await host.request("git_diff", { sessionId, path });
        return files.find((each) => each.path === path) ?? null;
      }}
      unchanged={t("changes.git.nothing")}
      onPrompt={onPrompt}
    />
  );
}

/** Confirms a commit. It receives the focus, because the commit button is gone. */
function Made({ id }: { id: string | null }) {
  const said = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (id) {
      said.current?.focus();
    }
  }, [id]);
  return id ? (
    <p ref={said} role="status" tabIndex={-1} data-testid="committed" className="font-medium text-accent text-sm">
      {t("changes.git.committed", { id: shortId(id) })}
    </p>
  ) : null;
}
