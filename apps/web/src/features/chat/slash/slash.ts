import type { Host } from "../../../api/contract";

/** The sources of a menu's commands, skills and agents. */
export interface SlashScope {
  host: Host;
  /** "" until known. */
  projectId: string;
  /** Chooses the agent of a new session; absent once it has begun, when an agent is given a task instead. */
  onAgent?: (name: string) => void;
}

/** Returns the typed part of a command's name, or null if the text is not one. A path such as /etc/hosts is not. */
export function slashQuery(text: string): string | null {
  return /^\/([a-z0-9-]*)$/.exec(text)?.[1] ?? null;
}

export type SlashKind = "command" | "skill" | "agent";

export interface SlashItem {
  kind: SlashKind;
  name: string;
  about: string;
}

/** Returns the items whose name contains the text, those that begin with it first, in stable order. */
export function matching(items: readonly SlashItem[], query: string): SlashItem[] {
  const rank = ({ name }: SlashItem) => (name.startsWith(query) ? 0 : name.includes(query) ? 1 : 2);
  return items.filter((item) => rank(item) < 2).sort((a, b) => rank(a) - rank(b));
}
