import type { ModelSession } from "./model-session";
import type { Random } from "./random";

/** Applies one random step that a host could take next in a session. */
export function randomStep(s: ModelSession, random: Random): void {
  const steps = [
    () => startTurn(s, random),
    () => startMessage(s),
    () => startBlock(s, random),
    () => growBlock(s, random),
    () => growBlock(s, random),
    () => growBlock(s, random),
    () => reset(s, random),
    () => startTool(s, random),
    () => growTool(s, random),
    () => growTool(s, random),
    () => finishTool(s),
    () => assistant(s, random),
    () => askApproval(s, random),
    () => resolveApproval(s),
    () => askQuestion(s, random),
    () => endQuestion(s),
    () => changeAttendance(s, random),
    () => changeQueue(s, random),
    () => startCrew(s, random),
    () => changeCrew(s, random),
    () => endCrew(s),
    () => cancelTurn(s),
    () => s.live.turn && s.endTurn(...random.pick<[string, string?]>([["stop"], ["aborted"], ["error", "no model"]])),
    () => s.append({ type: "glimpse_of_the_future", anything: random.below(9) }),
    () => s.publish("aurora_changed", { colour: "green" }),
  ];
  random.pick(steps)();
}

function startTurn(s: ModelSession, random: Random): void {
  if (!s.live.turn) {
    const clientKey = `key${random.below(1e6)}`;
    s.userMessage("hello", clientKey, "cli_a");
    s.live.turn = { turnId: `turn${random.below(1e6)}`, clientKey, startedAt: 1 };
    s.publish("turn_started", { turn: s.live.turn });
  }
}

function startMessage(s: ModelSession): void {
  s.live.partial = [];
  delete s.live.retry;
  s.publish("message_started");
}

function reset(s: ModelSession, random: Random): void {
  s.live.partial = [];
  delete s.live.retry;
  if (random.chance(50)) {
    s.live.retry = { reason: "the line broke", attempt: 2 + random.below(3), attempts: 4, delayMs: 2000 };
  }
  s.publish("message_reset", { reason: "the line broke", ...(s.live.retry ? { retry: s.live.retry } : {}) });
}

function startBlock(s: ModelSession, random: Random): void {
  const index = s.live.partial.length;
  delete s.live.retry;
  if (random.chance(30)) {
    s.live.partial.push({ type: "toolCall", text: "", id: `call${index}`, name: "bash" });
    s.publish("block_started", { index, block: "toolCall", id: `call${index}`, name: "bash" });
  } else {
    s.live.partial.push({ type: "text", text: "" });
    s.publish("block_started", { index, block: "text" });
  }
}

function growBlock(s: ModelSession, random: Random): void {
  const index = random.below(s.live.partial.length + 1);
  const block = s.live.partial[index];
  const delta = `word${random.below(100)} `;
  if (block) {
    block.text += delta;
  }
  // A delta for an unknown block changes nothing.
  s.publish("block_delta", { index, delta });
}

function startTool(s: ModelSession, random: Random): void {
  const toolCallId = `call${random.below(1e6)}`;
  s.live.tools.push({ toolCallId, toolName: "bash", output: "" });
  s.publish("tool_started", { toolCallId, toolName: "bash" });
}

function growTool(s: ModelSession, random: Random): void {
  const tool = s.live.tools[0];
  if (tool) {
    const delta = random.pick(["x", "é", "€", "🙂"]).repeat(random.below(6000));
    tool.output = lastBytes(tool.output + delta, 16384);
    s.publish("tool_output", { toolCallId: tool.toolCallId, delta });
  }
}

// Returns the end of a text, in whole characters.
function lastBytes(text: string, most: number): string {
  const kept: string[] = [];
  let total = 0;
  for (const c of [...text].reverse()) {
    total += Buffer.byteLength(c);
    if (total > most) {
      break;
    }
    kept.push(c);
  }
  return kept.reverse().join("");
}

