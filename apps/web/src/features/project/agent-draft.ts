import type { AgentDraft, AgentInfo } from "../../api/types";

/** The form of an agent, as a person writes it. */
export interface AgentFields {
  description: string;
  model: string;
  tools: string;
  disallowedTools: string;
  subagents: string;
  maxTurns: string;
  maxConcurrent: string;
  prompt: string;
}

/** Returns what the form begins with. */
export function fieldsOf(agent: AgentInfo | null): AgentFields {
  return {
    description: agent?.description ?? "",
    model: agent?.model ?? "",
    tools: textOf(agent?.tools),
    disallowedTools: (agent?.disallowedTools ?? []).join(", "),
    subagents: textOf(agent?.subagents),
    maxTurns: agent?.maxTurns ? String(agent.maxTurns) : "",
    maxConcurrent: agent?.maxConcurrent ? String(agent.maxConcurrent) : "",
    prompt: agent?.prompt ?? "",
  };
}

/** An absent list means all, an empty one none. */
function textOf(list: readonly string[] | undefined): string {
  return list ? list.join(", ") || "none" : "";
}

function listOf(text: string): string[] | undefined {
  const plain = text.trim();
  if (plain === "" || plain === "all") {
    return undefined;
  }
  if (plain === "none") {
    return [];
  }
  return namesOf(plain);
}

function namesOf(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "none");
}

/** Returns the agent that the form describes. What has no field stays as it is in `agent`. */
export function draftOf(fields: AgentFields, agent: AgentInfo | null): AgentDraft {
  const tools = listOf(fields.tools);
  const subagents = listOf(fields.subagents);
  const without = namesOf(fields.disallowedTools);
  // Sends -1 for input that is not a number; the host's error then says what is valid.
  const number = (text: string) => (/^\d*$/.test(text.trim()) ? Number(text) : -1);
  const maxTurns = number(fields.maxTurns);
  const maxConcurrent = number(fields.maxConcurrent);
  return {
    description: fields.description.trim(),
    prompt: fields.prompt,
    enabled: agent?.enabled ?? true,
    ...(fields.model ? { model: fields.model } : {}),
    ...(tools ? { tools } : {}),
    ...(subagents ? { subagents } : {}),
    ...(without.length > 0 ? { disallowedTools: without } : {}),
    ...(maxTurns ? { maxTurns } : {}),
    ...(maxConcurrent ? { maxConcurrent } : {}),
  };
}
