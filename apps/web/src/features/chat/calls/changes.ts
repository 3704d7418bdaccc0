// The changes of a call in files: the host's diff once it ran, and until then, or if there is none, the call's own
// arguments.
import type { ToolResultMessage } from "../../../api/types";
import type { DiffInput } from "../../diff/Diff";
import { parseDiff } from "../../diff/parse";
import { isPatch, parsePatch } from "../../diff/v4a";
import { isRecord } from "./tool-facts";

/** Longer diffs are not counted until they are opened. */
const maxCounted = 300_000;

/** Returns the change that a call makes; null if there is none or it cannot be determined. */
export function changeOf(name: string, args: unknown, result: ToolResultMessage | null): DiffInput | null {
  const fields = isRecord(args) ? args : {};
  const details = isRecord(result?.details) ? result.details : {};
  switch (name) {
    case "patch":
      return (
        diffOf(details) ??
        (typeof fields.patch === "string" && fields.patch !== "" ? { diff: fields.patch } : replaced(fields))
      );
    case "acp_edit":
      return foreignDiff(details.acp);
    case "edit":
    case "edit_file":
      return replaced(fields) ?? diffOf(details);
    case "write_file":
      return details.created === true && typeof fields.content === "string"
        ? { path: String(fields.path), before: null, after: fields.content }
        : null;
    default: // tools of other agents, in imported sessions
      return diffOf(details);
  }
}

function diffOf(details: Record<string, unknown>): DiffInput | null {
  return typeof details.diff === "string" && details.diff !== "" ? { diff: details.diff } : null;
}

/** Returns the change of a call of another program. Several changes are in the text of its result only. */
function foreignDiff(call: unknown): DiffInput | null {
  const content = isRecord(call) && Array.isArray(call.content) ? call.content.filter(isRecord) : [];
  const diffs = content.filter(({ type }) => type === "diff");
  const [only] = diffs;
  if (!only || diffs.length > 1 || typeof only.newText !== "string") {
    return null;
  }
  const before = typeof only.oldText === "string" ? only.oldText : null;
  return { path: String(only.path), before, after: only.newText, ...(before === null ? {} : { part: true }) };
}

/** Returns the replacement of one text by another, by the argument names that tools use. */
function replaced(fields: Record<string, unknown>): DiffInput | null {
  const before = fields.old_string ?? fields.oldText;
  const after = fields.new_string ?? fields.newText;
  return typeof fields.path === "string" && typeof before === "string" && typeof after === "string"
    ? { path: fields.path, before, after, part: true }
    : null;
}

export interface ChangeFacts {
  /** The paths of the files, if known. */
  paths: string[];
  /** How many lines are added and removed; null if that is not known until it is opened. */
  counts: { added: number; removed: number } | null;
}

/** Returns the facts that a closed card shows about a change. */
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

/** Returns the part of a result that people need besides the diff; "" if there is none. */
export function remarkOf(result: ToolResultMessage, text: string): string {
  const details = isRecord(result.details) ? result.details : {};
  if (typeof details.diff !== "string" || result.isError) {
    return text;
  }
  const plain = !details.approximate && !details.reindented && !details.noChange && !text.includes("\nNote: ");
  return plain ? "" : (text.split(/^--- /m)[0]?.trim() ?? "");
}
