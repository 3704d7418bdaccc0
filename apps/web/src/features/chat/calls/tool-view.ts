import type { Block, ImageBlock, ToolResultMessage } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { languageOf } from "../../code/language";

/** How a tool call is put to a reader. */
export interface ToolView {
  /** A verb: what it does. */
  verb: string;
  /** The one thing that matters: the command, the path, the pattern. */
  subject: string;
  /** A command is read as a command, a path as a path. */
  kind: "command" | "file" | "search" | "question" | "agents" | "tasks" | "other";
  /** What is to be written, or the whole command when it has several lines. */
  body: { text: string; language: string } | null;
  /** Arguments that the lines above do not show. */
  rest: [name: string, value: string][];
  /** Of a question: what could be chosen. */
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

/** Reads the arguments of a call. Those of an unknown tool, or in an unknown form, are listed as they are. */
export function viewTool(name: string, args: unknown): ToolView {
  const fields = isRecord(args) ? args : {};
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

/** A list, as of tasks, is counted. */
function subjectOf(value: unknown): string {
  return Array.isArray(value) ? t("chat.calls.tasks", { length: value.length }) : textOf(value);
}

/** The text of a result, as the model sees it. */
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

/** The images of a result. */
export function resultImages(result: ToolResultMessage): ImageBlock[] {
  const content: Block[] | string = result.content;
  return typeof content === "string" ? [] : content.filter((block) => block.type === "image");
}

/** The exit code that a command's result carries, if it does. */
export function exitCode(result: ToolResultMessage): number | null {
  const details = isRecord(result.details) ? result.details : {};
  const code = details.exitCode ?? details.exit_code;
  return typeof code === "number" ? code : null;
}

/** The JSON of a call that still streams, as far as it can be read: complete string fields. */
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

/** A choice may be a text, or an object with one: the names are those that the host takes. */
function choiceOf(value: unknown): string {
  if (!isRecord(value)) {
    return textOf(value);
  }
  return textOf(["label", "description", "text", "title"].map((name) => value[name]).find(Boolean) ?? value);
}

/** Choices of a question, each as it is read. */
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
