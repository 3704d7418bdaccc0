import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Host } from "../../../api/contract";
import type { GitCommitInfo } from "../../../api/types";
import { Button } from "../../../components/Button";
import { Skeleton } from "../../../components/Skeleton";
import { t } from "../../../i18n/changes";
import { Failed } from "../Failed";
import { CommitRow } from "./CommitRow";
import { gitKey } from "./git-key";

/** How many commits are requested at once. */
const page = 30;

export interface HistoryProps {
  host: Host;
  sessionId: string;
  onPrompt: ((text: string) => void) | null;
  /** Whether there is no commit yet. */
  empty: boolean;
}

/** The commits of the current branch, newest first. */
export function History({ host, sessionId, onPrompt, empty }: HistoryProps) {
  const [more, setMore] = useState<{ commits: GitCommitInfo[]; next: string } | null>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const first = useQuery({
    queryKey: gitKey(host, sessionId, "log"),
    queryFn: () => host.request("git_log", { sessionId, limit: page }),
    enabled: !empty,
    retry: false,
    gcTime: 0,
  });
  if (empty) {
    return <p className="text-muted text-sm">{t("changes.git.noCommits")}</p>;
  }
  if (first.isPending) {
    return <Skeleton label={t("changes.loading")} rows={6} />;
  }
  if (!first.data) {
    return <Failed error={first.error} onRetry={() => first.refetch()} />;
  }
  const commits = [...first.data.commits, ...(more?.commits ?? [])];
  const next = more ? more.next : (first.data.next ?? "");
  const load = async () => {
    setBusy(true);
    setFailed(null);
    try {
      const part = await host.request("git_log", { sessionId, from: next, limit: page });
      setMore({ commits: [...(more?.commits ?? []), ...part.commits], next: part.next ?? "" });
    } catch (cause) {
      setFailed(cause);
    }
    setBusy(false);
  };
  return (
    <>
      <ul className="divide-y divide-line overflow-hidden rounded-md border border-line">
        {commits.map((commit) => (
          <CommitRow key={commit.id} {...{ host, sessionId, onPrompt, commit }} />
        ))}
      </ul>
      {failed ? (
        <Failed error={failed} onRetry={load} />
      ) : next !== "" ? (
        <Button busy={busy} data-testid="more-commits" onClick={load}>
          {t("changes.more")}
        </Button>
      ) : null}
    </>
  );
}
