import type { Host } from "../../../api/contract";

/** Where the commands, skills and agents of a menu come from. */
export interface SlashScope {
  host: Host;
  /** "" until it is known. */
  projectId: string;
  /** Chooses who the session runs as; absent where it has begun: an agent is then given a task. */
  onAgent?: (name: string) => void;
}

/** What is typed of the name of a command, or null where the text is none. A path such as /etc/hosts is none. */
export function slashQuery(text: string): string | null {
  return /^\/([a-z0-9-]*)$/.exec(text)?.[1] ?? null;
}

export type SlashKind = "command" | "skill" | "agent";

export interface SlashItem {
  kind: SlashKind;
  name: string;
  about: string;
}

/** The items whose name has the text in it, those that begin with it first; their order is kept otherwise. */
export function matching(items: readonly SlashItem[], query: string): SlashItem[] {
  const rank = ({ name }: SlashItem) => (name.startsWith(query) ? 0 : name.includes(query) ? 1 : 2);
  return items.filter((item) => rank(item) < 2).sort((a, b) => rank(a) - rank(b));
}
