import type { Mode, Schedule, ScheduleSpec, ScheduleWhen } from "../../api/types";

export type WhenKind = "cron" | "once" | "schedule" | "session" | "webhook" | "folder" | "github";

/** The fields of the form, as people type them. */
export interface ScheduleFields {
  name: string;
  /** "" for a prompt of its own. */
  skill: string;
  prompt: string;
  agent: string;
  model: string;
  mode: Mode;
  worktree: boolean;
  cost: string;
  tokens: string;
  minutes: string;
  onApproval: "wait" | "end";
  overlap: "skip" | "queue";
  missed: "run" | "skip";
  unattended: boolean;
  kind: WhenKind;
  cron: string;
  zone: string;
  /** As a field of the type datetime-local has it. */
  at: string;
  afterSchedule: string;
  outcome: "succeeded" | "failed" | "ended";
  afterSession: string;
  signed: boolean;
  path: string;
  pattern: string;
  repository: string;
  authors: string;
  phrase: string;
}

/** Returns the time zone of this browser. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Reports whether runs get text that others wrote. */
export const isOutside = (kind: WhenKind) => kind === "webhook" || kind === "folder" || kind === "github";

/** Returns the fields of a schedule; null for those of a new one. */
export function fieldsOf(schedule: Schedule | null, skills: readonly string[]): ScheduleFields {
  const spec = schedule?.spec;
  const when = spec?.when ?? { cron: "0 8 * * 1-5", zone: ownZone() };
  return {
    name: spec?.name ?? "",
    ...promptOf(spec?.prompt ?? "", skills),
    agent: spec?.agent ?? "",
    model: spec?.model ?? "",
    mode: spec?.mode || "ask",
    worktree: spec?.worktree ?? false,
    ...{ cost: textOf(spec?.cost), tokens: textOf(spec?.tokens), minutes: textOf((spec?.seconds ?? 0) / 60) },
    onApproval: spec?.onApproval || "wait",
    overlap: spec?.overlap || "skip",
    missed: spec?.missed || "run",
    unattended: spec?.allowUnattended ?? false,
    ...whenFields(when),
  };
}

function whenFields(when: ScheduleWhen) {
  return {
    kind: kindOf(when),
    cron: when.cron ?? "0 8 * * 1-5",
    zone: when.cron ? (when.zone ?? "") : ownZone(),
    at: when.at ? localText(when.at) : "",
    afterSchedule: when.after?.scheduleId ?? "",
    outcome: when.after?.outcome || "succeeded",
    afterSession: when.after?.sessionId ?? "",
    signed: when.webhook?.signed ?? false,
    path: when.folder?.path ?? "",
    pattern: when.folder?.pattern ?? "",
    repository: when.github?.repository ?? "",
    authors: when.github?.authors.join(", ") ?? "",
    phrase: when.github?.phrase ?? "@scorel",
  } as const;
}

function kindOf({ at, after, webhook, folder, github }: ScheduleWhen): WhenKind {
  if (after) {
    return after.sessionId ? "session" : "schedule";
  }
  return at ? "once" : webhook ? "webhook" : folder ? "folder" : github ? "github" : "cron";
}

const textOf = (value: number | undefined) => (value ? String(value) : "");

/** Splits a prompt that calls a known skill into the skill and the rest. */
function promptOf(text: string, skills: readonly string[]): { skill: string; prompt: string } {
  const [, name = "", rest = ""] = /^\/(\S+)\s*(.*)$/s.exec(text) ?? [];
  return skills.includes(name) ? { skill: name, prompt: rest } : { skill: "", prompt: text };
}

function localText(at: number): string {
  const date = new Date(at);
  return new Date(at - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the schedule of the fields. What the form does not show stays as `before` has it. */
export function specOf(fields: ScheduleFields, before?: ScheduleSpec): ScheduleSpec {
  const { name, skill, prompt, agent, model, mode, worktree, onApproval, overlap, missed, unattended } = fields;
  return {
    name: name.trim(),
    prompt: skill ? `/${skill} ${prompt}`.trim() : prompt.trim(),
    ...(agent ? { agent } : {}),
    ...(model ? { model } : {}),
    mode,
    ...(worktree ? { worktree } : {}),
    ...amounts(fields),
    ...{ onApproval, overlap, missed },
    ...(before?.windowSeconds ? { windowSeconds: before.windowSeconds } : {}),
    ...(unattended && isOutside(fields.kind) ? { allowUnattended: true } : {}),
    when: whenOf(fields, before?.when),
  };
}

function amounts({ cost, tokens, minutes }: ScheduleFields) {
  const [dollars, count, time] = [Number(cost), Number(tokens), Number(minutes)];
  return {
    ...(dollars ? { cost: dollars } : {}),
    ...(count ? { tokens: Math.round(count) } : {}),
    ...(time ? { seconds: Math.round(time * 60) } : {}),
  };
}

function whenOf(fields: ScheduleFields, before?: ScheduleWhen): ScheduleWhen {
  const { kind, cron, zone, at, afterSchedule, outcome, afterSession, signed, path, pattern } = fields;
  switch (kind) {
    case "cron":
      return { cron: cron.trim(), ...(zone.trim() ? { zone: zone.trim() } : {}) };
    case "once":
      return { at: new Date(at).getTime() || 0 };
    case "schedule":
      return { after: { scheduleId: afterSchedule, outcome } };
    case "session":
      return { after: { sessionId: afterSession } };
    case "webhook":
      return { webhook: { ...before?.webhook, signed } };
    case "folder":
      return { folder: { path: path.trim(), ...(pattern.trim() ? { pattern: pattern.trim() } : {}) } };
    case "github":
      return {
        github: {
          repository: fields.repository.trim(),
          authors: fields.authors.split(/[\s,]+/).filter((author) => author !== ""),
          phrase: fields.phrase.trim(),
        },
      };
  }
}

/** Reports whether the form can be sent; the host checks the rest. */
export function isReady(fields: ScheduleFields): boolean {
  const needed: Record<WhenKind, string> = {
    cron: fields.cron,
    once: fields.at,
    schedule: fields.afterSchedule,
    session: fields.afterSession,
    webhook: "webhook",
    folder: fields.path,
    github: fields.repository && fields.authors && fields.phrase,
  };
  const prompt = fields.skill || fields.prompt;
  const numbers = [fields.cost, fields.tokens, fields.minutes].every((text) => Number(text) >= 0);
  return fields.name.trim() !== "" && prompt.trim() !== "" && needed[fields.kind].trim() !== "" && numbers;
}

/** Returns a new token of a webhook. */
export function newToken(): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"; // 32, so that each is equally likely
  return `sct_${[...crypto.getRandomValues(new Uint8Array(26))].map((byte) => letters[byte % 32]).join("")}`;
}
