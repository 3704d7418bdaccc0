// What a call changes in files: made by the host once it ran, and until then, or where it
// never does, as the call itself says it.
import type { ToolResultMessage } from "../../../api/types";
import type { DiffInput } from "../../diff/Diff";
import { parseDiff } from "../../diff/parse";
import { isPatch, parsePatch } from "../../diff/v4a";
import { isRecord } from "./tool-facts";

/** Longer diffs are not counted before somebody opens them. */
const maxCounted = 300_000;

/** The change that a call makes; null where it makes none, or none that can be told. */
export function changeOf(name: string, args: unknown, result: ToolResultMessage | null): DiffInput | null {
  const fields = isRecord(args) ? args : {};
  const details = isRecord(result?.details) ? result.details : {};
  switch (name) {
    case "patch":
      if (typeof details.diff === "string" && details.diff !== "") {
        return { diff: details.diff };
      }
      return typeof fields.patch === "string" && fields.patch !== "" ? { diff: fields.patch } : replaced(fields);
    case "edit":
    case "edit_file":
      return replaced(fields);
    case "write_file":
      return details.created === true && typeof fields.content === "string"
        ? { path: String(fields.path), before: null, after: fields.content }
        : null;
    default:
      return null;
  }
}

/** A text in place of another one, by the names that tools have for them. */
function replaced(fields: Record<string, unknown>): DiffInput | null {
  const before = fields.old_string ?? fields.oldText;
  const after = fields.new_string ?? fields.newText;
  return typeof fields.path === "string" && typeof before === "string" && typeof after === "string"
    ? { path: fields.path, before, after, part: true }
    : null;
}

export interface ChangeFacts {
  /** The files, as far as they are named. */
  paths: string[];
  /** How many lines come and go; null where that is not known before it is opened. */
  counts: { added: number; removed: number } | null;
}

/** What a closed card says about a change. */
export function factsOfChange(change: DiffInput | null): ChangeFacts {
  if (!change) {
    return { paths: [], counts: null };
  }
  if (!("diff" in change)) {
    const { path, before, after } = change;
    const added = after && before === null ? after.replace(/\n$/, "").split("\n").length : 0;
    return { paths: [path], counts: before === null ? { added, removed: 0 } : null };
  }
  const { diff } = change;
  if (diff.length > maxCounted) {
    return { paths: [], counts: null };
  }
  const { files } = isPatch(diff) ? parsePatch(diff) : parseDiff(diff);
  return {
    paths: files.map(({ path }) => path).filter((path) => path !== ""),
    counts: {
      added: files.reduce((sum, file) => sum + file.added, 0),
      removed: files.reduce((sum, file) => sum + file.removed, 0),
    },
  };
}

/** What a result says besides the diff; "" where there is nothing that people need to know. */
export function remarkOf(result: ToolResultMessage, text: string): string {
  const details = isRecord(result.details) ? result.details : {};
  if (typeof details.diff !== "string" || result.isError) {
    return text;
  }
  const plain = !details.approximate && !details.reindented && !details.noChange && !text.includes("\nNote: ");
  return plain ? "" : (text.split(/^--- /m)[0]?.trim() ?? "");
}
