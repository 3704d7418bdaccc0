import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Host } from "../../api/contract";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/changes";
import { locale } from "../../i18n/i18n";
import { visible } from "../shared/visible";
import { ChangeRow } from "./ChangeRow";
import { Failed } from "./Failed";
import { ReloadButton } from "./ReloadButton";

export interface ChangeListProps {
  host: Host;
  sessionId: string;
  /** The last step of the session that may have changed files. */
  step: string;
  mayWrite: boolean;
  onPrompt: ((text: string) => void) | null;
}

/** The files that have changed since the session began. */
export function ChangeList({ host, sessionId, step, mayWrite, onPrompt }: ChangeListProps) {
  const client = useQueryClient();
  const queryKey = [host.deviceId, "get_changes", sessionId];
  const changes = useQuery({
    queryKey,
    queryFn: async () => ({ step, ...(await host.request("get_changes", { sessionId })) }),
    retry: false,
    gcTime: 0,
  });
  if (changes.isPending) {
    return <Skeleton label={t("changes.loading")} rows={5} />;
  }
  const failed = changes.error ? <Failed error={changes.error} onRetry={() => changes.refetch()} /> : null;
  if (!changes.data) {
    return failed;
  }
  const { files, since, reason, outside = [], skipped = [], truncated } = changes.data;
  const time = since ? new Date(since).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" }) : "";
  return (
    <div className="space-y-3">
      {failed}
      <div className="flex items-start gap-2">
        <p role="status" className="min-w-0 flex-1 text-muted text-sm">
          {files.length > 0 && time
            ? t("changes.filesChanged", { count: files.length, time })
            : files.length === 0 && outside.length === 0
              ? t("changes.nothing")
              : null}
          {files.length > 0 && onPrompt ? ` · ${t("changes.hint")}` : null}
        </p>
        <ReloadButton
          newer={changes.data.step !== step}
          busy={changes.isFetching}
          className="-my-2"
          onReload={() => client.invalidateQueries({ queryKey })}
        />
      </div>
      {reason && files.length > 0 ? <p className="text-muted text-sm">{visible(reason)}</p> : null}
      <ul className="space-y-2">
        {files.map((file) => (
          <ChangeRow
            key={file.path}
            file={file}
            host={host}
            sessionId={sessionId}
            mayWrite={mayWrite}
            onPrompt={onPrompt}
            onReverted={() => changes.refetch()}
          />
        ))}
      </ul>
      {outside.length > 0 ? (
        <section>
          <h3 className="font-medium text-sm">{t("changes.outside")}</h3>
          <ul className="mt-1 font-mono text-muted text-xs">
            {outside.map((path) => (
              <li key={path} dir="ltr" className="break-all">
                {visible(path)}
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {skipped.length > 0 ? (
        <p className="break-all text-muted text-xs">{t("changes.skipped", { paths: visible(skipped.join(", ")) })}</p>
      ) : null}
      {truncated ? <p className="text-muted text-xs">{t("changes.truncated")}</p> : null}
    </div>
  );
}