function finishTool(s: ModelSession): void {
  const tool = s.live.tools[0];
  if (tool) {
    const { toolCallId, toolName } = tool;
    s.append({ type: "message", message: { role: "toolResult", toolCallId, toolName, content: [], timestamp: 1 } });
  }
}

function assistant(s: ModelSession, random: Random): void {
  const stopReason = random.pick(["stop", "toolUse", "error"]);
  const content = [{ type: "text", text: s.live.partial.map((b) => b.text).join("") }];
  s.append({ type: "message", message: { role: "assistant", content, stopReason, timestamp: 1 } });
}

function askApproval(s: ModelSession, random: Random): void {
  const approval = {
    id: `apr${random.below(1e6)}`,
    turnId: "turn",
    toolCallId: "call",
    toolName: "bash",
    title: "ls",
    detail: "ls",
    cwd: "/",
    createdAt: 1,
  };
  s.live.approvals.push(approval);
  s.publish("approval_requested", { approval });
}

function resolveApproval(s: ModelSession): void {
  const approval = s.live.approvals.shift();
  if (approval) {
    s.append({ type: "custom", customType: "scorel.approval", data: { approvalId: approval.id } });
    s.publish("approval_resolved", { approvalId: approval.id, decision: "allow", decidedBy: "cli_a" });
  }
}

function askQuestion(s: ModelSession, random: Random): void {
  const question = {
    id: `qst${random.below(1e6)}`,
    turnId: "turn",
    toolCallId: "call",
    question: "which?",
    choices: ["a", "b"].slice(random.below(3)),
    createdAt: 1,
  };
  s.live.questions.push(question);
  s.publish("question_asked", { question });
}

function endQuestion(s: ModelSession): void {
  const question = s.live.questions.shift();
  if (question) {
    s.append({ type: "custom", customType: "scorel.question", data: { questionId: question.id } });
    s.publish("question_answered", { questionId: question.id, outcome: "skipped", answeredBy: "cli_a" });
  }
}

function changeAttendance(s: ModelSession, random: Random): void {
  if (s.live.unattended) {
    delete s.live.unattended;
  } else if (random.chance(50)) {
    s.live.unattended = true;
  }
  s.publish("attendance_changed", { unattended: s.live.unattended ?? false });
}

function startCrew(s: ModelSession, random: Random): void {
  const children = [0, 1].map((n) => ({ agent: "general", title: `task ${n}`, state: "queued" as const }));
  const batch = { toolCallId: `call${random.below(4)}`, entryId: "e", startedAt: 1, children };
  s.live.crew = [...s.live.crew.filter((each) => each.toolCallId !== batch.toolCallId), structuredClone(batch)];
  s.publish("crew_started", { batch });
}

function changeCrew(s: ModelSession, random: Random): void {
  const batch = s.live.crew[0];
  const index = random.below(3);
  const child = { agent: "general", title: `task ${index}`, state: random.pick(["running", "failed"] as const) };
  if (batch?.children[index]) {
    batch.children[index] = structuredClone(child);
  }
  // An update of an unknown child or batch changes nothing.
  s.publish("crew_updated", { toolCallId: batch?.toolCallId ?? "none", index, child });
}

function endCrew(s: ModelSession): void {
  const [batch, ...rest] = s.live.crew;
  s.live.crew = rest;
  s.publish("crew_ended", { toolCallId: batch?.toolCallId ?? "none" });
}

function changeQueue(s: ModelSession, random: Random): void {
  s.live.queue = Array.from({ length: random.below(3) }, (_, i) => ({
    clientKey: `queued${i}`,
    clientId: "cli_a",
    text: "later",
    queuedAt: 1,
  }));
  s.append({ type: "custom", customType: "scorel.queue", data: { items: s.live.queue } });
  s.publish("queue_changed", { queue: s.live.queue });
}

function cancelTurn(s: ModelSession): void {
  if (s.live.turn) {
    s.live.turn = { ...s.live.turn, cancelling: true };
    s.publish("turn_cancelling", { turnId: s.live.turn.turnId });
  }
}
