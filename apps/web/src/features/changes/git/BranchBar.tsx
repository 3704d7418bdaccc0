import type { GitStatusResponse } from "../../../api/types";
import { BranchIcon } from "../../../components/icons";
import { t } from "../../../i18n/changes";
import { visible } from "../../shared/visible";
import { ReloadButton, type ReloadButtonProps } from "../ReloadButton";
import { shortId } from "./git-key";

export interface BranchBarProps extends ReloadButtonProps {
  status: GitStatusResponse;
}

/** The current branch and its relation to its upstream. */
export function BranchBar({ status, newer, busy, onReload }: BranchBarProps) {
  const { branch, head, upstream, ahead = 0, behind = 0 } = status;
  const far = [
    ahead > 0 ? t("changes.git.ahead", { count: ahead }) : "",
    behind > 0 ? t("changes.git.behind", { count: behind }) : "",
  ].filter((part) => part !== "");
  return (
    <div className="flex items-center gap-2.5 rounded-md border border-line bg-bg py-1.5 pr-1.5 pl-3">
      <BranchIcon className="shrink-0 text-faint" />
      <div className="min-w-0 flex-1">
        <p dir="ltr" data-testid="branch" className="break-all font-medium font-mono text-sm">
          {branch
            ? visible(branch)
            : head
              ? t("changes.git.detached", { id: shortId(head) })
              : t("changes.git.noBranch")}
        </p>
        <p className="break-words text-muted text-xs [overflow-wrap:anywhere]">
          {upstream
            ? far.length > 0
              ? `${far.join(" · ")} · ${visible(upstream)}`
              : t("changes.git.upToDate", { upstream: visible(upstream) })
            : head
              ? t("changes.git.noUpstream")
              : t("changes.git.noCommits")}
        </p>
      </div>
      <ReloadButton newer={newer} busy={busy} onReload={onReload} />
    </div>
  );
}
