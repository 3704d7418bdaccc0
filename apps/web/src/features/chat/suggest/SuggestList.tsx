import { type ReactNode, useEffect, useImperativeHandle, useState } from "react";
import { cx } from "../../../components/cx";
import { t } from "../../../i18n/chat";
import type { SuggestProps } from "./suggest";

export interface SuggestListProps<T> extends SuggestProps {
  /** The prefix of the test ids. */
  kind: string;
  label: string;
  items: readonly T[];
  keyOf: (item: T) => string;
  /** Renders an option. */
  children: (item: T) => ReactNode;
  /** Reports whether the item is completely typed: Enter then sends. */
  written: (item: T) => boolean;
  onPick: (item: T) => void;
  /** Shown if there are no options; null for nothing. */
  empty: string | null;
  notice: ReactNode;
}

/** The completions for the text typed in a field. The focus stays in the field, which forwards its keys. */
export function SuggestList<T>({ kind, label, items, keyOf, children, empty, notice, ...props }: SuggestListProps<T>) {
  const { query, id, keys, written, onActive, onPick, onClose } = props;
  const [chosen, setChosen] = useState({ query, at: 0 });
  const at = chosen.query === query ? Math.min(chosen.at, Math.max(items.length - 1, 0)) : 0;
  const active = items[at];
  const idOf = (item: T) => `${id}-${keyOf(item)}`;
  const activeId = active === undefined ? undefined : idOf(active);
  useEffect(() => {
    onActive(activeId);
    if (activeId) {
      document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
    }
    return () => onActive(undefined);
  }, [activeId, onActive]);
  useImperativeHandle(keys, () => ({
    press: (key) => {
      if (key === "Escape") {
        onClose();
        return true;
      }
      if (active === undefined) {
        return false;
      }
      const move = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (move) {
        setChosen({ query, at: (at + move + items.length) % items.length });
        return true;
      }
      if ((key !== "Enter" && key !== "Tab") || (key === "Enter" && written(active))) {
        return false;
      }
      onPick(active);
      return true;
    },
  }));
  return (
    <div
      className="rise absolute inset-x-0 bottom-full z-10 mb-1 flex max-h-[min(20rem,45dvh)] flex-col overflow-hidden rounded-lg border border-line-strong bg-surface shadow-raised"
      data-testid={`${kind}-menu`}
    >
      <p role="status" className="sr-only">
        {t("chat.suggest.suggestions", { count: items.length })}
      </p>
      <div id={id} role="listbox" aria-label={label} className={cx("overflow-y-auto", items.length > 0 && "p-1")}>
        {items.map((item, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and forwards the keys
          <div
            key={keyOf(item)}
            id={idOf(item)}
            role="option"
            tabIndex={-1}
            aria-selected={i === at}
            data-testid={`${kind}-option`}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onPick(item)}
            className={cx(
              "touchable flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm",
              i === at ? "bg-accent-soft" : "hover:bg-sunken",
            )}
          >
            {children(item)}
          </div>
        ))}
      </div>
      {items.length === 0 && empty ? <p className="px-3 py-2 text-muted text-sm">{empty}</p> : null}
      {notice ? (
        <p className={cx("px-3 py-1.5 text-faint text-xs", (items.length > 0 || empty) && "border-line border-t")}>
          {notice}
        </p>
      ) : null}
    </div>
  );
}
