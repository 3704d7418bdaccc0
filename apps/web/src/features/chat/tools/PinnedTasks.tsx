import { useId, useMemo, useState } from "react";
import type { SessionEntry } from "../../../api/types";
import { cx } from "../../../components/cx";
import { ChevronRightIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import { LatestTodos, progressOf } from "../calls/todos";
import { Checklist } from "./Checklist";

export interface PinnedTasksProps {
  entries: readonly SessionEntry[];
  /** Whether the agent is working. */
  working: boolean;
}

/** The progress of the agent's tasks. It stays visible while the agent works. */
export function PinnedTasks({ entries, working }: PinnedTasksProps) {
  const [latest] = useState(() => new LatestTodos());
  const todos = useMemo(() => latest.update(entries), [latest, entries]);
  const [open, setOpen] = useState(false);
  const list = useId();
  if (!working || !todos || todos.length === 0) {
    return null;
  }
  const { done, total, current } = progressOf(todos);
  return (
    <section
      data-testid="pinned-tasks"
      aria-label={t("chat.tools.tasks")}
      className="safe-x mx-auto w-full max-w-3xl shrink-0"
    >
      <div className="overflow-hidden rounded-md border border-line bg-surface">
        <button
          type="button"
          data-testid="pinned-tasks-toggle"
          aria-expanded={open}
          aria-controls={open ? list : undefined}
          onClick={() => setOpen(!open)}
          className="touchable flex w-full items-center gap-2 px-3 py-1 text-left text-sm hover:bg-sunken"
        >
          <ChevronRightIcon className={cx("text-faint transition-transform", open && "rotate-90")} />
          <span className="shrink-0 font-medium tabular-nums">{t("chat.tools.tasksDone", { done, total })}</span>
          <span dir="auto" className="min-w-0 flex-1 truncate text-muted">
            {visible(current?.content ?? "")}
          </span>
        </button>
        <div aria-hidden="true" className="h-0.5 bg-line">
          <div
            className="h-full bg-accent transition-[width]"
            style={{ width: `${total === 0 ? 0 : (done / total) * 100}%` }}
          />
        </div>
        {open ? (
          <div id={list} className="max-h-[35dvh] overflow-auto px-3 py-2">
            <Checklist todos={todos} />
          </div>
        ) : null}
      </div>
    </section>
  );
}
