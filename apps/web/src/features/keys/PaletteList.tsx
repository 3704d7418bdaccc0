import { useEffect } from "react";
import { cx } from "../../components/cx";
import { t } from "../../i18n/keys";
import { ago, useNow } from "../shared/time";
import type { Entry, Group, Kind } from "./entries";
import { Key } from "./Shortcuts";

export interface PaletteListProps {
  id: string;
  groups: readonly Group[];
  active: Entry | undefined;
  optionId: (entry: Entry) => string;
  onActive: (entry: Entry) => void;
  onRun: (entry: Entry) => void;
}

/** The options, grouped by kind. The focus stays in the field. */
export function PaletteList({ id, groups, active, optionId, onActive, onRun }: PaletteListProps) {
  const now = useNow(30_000);
  const activeId = active ? optionId(active) : undefined;
  useEffect(() => {
    if (activeId) {
      document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
    }
  }, [activeId]);
  if (groups.length === 0) {
    return null;
  }
  return (
    <div
      id={id}
      role="listbox"
      aria-label={t("keys.palette.list")}
      className="min-h-0 flex-1 scroll-py-2 overflow-y-auto overscroll-contain p-2"
    >
      {groups.map(({ kind, entries }) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options
        <div key={kind} role="group" aria-label={titleOf(kind)} className="not-first:mt-2">
          <p aria-hidden="true" className="caption px-2.5 py-1.5 text-faint">
            {titleOf(kind)}
          </p>
          {entries.map((entry) => (
            <Option
              key={entry.id}
              id={optionId(entry)}
              entry={entry}
              now={now}
              selected={entry === active}
              onActive={onActive}
              onRun={onRun}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function titleOf(kind: Kind): string {
  switch (kind) {
    case "sessions":
      return t("keys.kinds.sessions");
    case "page":
      return t("keys.kinds.page");
    case "machines":
      return t("keys.kinds.machines");
    case "actions":
      return t("keys.kinds.actions");
    case "text":
      return t("keys.kinds.text");
  }
}

interface OptionProps extends Pick<PaletteListProps, "onActive" | "onRun"> {
  id: string;
  entry: Entry;
  now: number;
  selected: boolean;
}

function Option({ id, entry, now, selected, onActive, onRun }: OptionProps) {
  const { title, icon, place, excerpt, at, keys } = entry;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus and handles the keys
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
    <div
      id={id}
      role="option"
      aria-selected={selected}
      data-testid="palette-option"
      data-kind={entry.kind}
      // The list may move under a resting pointer: only one that moves selects.
      onPointerMove={() => selected || onActive(entry)}
      // Keeps the focus in the field.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => onRun(entry)}
      className={cx(
        "touchable grid cursor-pointer grid-cols-[1.25rem_minmax(0,1fr)_auto] items-center gap-x-2.5 rounded-md px-2.5 py-1.5 text-sm",
        selected && "bg-accent-soft",
      )}
    >
      <span className="grid place-items-center text-muted">{icon}</span>
      <span className="flex min-w-0 items-baseline gap-2.5">
        <span dir="auto" className="truncate">
          {title}
        </span>
        {place ? (
          <span dir="auto" className="caption min-w-12 shrink-[9] truncate text-faint">
            {place}
          </span>
        ) : null}
      </span>
      {keys ? (
        <span className="flex gap-1">
          {keys.map((name, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: keys may repeat, and the order never changes
            <Key key={i} name={name} />
          ))}
        </span>
      ) : at ? (
        <time dateTime={new Date(at).toISOString()} className="caption text-faint">
          {ago(at, now)}
        </time>
      ) : (
        <span />
      )}
      {excerpt ? <span className="col-span-2 col-start-2 line-clamp-2 break-words text-muted">{excerpt}</span> : null}
    </div>
  );
}
