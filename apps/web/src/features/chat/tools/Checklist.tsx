import { cx } from "../../../components/cx";
import { CheckIcon, CloseIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import type { Todo } from "../calls/todos";

function stateOf(status: string): string {
  switch (status) {
    case "completed":
      return t("chat.tools.taskDone");
    case "in_progress":
      return t("chat.tools.taskInProgress");
    case "cancelled":
      return t("chat.tools.taskCanceled");
    default:
      return t("chat.tools.taskPending");
  }
}

/** The tasks of a session. The state of each is shown by a mark and in words. */
export function Checklist({ todos, className }: { todos: readonly Todo[]; className?: string }) {
  return (
    <ul data-testid="checklist" className={cx("space-y-1 text-sm", className)}>
      {todos.map(({ id, content, status }) => (
        <li key={id} data-status={status} className="flex items-start gap-2">
          <Mark status={status} />
          <span className="sr-only">{stateOf(status)}: </span>
          <span
            dir="auto"
            className={cx(
              "min-w-0 break-words [overflow-wrap:anywhere]",
              status === "completed" && "text-muted",
              status === "cancelled" && "text-faint line-through",
              status === "in_progress" && "font-medium",
            )}
          >
            {visible(content)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Mark({ status }: { status: string }) {
  const box = "mt-[0.2em] grid size-4 shrink-0 place-items-center rounded-full border text-[0.625rem]";
  switch (status) {
    case "completed":
      return (
        <span className={cx(box, "border-transparent bg-accent text-on-accent")}>
          <CheckIcon strokeWidth={2.6} />
        </span>
      );
    case "in_progress":
      return (
        <span className={cx(box, "border-accent")}>
          <span className="pulse-dot size-2 rounded-full bg-accent" />
        </span>
      );
    case "cancelled":
      return (
        <span className={cx(box, "border-line-strong text-faint")}>
          <CloseIcon strokeWidth={2.6} />
        </span>
      );
    default:
      return <span className={cx(box, "border-line-strong")} />;
  }
}
