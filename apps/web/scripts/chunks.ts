import { fileURLToPath } from "node:url";

const file = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

const page = (path: string) => file(`features/${path}.tsx`);

/** What each file holds, the first one first: its name, and the modules whose imports it takes. */
const parts: [string, string[]][] = [
  ["boot", [file("app/boot.ts")]],
  ["app", [file("app/main.tsx")]],
  ["common", ["inbox/InboxPage", "device/DevicePage", "pair/PairPage", "connection/ConnectionPage"].map(page)],
  ["session", [page("chat/ChatPage")]],
];

interface Graph {
  getModuleInfo(id: string): { importedIds: string[] } | null;
}

/** Everything that a module imports, and what that imports. Dynamic imports do not count. */
function closure(ids: readonly string[], graph: Graph, seen = new Set<string>()): Set<string> {
  for (const id of ids) {
    if (!seen.has(id)) {
      seen.add(id);
      closure(graph.getModuleInfo(id)?.importedIds ?? [], graph, seen);
    }
  }
  return seen;
}

/**
 * Modules that several pages share would each get a small file for every set of pages that shares them: on a slow
 * network fifty round trips before a session can be read. What begins a page is one file, the rest of the first load is
 * one, and so are the modules that the inbox and other pages need besides, and those that a session and others need
 * besides these.
 */
export function groups() {
  return parts.map(([name, roots], i) => {
    let needed: Set<string> | undefined;
    // The other pages stay files of their own.
    const first = name === "boot" || name === "app";
    return {
      debugName: name,
      name(id: string, graph: Graph) {
        needed ??= closure(roots, graph);
        return needed.has(id) && (first || !roots.includes(id)) ? name : null;
      },
      // What nothing else needs stays with the page.
      minShareCount: first ? 1 : 2,
      priority: parts.length - i,
    };
  });
}
