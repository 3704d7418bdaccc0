import type { Host } from "../../../api/contract";

/** The sources of a menu's commands, skills, agents and prompts of MCP servers. */
export interface SlashScope {
  host: Host;
  /** "" until known. */
  projectId: string;
  /** The session whose program names the commands, instead of scorel's own agent. */
  backendOf?: string | undefined;
  /** Chooses the agent of a new session; absent once it has begun, when an agent is given a task instead. */
  onAgent?: (name: string) => void;
}

/** Returns the typed part of a command's name, or null if the text is not one. A path such as /etc/hosts is not. */
export function slashQuery(text: string): string | null {
  return /^\/([A-Za-z0-9:_-]*)$/.exec(text)?.[1] ?? null;
}

export type SlashKind = "command" | "skill" | "agent" | "prompt";

export interface SlashItem {
  kind: SlashKind;
  name: string;
  about: string;
}

/** Returns the items whose name contains the text, those that begin with it first, in stable order. */
export function matching(items: readonly SlashItem[], query: string): SlashItem[] {
  const part = query.toLowerCase();
  const rank = (item: SlashItem) => {
    const name = item.name.toLowerCase();
    return name.startsWith(part) ? 0 : name.includes(part) ? 1 : 2;
  };
  return items.filter((item) => rank(item) < 2).sort((a, b) => rank(a) - rank(b));
}
