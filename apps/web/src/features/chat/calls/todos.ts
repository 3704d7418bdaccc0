// The task list of a session, from the results of the agent's tool.
import { pathTo } from "@scorel/protocol/tree";
import type { SessionEntry, ToolResultMessage } from "../../../api/types";
import { isRecord } from "./tool-facts";

export interface Todo {
  id: string;
  content: string;
  status: string;
}

/** Returns the list in a result; null if it has none. */
export function todosIn(result: ToolResultMessage | null): Todo[] | null {
  const details = isRecord(result?.details) ? result.details : {};
  if (result?.toolName !== "todo" || !Array.isArray(details.todos)) {
    return null;
  }
  return details.todos
    .filter(isRecord)
    .map(({ id, content, status }) => ({ id: String(id), content: String(content), status: String(status) }));
}

/** Returns the number of ended tasks and the current task. */
export function progressOf(todos: readonly Todo[]): { done: number; total: number; current: Todo | null } {
  const counted = todos.filter(({ status }) => status !== "cancelled");
  return {
    done: counted.filter(({ status }) => status === "completed").length,
    total: counted.length,
    current: todos.find(({ status }) => status === "in_progress") ?? null,
  };
}

/** Finds the latest list of the branch that ends with a log. When the branch has grown, only its new entries are searched. */
export class LatestTodos {
  #entries: readonly SessionEntry[] = [];
  #todos: Todo[] | null = null;

  update(entries: readonly SessionEntry[]): Todo[] | null {
    const before = this.#entries;
    if (entries !== before) {
      const more = continuing(before, entries);
      this.#todos = more ? (latest(more) ?? this.#todos) : latest(pathTo(entries));
      this.#entries = entries;
    }
    return this.#todos;
  }
}

/** Returns the new entries if they continue the branch; null if they do not. */
function continuing(before: readonly SessionEntry[], entries: readonly SessionEntry[]): SessionEntry[] | null {
  if (before.length === 0 || entries[before.length - 1] !== before.at(-1) || entries[0] !== before[0]) {
    return null;
  }
  const more = entries.slice(before.length);
  return more.every(({ parentId }, i) => parentId === entries[before.length + i - 1]?.id) ? more : null;
}

function latest(entries: readonly SessionEntry[]): Todo[] | null {
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i];
    const todos = entry?.type === "message" && entry.message.role === "toolResult" ? todosIn(entry.message) : null;
    if (todos) {
      return todos;
    }
  }
  return null;
}
