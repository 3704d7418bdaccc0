import { fileURLToPath } from "node:url";

const file = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

const page = (path: string) => file(`features/${path}.tsx`);

const session = [page("chat/ChatPage")];

interface Part {
  name: string;
  /** The modules whose imports it contains. */
  roots: string[];
  /** Restricts it to modules that these import too. */
  and?: string[];
}

/** The contents of each file, the first one first. */
const parts: Part[] = [
  { name: "boot", roots: [file("app/boot.ts")] },
  { name: "app", roots: [file("app/main.tsx")] },
  ...["common", "lists"].map((name) => ({
    name,
    roots: ["inbox/InboxPage", "device/DevicePage", "pair/PairPage", "connection/ConnectionPage"].map(page),
    ...(name === "common" ? { and: session } : {}),
  })),
  { name: "session", roots: session },
];

interface Graph {
  getModuleInfo(id: string): { importedIds: string[] } | null;
}

/** Returns everything that modules import, transitively. Dynamic imports do not count. */
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
 * Groups modules that several pages share, which would otherwise get a small file for every set of pages that shares
 * them: on a slow network fifty round trips before a session can be read. The code that begins a page is one file, the
 * rest of the first load is one, and so are the modules that the inbox and other pages share with a session, those that
 * only these share, and those that a session and others need besides.
 */
export function groups() {
  return parts.map(({ name, roots, and }, i) => {
    let needed: Set<string> | undefined;
    // The other pages remain separate files.
    const first = name === "boot" || name === "app";
    const whole = first || name === "session";
    return {
      debugName: name,
      name(id: string, graph: Graph) {
        if (!needed) {
          const also = and && closure(and, graph);
          needed = new Set([...closure(roots, graph)].filter((each) => also?.has(each) ?? true));
        }
        return needed.has(id) && (whole || !roots.includes(id)) ? name : null;
      },
      // Code that only one page needs stays with it.
      minShareCount: whole ? 1 : 2,
      priority: parts.length - i,
    };
  });
}
