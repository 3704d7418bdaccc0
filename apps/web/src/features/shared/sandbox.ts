// What holds the commands of an agent back on a machine, in words for people.
import type { HostInfo } from "../../api/types";

export interface SandboxWords {
  /** "none" where nothing holds a command back, "weak" where less does than could. */
  strength: "none" | "weak" | "full";
  title: string;
  /** One sentence each. */
  lines: string[];
  /** What can do harm though a sandbox is there, one sentence each. */
  warnings: string[];
}

/** null for a machine that tells nothing of it: an older one. */
export function sandboxWords({ sandbox, sandboxNote, sandboxLimits: limits }: HostInfo): SandboxWords | null {
  if (!sandbox) return null;
  const why = sandboxNote ? [`Why: ${sandboxNote}.`] : [];
  if (!limits) {
    return {
      strength: "none",
      title: "Commands run without a sandbox",
      lines: ["A command that runs can read, change and send whatever you can on that machine.", ...why],
      warnings: [],
    };
  }
  const full = sandbox.includes("bubblewrap");
  return {
    strength: full ? "full" : "weak",
    title: full ? "Commands run in a sandbox" : "Commands run in a weak sandbox",
    lines: [
      `They write to the project${andFolders(limits.writable ?? [])}.`,
      networkWords(limits.network),
      ...(full
        ? []
        : ["They can also read scorel's own folder, stop other programs, and change the rights of your files."]),
      ...why,
      ...(limits.missing ?? []).map((path) => `${path} stands in sandbox.writable and is not there.`),
      "It does not hold back: reading your other files, MCP servers, and programs that run things for others, such as Docker.",
    ],
    warnings: (limits.exposed ?? []).map(
      (path) => `They can change ${path}, with scorel's keys. Take the folder around it out of sandbox.writable.`,
    ),
  };
}

function andFolders(folders: readonly string[]): string {
  if (folders.length === 0) return " and nowhere else";
  const last = folders.at(-1);
  const others = folders.slice(0, -1);
  return `${others.length > 0 ? `, ${others.join(", ")}` : ""} and ${last} only`;
}

function networkWords(network: string): string {
  switch (network) {
    case "open":
      return "They reach the network.";
    case "closed":
      return "They do not reach the network.";
    case "no_tcp":
      return "They cannot use TCP. The rest of the network is open to them.";
    default:
      return `Their network: ${network}.`;
  }
}
