import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import type { Host } from "../../../api/contract";
import { Skeleton } from "../../../components/Skeleton";
import { t } from "../../../i18n/changes";
import { Failed } from "../Failed";
import { Parts } from "../Parts";
import { BranchBar } from "./BranchBar";
import { Branches } from "./Branches";
import type { CommitDraft } from "./commit-draft";
import { gitKey } from "./git-key";
import { History } from "./History";
import { Uncommitted } from "./Uncommitted";

export interface GitPanelProps {
  host: Host;
  sessionId: string;
  /** The last step of the session that may have changed files. */
  step: string;
  mayWrite: boolean;
  onPrompt: ((text: string) => void) | null;
  draft: CommitDraft;
  onDraft: (draft: CommitDraft) => void;
}

/** The repository of a session's folder: uncommitted changes, history and branches. */
export function GitPanel({ host, sessionId, step, mayWrite, onPrompt, draft, onDraft }: GitPanelProps) {
  const [part, setPart] = useState<"uncommitted" | "history" | "branches">("uncommitted");
  const client = useQueryClient();
  const status = useQuery({
    queryKey: gitKey(host, sessionId, "status"),
    queryFn: async () => ({ step, ...(await host.request("git_status", { sessionId })) }),
    retry: false,
    gcTime: 0,
  });
  const reload = useCallback(
    () => client.invalidateQueries({ queryKey: gitKey(host, sessionId) }),
    [client, host, sessionId],
  );
  if (status.isPending) {
    return <Skeleton label={t("changes.loading")} rows={5} />;
  }
  const failed = status.error ? <Failed error={status.error} onRetry={() => status.refetch()} /> : null;
  if (!status.data) {
    return failed;
  }
  if (!status.data.repository) {
    return (
      <p role="status" className="text-muted text-sm">
        {t("changes.git.noRepository")}
      </p>
    );
  }
  const { files } = status.data;
  return (
    <div data-testid="git-panel" className="space-y-3">
      {failed}
      <BranchBar status={status.data} newer={status.data.step !== step} busy={status.isFetching} onReload={reload} />
      <Parts
        label={t("changes.git.git")}
        parts={[
          {
            id: "uncommitted",
            text:
              files.length > 0
                ? t("changes.git.uncommittedCount", { count: files.length })
                : t("changes.git.uncommitted"),
          },
          { id: "history", text: t("changes.git.history") },
          { id: "branches", text: t("changes.git.branches") },
        ]}
        chosen={part}
        onChoose={setPart}
      />
      {part === "uncommitted" ? (
        <Uncommitted
          {...{ host, sessionId, mayWrite, onPrompt, draft, onDraft }}
          status={status.data}
          onCommitted={reload}
        />
      ) : part === "history" ? (
        <History key={status.data.head} {...{ host, sessionId, onPrompt }} empty={!status.data.head} />
      ) : (
        <Branches host={host} sessionId={sessionId} />
      )}
    </div>
  );
}
