// Builders for the data that pages show.
import type {
  Approval,
  AssistantMessage,
  Block,
  CustomEntry,
  HostInfo,
  MessageEntry,
  Project,
  Question,
  SessionSummary,
  ToolCallBlock,
} from "../../api/types";

let made = 0;

function head() {
  made++;
  return {
    id: `e${made}`,
    parentId: made === 1 ? null : `e${made - 1}`,
    timestamp: new Date(1_790_000_000_000 + made * 1000).toISOString(),
  };
}

export function user(text: string, more: Partial<MessageEntry> = {}): MessageEntry {
  return {
    type: "message",
    ...head(),
    clientId: "cli_me",
    message: { role: "user", content: [{ type: "text", text }], timestamp: Date.now() },
    ...more,
  };
}

export function assistant(content: Block[] | string, more: Partial<AssistantMessage> = {}): MessageEntry {
  const blocks: Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return {
    type: "message",
    ...head(),
    message: {
      role: "assistant",
      content: blocks,
      provider: "local",
      model: "qwen3-coder",
      stopReason: "stop",
      timestamp: Date.now(),
      ...more,
    },
  };
}

export function call(id: string, name: string, args: unknown): ToolCallBlock {
  return { type: "toolCall", id, name, arguments: args };
}

export function result(
  toolCallId: string,
  toolName: string,
  text: string,
  isError = false,
  details?: unknown,
): MessageEntry {
  return {
    type: "message",
    ...head(),
    message: {
      role: "toolResult",
      toolCallId,
      toolName,
      content: [{ type: "text", text }],
      isError,
      ...(details === undefined ? {} : { details }),
      timestamp: Date.now(),
    },
  };
}

export function custom(customType: string, data: unknown): CustomEntry {
  return { type: "custom", customType, data, ...head() };
}

export function approval(more: Partial<Approval> = {}): Approval {
  return {
    id: "a1",
    turnId: "t1",
    toolCallId: "c1",
    toolName: "bash",
    title: "Run a command",
    detail: "go test ./...",
    cwd: "/home/ada/scorel",
    createdAt: Date.now(),
    ...more,
  };
}

export function question(more: Partial<Question> = {}): Question {
  return {
    id: "q1",
    turnId: "t1",
    toolCallId: "c1",
    question: "Which database?",
    choices: ["SQLite", "PostgreSQL"],
    createdAt: Date.now(),
    ...more,
  };
}

export function project(id: string, path: string, more: Partial<Project> = {}): Project {
  return { id, name: path.slice(path.lastIndexOf("/") + 1), path, ...more };
}

/** All sessions have the same times, so that their order does not depend on the clock. */
const loaded = Date.now();

export function summary(
  id: string,
  projectId: string,
  name: string,
  more: Partial<SessionSummary> = {},
): SessionSummary {
  return {
    id,
    projectId,
    name,
    createdAt: loaded - 3_600_000,
    updatedAt: loaded - 60_000,
    messageCount: 4,
    running: false,
    model: "main",
    ...more,
  };
}

export function hostInfo(more: Partial<HostInfo> = {}): HostInfo {
  return {
    deviceId: "dev_one",
    label: "workshop",
    version: "0.1.0",
    home: "/home/ada",
    models: [
      { name: "main", provider: "local", id: "qwen3-coder" },
      { name: "demo", provider: "demo", id: "demo", demo: true },
    ],
    defaultModel: "main",
    relayState: "connected",
    grants: ["view", "prompt", "approve", "manage", "files"],
    ...more,
  };
}
