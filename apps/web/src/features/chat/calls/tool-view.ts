import type { Block, ImageBlock, ToolResultMessage } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { languageOf } from "../../code/language";

/** A tool call, prepared for display. */
export interface ToolView {
  /** A verb for what the call does. */
  verb: string;
  /** The most important argument: the command, the path or the pattern. */
  subject: string;
  /** Selects how the subject is shown, for example as a command or as a path. */
  kind: "command" | "file" | "search" | "question" | "agents" | "tasks" | "other";
  /** The text to be written, or the whole command if it has several lines. */
  body: { text: string; language: string } | null;
  /** The arguments that the fields above do not show. */
  rest: [name: string, value: string][];
  /** The choices of a question. */
  choices: string[];
}

const verbs: Record<string, { verb: string; kind: ToolView["kind"]; subject: string; body?: string }> = {
  bash: {
    get verb() {
      return t("chat.calls.run");
    },
    kind: "command",
    subject: "command",
  },
  read_file: {
    get verb() {
      return t("chat.calls.read");
    },
    kind: "file",
    subject: "path",
  },
  write_file: {
    get verb() {
      return t("chat.calls.write");
    },
    kind: "file",
    subject: "path",
    body: "content",
  },
  edit_file: {
    get verb() {
      return t("chat.calls.edit");
    },
    kind: "file",
    subject: "path",
  },
  patch: {
    get verb() {
      return t("chat.calls.edit");
    },
    kind: "file",
    subject: "path",
  },
  todo: {
    get verb() {
      return t("chat.calls.todo");
    },
    kind: "tasks",
    subject: "",
  },
  list_dir: {
    get verb() {
      return t("chat.calls.list");
    },
    kind: "file",
    subject: "path",
  },
  glob: {
    get verb() {
      return t("chat.calls.find");
    },
    kind: "search",
    subject: "pattern",
  },
  clarify: {
    get verb() {
      return t("chat.calls.ask");
    },
    kind: "question",
    subject: "question",
  },
  grep: {
    get verb() {
      return t("chat.calls.search");
    },
    kind: "search",
    subject: "pattern",
  },
  execute_skill: {
    get verb() {
      return t("chat.calls.skill");
    },
    kind: "other",
    subject: "name",
  },
  delegate_task: {
    get verb() {
      return t("chat.calls.delegate");
    },
    kind: "agents",
    subject: "title",
    body: "prompt",
  },
  delegate_parallel: {
    get verb() {
      return t("chat.calls.delegate");
    },
    kind: "agents",
    subject: "tasks",
  },
};

/** The verbs for the tools of other programs, by kind. The title of such a call says what it does. */
const foreign: Record<string, () => string> = {
  acp_read: () => t("chat.calls.read"),
  acp_edit: () => t("chat.calls.edit"),
  acp_delete: () => t("chat.calls.delete"),
  acp_move: () => t("chat.calls.move"),
  acp_search: () => t("chat.calls.search"),
  acp_execute: () => t("chat.calls.run"),
  acp_think: () => t("chat.calls.think"),
  acp_fetch: () => t("chat.calls.fetch"),
  acp_switch_mode: () => t("chat.calls.plan"),
  acp_other: () => t("chat.calls.tool"),
};

/** Reads the arguments of a call of another program. */
function viewForeign(verb: string, name: string, fields: Record<string, unknown>): ToolView {
  const { title, tool, locations, input } = fields;
  const places = (Array.isArray(locations) ? locations : [])
    .filter(isRecord)
    .map(({ path, line }) => (typeof line === "number" ? `${textOf(path)}:${line}` : textOf(path)));
  const details = isRecord(input) ? Object.entries(input).map(([key, value]) => [key, textOf(value)] as const) : [];
  const lines = textOf(title).split("\n");
  const rest: [string, string][] = [
    ...(lines.length > 1 ? [["title", textOf(title)] as [string, string]] : []),
    ...(textOf(tool) ? [["tool", textOf(tool)] as [string, string]] : []),
    ...(places.length > 0 ? [["locations", places.join("\n")] as [string, string]] : []),
    ...details.filter(([, value]) => value !== textOf(title)).map(([key, value]): [string, string] => [key, value]),
    ...(input !== undefined && !isRecord(input) ? [["input", textOf(input)] as [string, string]] : []),
  ];
  return {
    verb,
    kind: name === "acp_execute" ? "command" : "other",
    subject: lines.length > 1 ? `${lines[0]} …` : textOf(title),
    body: null,
    rest,
    choices: [],
  };
}

