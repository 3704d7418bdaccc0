import { type ReactNode, useId, useState } from "react";
import type { FileChange, FileStatus } from "../../api/types";
import { cx } from "../../components/cx";
import { ChevronRightIcon } from "../../components/icons";
import { t } from "../../i18n/changes";
import { Counts } from "../diff/Counts";
import { visible } from "../shared/visible";

export interface FileRowProps {
  file: Pick<FileChange, "path" | "from" | "status" | "added" | "removed">;
  /** Further facts about the change, shown after its kind. */
  note?: string;
  /** Shown before the name, for example a checkbox. */
  before?: ReactNode;
  /** Renders the changes; called once the row is open. */
  children: () => ReactNode;
}

/** A changed file; when open, with its changes. */
export function FileRow({ file, note, before, children }: FileRowProps) {
  const [open, setOpen] = useState(false);
  const body = useId();
  return (
    <li data-testid="change" className="overflow-hidden rounded-md border border-line">
      <div className="flex items-stretch">
        {before}
        <button
          type="button"
          aria-expanded={open}
          aria-controls={open ? body : undefined}
          onClick={() => setOpen(!open)}
          className={cx(
            "touchable flex min-w-0 flex-1 items-center gap-2 py-2 pr-3 text-left hover:bg-sunken",
            before ? "pl-1" : "pl-3",
          )}
        >
          <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
          <span className="min-w-0 flex-1">
            <span dir="ltr" className="block break-all font-mono text-sm">
              {visible(file.from ? `${file.from} → ${file.path}` : file.path)}
            </span>
            <span className="block text-muted text-xs">
              {[statusText(file.status), note].filter(Boolean).join(" · ")}
            </span>
          </span>
          <Counts file={{ added: file.added ?? 0, removed: file.removed ?? 0 }} />
        </button>
      </div>
      {open ? (
        <div id={body} className="border-line border-t">
          {children()}
        </div>
      ) : null}
    </li>
  );
}

function statusText(status: FileStatus): string {
  switch (status) {
    case "added":
      return t("changes.added");
    case "modified":
      return t("changes.modified");
    case "deleted":
      return t("changes.deleted");
    case "renamed":
      return t("changes.renamed");
    case "conflicted":
      return t("changes.conflicted");
    default:
      return t("changes.unknown");
  }
}
