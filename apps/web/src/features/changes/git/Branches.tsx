import { useQuery } from "@tanstack/react-query";
import type { Host } from "../../../api/contract";
import { CheckIcon } from "../../../components/icons";
import { Skeleton } from "../../../components/Skeleton";
import { t } from "../../../i18n/changes";
import { ago } from "../../shared/time";
import { visible } from "../../shared/visible";
import { Failed } from "../Failed";
import { gitKey, shortId } from "./git-key";

/** The local branches, sorted by their latest commit, newest first. */
export function Branches({ host, sessionId }: { host: Host; sessionId: string }) {
  const list = useQuery({
    queryKey: gitKey(host, sessionId, "branches"),
    queryFn: () => host.request("git_branches", { sessionId }),
    retry: false,
    gcTime: 0,
  });
  if (list.isPending) {
    return <Skeleton label={t("changes.loading")} rows={4} />;
  }
  if (!list.data) {
    return <Failed error={list.error} onRetry={() => list.refetch()} />;
  }
  if (list.data.branches.length === 0) {
    return <p className="text-muted text-sm">{t("changes.git.noCommits")}</p>;
  }
  const now = Date.now();
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {list.data.branches.map(({ name, head, upstream, at, current }) => (
        <li key={name} data-testid="branch-row" className="flex items-center gap-2 px-3 py-2">
          <div className="min-w-0 flex-1">
            <p dir="ltr" className="break-all font-mono text-sm">
              {visible(name)}
            </p>
            <p className="break-words text-muted text-xs [overflow-wrap:anywhere]">
              {[ago(at, now), shortId(head), upstream ? visible(upstream) : ""].filter(Boolean).join(" · ")}
            </p>
          </div>
          {current ? (
            <span className="flex shrink-0 items-center gap-1 text-accent text-xs">
              <CheckIcon />
              {t("changes.git.current")}
            </span>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