/** Reads the arguments of a call. Those of an unknown tool, or in an unknown form, are listed as they are. */
export function viewTool(name: string, args: unknown): ToolView {
  const fields = isRecord(args) ? args : {};
  const verb = Object.hasOwn(foreign, name) ? foreign[name]?.() : undefined;
  if (verb !== undefined) {
    return viewForeign(verb, name, fields);
  }
  const known = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  const subject = known ? subjectOf(fields[known.subject]) : "";
  const body = known?.body ? textOf(fields[known.body]) : "";
  const shown = new Set(known ? [known.subject, ...(known.body ? [known.body] : [])] : []);
  const multiline = known?.kind === "command" && subject.includes("\n");
  return {
    verb: known?.verb ?? name,
    kind: known?.kind ?? "other",
    subject: multiline ? `${subject.slice(0, subject.indexOf("\n"))} …` : subject || (name === "list_dir" ? "." : ""),
    body: multiline
      ? { text: subject, language: "bash" }
      : body !== ""
        ? { text: body, language: known?.kind === "file" ? languageOf(subject) : "" }
        : null,
    rest: Object.entries(fields)
      .filter(([key]) => !shown.has(key))
      .map(([key, value]) => [key, key === "choices" && Array.isArray(value) ? listOf(value) : textOf(value)]),
    choices: name === "clarify" && Array.isArray(fields.choices) ? fields.choices.map(choiceOf) : [],
  };
}

/** Returns a value as text; a list, for example of tasks, is counted. */
function subjectOf(value: unknown): string {
  return Array.isArray(value) ? t("chat.calls.tasks", { length: value.length }) : textOf(value);
}

/** Returns the text of a result, as the model sees it. */
export function resultText(result: ToolResultMessage): string {
  const content: Block[] | string = result.content;
  if (typeof content === "string") {
    return content;
  }
  return content
    .map((block) => (block.type === "text" ? block.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** Returns the images of a result. */
export function resultImages(result: ToolResultMessage): ImageBlock[] {
  const content: Block[] | string = result.content;
  return typeof content === "string" ? [] : content.filter((block) => block.type === "image");
}

/** Returns the exit code of a command's result, or null. */
export function exitCode(result: ToolResultMessage): number | null {
  const details = isRecord(result.details) ? result.details : {};
  const code = details.exitCode ?? details.exit_code;
  return typeof code === "number" ? code : null;
}

/** Returns the arguments of a call that is still streaming: the complete string fields of its JSON. */
export function partialArguments(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    const fields: Record<string, string> = {};
    for (const [, key, value] of json.matchAll(/"(\w+)"\s*:\s*"((?:[^"\\]|\\.)*)"/g)) {
      try {
        if (key) {
          fields[key] = JSON.parse(`"${value}"`);
        }
      } catch {} // cut within an escape; the next piece completes it
    }
    return fields;
  }
}

/** Returns the text of a choice, which is a string or an object with one, under the names that the host accepts. */
function choiceOf(value: unknown): string {
  if (!isRecord(value)) {
    return textOf(value);
  }
  return textOf(["label", "description", "text", "title"].map((name) => value[name]).find(Boolean) ?? value);
}

/** Returns the choices of a question, one per line. */
function listOf(values: unknown[]): string {
  return values.map(textOf).join(" / ");
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) {
    return "";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
