import type { ToolCallBlock } from "../../../api/types";
import { cx } from "../../../components/cx";
import { ChevronRightIcon, FileIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import { countReads } from "../calls/reads";

export interface ReadsLineProps {
  calls: readonly ToolCallBlock[];
  open: boolean;
  onToggle: () => void;
}

/** The line for calls that only read, such as "Read 5 files". */
export function ReadsLine({ calls, open, onToggle }: ReadsLineProps) {
  const { files, searches, folders, names } = countReads(calls);
  const said = [
    files > 0 ? t("chat.tools.readFiles", { count: files }) : "",
    searches > 0 ? t("chat.tools.searched", { count: searches }) : "",
    folders > 0 ? t("chat.tools.listedFolders", { count: folders }) : "",
  ].filter((part) => part !== "");
  return (
    <button
      type="button"
      data-testid="reads"
      aria-expanded={open}
      onClick={onToggle}
      className="touchable my-2 flex w-full items-center gap-2 rounded-md border border-line bg-surface px-3 py-1.5 text-left hover:bg-sunken"
    >
      <FileIcon className="text-faint" />
      <span className="shrink-0 font-medium text-sm">{said.join(" · ")}</span>
      <span className="min-w-0 flex-1 truncate font-mono text-[0.8125rem] text-muted">
        {visible(names.slice(0, 20).join(", "))}
      </span>
      <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
    </button>
  );
}
