// The vocabulary of the host under the names that the pages use. Every type is
// generated from Go; nothing is declared twice.
export type {
  Anchors,
  Approval,
  Client,
  Decision,
  DirEntry,
  Event,
  GetEntriesResponse,
  Grant,
  HostEvent,
  HostInfo,
  Live,
  Model,
  PartialBlock,
  Project,
  Requests,
  ResyncEventsResponse,
  RunningTool,
  SessionEvent,
  SessionSummary,
  Turn,
} from "@scorel/protocol/gen/api";
export { Kind as ApiKind, MAX_NAME, MAX_PROMPT, MAX_TOOL_TAIL } from "@scorel/protocol/gen/api";
export type {
  AssistantMessage,
  Block,
  CustomEntry,
  Entry as SessionEntry,
  ImageBlock,
  Message,
  MessageEntry,
  QueuedPrompt,
  StopReason,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultMessage,
  TurnRecord,
  UserMessage,
} from "@scorel/protocol/gen/session";
export { CUSTOM_APPROVAL, CUSTOM_LEAF, CUSTOM_OMITTED, CUSTOM_QUEUE, CUSTOM_TURN } from "@scorel/protocol/gen/session";
