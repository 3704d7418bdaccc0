import { type Ref, useEffect, useImperativeHandle, useState } from "react";
import { ApiError } from "../../../api/contract";
import { ApiKind } from "../../../api/types";
import { Badge } from "../../../components/Badge";
import { cx } from "../../../components/cx";
import { t } from "../../../i18n/chat";
import { sentence } from "../../shared/errors";
import { useHostQuery } from "../../shared/host-queries";
import { matching, type SlashItem, type SlashKeys, type SlashScope } from "./slash";

export interface SlashMenuProps {
  scope: SlashScope;
  /** What follows the slash. */
  query: string;
  /** Of the list, for the field that it belongs to. */
  id: string;
  keys: Ref<SlashKeys>;
  /** The id of the option that Enter takes. */
  onActive: (id: string | undefined) => void;
  onPick: (item: SlashItem) => void;
  onClose: () => void;
}

const kindNames = {
  get command() {
    return t("chat.slash.command");
  },
  get skill() {
    return t("chat.slash.skill");
  },
  get agent() {
    return t("chat.slash.agent");
  },
};

/** The commands, skills and agents that a prompt can begin with. The focus stays in the field that it belongs to. */
export default function SlashMenu({ scope, query, id, keys, onActive, onPick, onClose }: SlashMenuProps) {
  const { items, notice } = useItems(scope, query);
  const [chosen, setChosen] = useState({ query, at: 0 });
  const at = chosen.query === query ? Math.min(chosen.at, Math.max(items.length - 1, 0)) : 0;
  const active = items[at];
  const activeId = active ? `${id}-${active.kind}-${active.name}` : undefined;
  useEffect(() => {
    onActive(activeId);
    if (activeId) {
      document.getElementById(activeId)?.scrollIntoView({ block: "nearest" });
    }
    return () => onActive(undefined);
  }, [activeId, onActive]);
  useImperativeHandle(keys, () => ({
    press: (key) => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (key === "Escape") {
        onClose();
        return true;
      }
      if (!active) {
        return false;
      }
      if (move) {
        setChosen({ query, at: (at + move + items.length) % items.length });
        return true;
      }
      // A name that is written out is sent.
      const written = key === "Enter" && active.name === query && active.kind !== "agent";
      if ((key !== "Enter" && key !== "Tab") || written) {
        return false;
      }
      onPick(active);
      return true;
    },
  }));
  return (
    <div
      className="rise absolute inset-x-0 bottom-full z-10 mb-1 flex max-h-[min(20rem,45dvh)] flex-col overflow-hidden rounded-lg border border-line-strong bg-surface shadow-raised"
      data-testid="slash-menu"
    >
      <p role="status" className="sr-only">
        {t("chat.slash.suggestions", { count: items.length })}
      </p>
      <div id={id} role="listbox" aria-label={t("chat.slash.title")} className="overflow-y-auto p-1">
        {items.map((item, i) => (
          <Option
            key={`${item.kind}-${item.name}`}
            id={`${id}-${item.kind}-${item.name}`}
            item={item}
            active={i === at}
            onPick={() => onPick(item)}
          />
        ))}
      </div>
      {items.length === 0 ? <p className="px-3 py-2 text-muted text-sm">{t("chat.slash.nothing", { query })}</p> : null}
      {notice ? <p className="border-line border-t px-3 py-1.5 text-faint text-xs">{notice}</p> : null}
    </div>
  );
}

interface OptionProps {
  id: string;
  item: SlashItem;
  active: boolean;
  onPick: () => void;
}

function Option({ id, item, active, onPick }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and gives the keys
    <div
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      data-testid="slash-option"
      onPointerDown={(event) => event.preventDefault()}
      onClick={onPick}
      className={cx(
        "touchable flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-1.5 text-sm",
        active ? "bg-accent-soft" : "hover:bg-sunken",
      )}
    >
      <span className="shrink-0 font-medium font-mono text-[0.8125rem]">
        {item.kind === "agent" ? item.name : `/${item.name}`}
      </span>
      <span dir="auto" className="min-w-0 flex-1 truncate text-muted">
        {item.about}
      </span>
      <Badge tone="neutral">{kindNames[item.kind]}</Badge>
    </div>
  );
}

/** What matches, and why something may be missing. */
function useItems({ host, projectId, onAgent }: SlashScope, query: string) {
  const skills = useHostQuery(host, "list_skills", { projectId });
  const agents = useHostQuery(host, "list_agents", { projectId });
  // An agent that the session can run as, or one that it can give a task.
  const usable = (agents.data?.agents ?? []).filter(
    ({ enabled, offered }) => enabled && (onAgent !== undefined || offered),
  );
  const all: SlashItem[] = [
    ...(onAgent ? [] : [{ kind: "command" as const, name: "compact", about: t("chat.slash.compact") }]),
    ...(skills.data?.skills ?? []).map(({ name, description }) => ({
      kind: "skill" as const,
      name,
      about: description,
    })),
    ...usable.map(({ name, description }) => ({ kind: "agent" as const, name, about: description })),
  ];
  const old = skills.error instanceof ApiError && skills.error.kind === ApiKind.unknown_request;
  const notice = old
    ? t("chat.slash.updateForSkills")
    : skills.error
      ? sentence(skills.error)
      : skills.isPending
        ? t("chat.slash.loading")
        : null;
  return { items: matching(all, query), notice };
}
