import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The part of a message's block that the tests read. */
interface Block {
  type: string;
  text?: string;
}

/** The part of a session file's line that the tests read. */
export interface Line {
  type: string;
  id?: string;
  seq?: number;
  parentId?: string | null;
  clientId?: string;
  clientKey?: string;
  customType?: string;
  data?: Record<string, unknown>;
  message?: { role: string; content: string | Block[]; stopReason?: string; isError?: boolean };
}

/** The visible content of one message. */
export interface Said {
  who: "user" | "assistant";
  text: string;
}

/** Returns the paths of the session files of a scorel home. */
export function sessionFiles(scorelHome: string): string[] {
  const root = join(scorelHome, "sessions");
  if (!existsSync(root)) {
    return []; // before the first session
  }
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name.endsWith(".jsonl"))
    .map((each) => join(each.parentPath, each.name));
}

/** Reads the lines of one session from the host's disk. */
export function readSession(scorelHome: string, sessionId: string): Line[] {
  const path = sessionFiles(scorelHome).find((each) => basename(each).includes(sessionId));
  if (!path) {
    throw new Error(`there is no file of the session ${sessionId}`);
  }
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

/** Appends messages to the only session, alternating user and agent, while no host runs. */
export function lengthenSession(scorelHome: string, texts: string[]): void {
  const messages = texts.map((text, i) => {
    const content = [{ type: "text", text }];
    return i % 2 ? { role: "assistant", content, stopReason: "stop" } : { role: "user", content };
  });
  appendMessages(scorelHome, messages);
}

/** Appends given messages to the only session, while no host runs. */
export function appendMessages(scorelHome: string, messages: object[]): void {
  const [file = ""] = sessionFiles(scorelHome);
  const sessionId = file.replace(/^.*_(.*)\.jsonl$/, "$1");
  let parentId = readSession(scorelHome, sessionId).at(-1)?.id ?? null;
  const lines = messages.map((message, i) => {
    const entry = { type: "message", id: `long${i}`, parentId, timestamp: "2026-01-02T03:04:05.678Z", message };
    parentId = entry.id;
    return `${JSON.stringify(entry)}\n`;
  });
  appendFileSync(file, lines.join(""));
}

/** Reports whether the last prompt in a session file has its answer, or the record of how its turn ended. */
export function answered(lines: Line[]): boolean {
  for (const { customType, message } of lines.toReversed()) {
    if (customType === "scorel.turn") {
      return true;
    }
    if (message) {
      return message.role === "assistant" && message.stopReason !== "toolUse";
    }
  }
  return false;
}

/** Returns the conversation in a session file, in order. */
export function conversation(lines: Line[]): Said[] {
  const said: Said[] = [];
  for (const { message } of lines) {
    if (message?.role === "user" || message?.role === "assistant") {
      said.push({ who: message.role, text: plain(message.content) });
    }
  }
  return said;
}

function plain(content: string | Block[]): string {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const text = blocks.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join(" ");
  return text.replace(/\s+/g, " ").trim();
}
