import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Host } from "../../../api/contract";
import type { GitCommitInfo } from "../../../api/types";
import { CopyButton } from "../../../components/CopyButton";
import { cx } from "../../../components/cx";
import { ChevronRightIcon } from "../../../components/icons";
import { Skeleton } from "../../../components/Skeleton";
import { t } from "../../../i18n/changes";
import { locale } from "../../../i18n/i18n";
import { ago } from "../../shared/time";
import { visible } from "../../shared/visible";
import { Failed } from "../Failed";
import { FileDetail } from "../FileDetail";
import { FileRow } from "../FileRow";
import { gitKey, shortId } from "./git-key";

export interface CommitRowProps {
  host: Host;
  sessionId: string;
  commit: GitCommitInfo;
  onPrompt: ((text: string) => void) | null;
}

/** A commit; when open, with its whole message and its files. */
export function CommitRow({ host, sessionId, commit, onPrompt }: CommitRowProps) {
  const [open, setOpen] = useState(false);
  const body = useId();
  const { id, subject, author, at } = commit;
  return (
    <li data-testid="commit-row">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? body : undefined}
        onClick={() => setOpen(!open)}
        className="touchable flex w-full min-w-0 items-center gap-2 px-3 py-2 text-left hover:bg-sunken"
      >
        <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
        <span className="min-w-0 flex-1">
          <span dir="auto" className="block break-words text-sm [overflow-wrap:anywhere]">
            {visible(subject) || t("changes.git.noSubject")}
          </span>
          <span className="block break-words text-muted text-xs [overflow-wrap:anywhere]">
            {visible(author)} · <time title={new Date(at).toLocaleString(locale())}>{ago(at, Date.now())}</time> ·{" "}
            <span className="font-mono">{shortId(id)}</span>
          </span>
        </span>
      </button>
      {open ? (
        <div id={body} className="space-y-2 border-line border-t bg-bg p-3">
          <Detail {...{ host, sessionId, commit, onPrompt }} />
        </div>
      ) : null}
    </li>
  );
}

function Detail({ host, sessionId, commit: { id, body }, onPrompt }: CommitRowProps) {
  const list = useQuery({
    queryKey: gitKey(host, sessionId, "commit", id),
    queryFn: () => host.request("git_diff", { sessionId, commit: id }),
    retry: false,
    gcTime: 0,
  });
  return (
    <>
      <div className="flex items-center gap-1">
        <code dir="ltr" className="min-w-0 break-all text-muted text-xs">
          {id}
        </code>
        <CopyButton text={id} label={t("changes.git.copyId")} />
      </div>
      {body ? (
        <p dir="auto" className="whitespace-pre-wrap break-words text-sm [overflow-wrap:anywhere]">
          {visible(body)}
        </p>
      ) : null}
      {list.isPending ? (
        <Skeleton label={t("changes.loading")} rows={3} />
      ) : list.error ? (
        <Failed error={list.error} onRetry={() => list.refetch()} />
      ) : list.data.files.length === 0 ? (
        <p className="text-muted text-sm">{t("changes.git.emptyCommit")}</p>
      ) : (
        <ul className="space-y-2 [&>li]:bg-surface">
          {list.data.files.map((file) => (
            <FileRow key={file.path} file={file}>
              {() => (
                <FileDetail
                  queryKey={gitKey(host, sessionId, "commit", id, file.path)}
                  load={async () => {
                    const { files } = await host.request("git_diff", { sessionId, commit: id, path: file.path });
                    return files.find((each) => each.path === file.path) ?? null;
                  }}
                  unchanged={t("changes.git.emptyCommit")}
                  onPrompt={onPrompt}
                />
              )}
            </FileRow>
          ))}
        </ul>
      )}
      {list.data?.truncated ? <p className="text-muted text-xs">{t("changes.truncated")}</p> : null}
    </>
  );
}
