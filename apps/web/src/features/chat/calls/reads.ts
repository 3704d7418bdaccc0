// Calls that only read: many in a row are shown as one line.
import { blocksOf } from "@scorel/protocol/tree";
import type { AssistantMessage, Block, ToolCallBlock } from "../../../api/types";
import { isRecord, type ToolFacts } from "./tool-facts";
import { resultImages } from "./tool-view";

const kinds: Record<string, "file" | "search" | "folder"> = {
  read_file: "file",
  read: "file",
  list_dir: "folder",
  ls: "folder",
  glob: "search",
  find: "search",
  grep: "search",
};

type Facts = ReadonlyMap<string, ToolFacts>;

/** Reports whether a block is such a call and needs no card: it succeeded and shows no image. */
export function isQuietRead(block: Block, tools: Facts): block is ToolCallBlock {
  if (block.type !== "toolCall" || !Object.hasOwn(kinds, block.name)) {
    return false;
  }
  const facts = tools.get(block.id);
  return facts?.result?.isError === false && !facts.decision && resultImages(facts.result).length === 0;
}

/** Reports whether a block may be folded with the reads around it: reasoning is, visible text is not. */
function isSilent(block: Block): boolean {
  return block.type === "thinking" || (block.type === "text" && block.text.trim() === "");
}

export interface ReadRun {
  /** The index of its first block, and the index after its last one. */
  from: number;
  to: number;
  calls: ToolCallBlock[];
}

/** Returns the runs of reads in a message. The reasoning before the first call of a run belongs to it. */
export function readRuns(message: AssistantMessage, tools: Facts): ReadRun[] {
  const runs: ReadRun[] = [];
  let run: ReadRun | null = null;
  let from = -1;
  for (const [i, block] of blocksOf(message).entries()) {
    if (isQuietRead(block, tools)) {
      if (!run) {
        run = { from: from < 0 ? i : from, to: i, calls: [] };
        runs.push(run);
      }
      run.calls.push(block);
      run.to = i + 1;
    } else if (!isSilent(block)) {
      run = null;
      from = -1;
      continue;
    }
    from = from < 0 ? i : from;
  }
  return runs;
}

/** Counts what was read: a file that was read twice counts once. */
export function countReads(calls: readonly ToolCallBlock[]) {
  const files = new Set<string>();
  const names: string[] = [];
  let [searches, folders] = [0, 0];
  for (const { name, arguments: args } of calls) {
    const path = isRecord(args) && typeof args.path === "string" ? args.path : "";
    if (kinds[name] === "search") {
      searches++;
    } else if (kinds[name] === "folder") {
      folders++;
    } else if (!files.has(path)) {
      files.add(path);
      names.push(path.slice(path.lastIndexOf("/") + 1));
    }
  }
  return { files: files.size, searches, folders, names };
}
