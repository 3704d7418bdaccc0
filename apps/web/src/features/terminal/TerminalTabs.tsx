import type { KeyboardEvent, RefObject } from "react";
import type { Terminal } from "../../api/types";
import { cx } from "../../components/cx";
import { t } from "../../i18n/terminal";

export interface TerminalTabsProps {
  ref: RefObject<HTMLDivElement | null>;
  list: readonly Terminal[];
  shown: string | null;
  nameOf: (terminal: Terminal) => string;
  /** Called with the chosen terminal, and whether it was chosen by keyboard. */
  onShow: (id: string, byKeys: boolean) => void;
}

/** The terminals as tabs, which the arrow keys move between. */
export function TerminalTabs({ ref, list, shown, nameOf, onShow }: TerminalTabsProps) {
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = list.findIndex((each) => each.id === shown);
    const next = by === undefined ? undefined : list[at + by];
    if (next) {
      event.preventDefault();
      onShow(next.id, true);
    }
  };
  return (
    <div
      ref={ref}
      role="tablist"
      aria-label={t("terminal.page.tabs")}
      onKeyDown={move}
      className="flex min-w-0 flex-1 gap-1 overflow-x-auto"
    >
      {list.map((terminal) => (
        <button
          key={terminal.id}
          type="button"
          role="tab"
          aria-selected={terminal.id === shown}
          tabIndex={terminal.id === shown ? 0 : -1}
          data-testid="terminal-tab"
          onClick={() => onShow(terminal.id, false)}
          className={cx(
            "touchable max-w-48 shrink-0 truncate rounded-md px-3 text-sm",
            terminal.id === shown
              ? "bg-surface font-medium text-ink shadow-[inset_0_0_0_1px_var(--c-line)]"
              : "text-muted hover:text-ink",
          )}
        >
          <bdi>{nameOf(terminal)}</bdi>
        </button>
      ))}
    </div>
  );
}
