import type { ReactNode } from "react";
import { ApiError, type Host } from "../../../api/contract";
import { ApiKind } from "../../../api/types";
import { Badge } from "../../../components/Badge";
import { t } from "../../../i18n/chat";
import { useHostQuery } from "../../shared/host-queries";
import { visible } from "../../shared/visible";
import { withHelp } from "../../shared/with-help";
import { argumentsOf, useOffers } from "../offers/offers";
import { SuggestList } from "../suggest/SuggestList";
import type { SuggestProps } from "../suggest/suggest";
import { matching, type SlashItem, type SlashScope } from "./slash";

export interface SlashMenuProps extends SuggestProps {
  scope: SlashScope;
  onPick: (item: SlashItem) => void;
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
  get prompt() {
    return t("chat.slash.prompt");
  },
};

/** The commands, skills, agents and prompts of MCP servers that can begin a prompt. */
export default function SlashMenu({ scope, ...props }: SlashMenuProps) {
  return scope.backendOf ? (
    <BackendItems {...props} host={scope.host} sessionId={scope.backendOf} />
  ) : (
    <OwnItems {...props} scope={scope} />
  );
}

type ListProps = Omit<SlashMenuProps, "scope">;

function OwnItems({ scope, ...list }: SlashMenuProps) {
  return <ItemList {...list} {...useItems(scope, list.query)} />;
}

/** The commands of the other program that works in a session. */
function BackendItems({ host, sessionId, ...list }: ListProps & { host: Host; sessionId: string }) {
  const { data, error } = useHostQuery(host, "get_backend", { sessionId });
  const items = (data?.commands ?? []).map(({ name, description, hint }) => ({
    kind: "command" as const,
    name,
    about: visible([hint, description].filter(Boolean).join(" · ")),
  }));
  const notice = error ? withHelp(error) : data ? null : t("chat.slash.loading");
  return <ItemList {...list} items={matching(items, list.query)} notice={notice} />;
}

function ItemList({ items, notice, ...list }: ListProps & { items: SlashItem[]; notice: ReactNode }) {
  const { query } = list;
  return (
    <SuggestList
      {...list}
      kind="slash"
      label={t("chat.slash.title")}
      items={items}
      keyOf={({ kind, name }) => `${kind}-${name}`}
      written={({ kind, name }) => name === query && kind !== "agent"}
      empty={t("chat.slash.nothing", { query })}
      notice={notice}
    >
      {({ kind, name, about }) => (
        <>
          <span className="shrink-0 font-medium font-mono text-[0.8125rem]">
            {kind === "agent" ? name : `/${name}`}
          </span>
          <span dir="auto" className="min-w-0 flex-1 truncate text-muted">
            {about}
          </span>
          <Badge tone="neutral">{kindNames[kind]}</Badge>
        </>
      )}
    </SuggestList>
  );
}

/** Returns the matching items, and why some may be missing. */
function useItems({ host, projectId, onAgent }: SlashScope, query: string) {
  const skills = useHostQuery(host, "list_skills", { projectId });
  const agents = useHostQuery(host, "list_agents", { projectId });
  const { prompts } = useOffers(host, projectId);
  // Agents that can run the session or receive a task.
  const usable = (agents.data?.agents ?? []).filter(
    ({ enabled, offered }) => enabled && (onAgent !== undefined || offered),
  );
  const all: SlashItem[] = [
    ...(onAgent ? [] : [{ kind: "command" as const, name: "compact", about: t("chat.slash.compact") }]),
    ...(skills.data?.skills ?? [])
      .filter(({ disabled }) => !disabled)
      .map(({ name, description }) => ({ kind: "skill" as const, name, about: description })),
    ...usable.map(({ name, description }) => ({ kind: "agent" as const, name, about: description })),
    ...prompts.map((prompt) => ({
      kind: "prompt" as const,
      name: prompt.command,
      about: visible(
        [argumentsOf(prompt), prompt.title || prompt.description || prompt.name].filter(Boolean).join(" · "),
      ),
    })),
  ];
  const old = skills.error instanceof ApiError && skills.error.kind === ApiKind.unknown_request;
  const notice = old
    ? t("chat.slash.updateForSkills")
    : skills.error
      ? withHelp(skills.error)
      : skills.isPending
        ? t("chat.slash.loading")
        : null;
  return { items: matching(all, query), notice };
}
