// What runs by itself on a machine: schedules, hooks, extensions, and the budgets that limit it.
import type { Budget, Extension, Hook, Requests, Schedule, ScheduleRun } from "../src/api/types";
import { custom } from "../src/app/testing/builders";
import type { FakeHost } from "../src/app/testing/fake-scorel";
import { unbroken } from "./texts";
import { chat, dev } from "./world";

const hour = 3_600_000;
const now = Date.now();

const run = (id: string, ago: number, more: Partial<ScheduleRun>): ScheduleRun => ({
  ...{ id, cause: "time", state: "succeeded", dueAt: now - ago, startedAt: now - ago, endedAt: now - ago + 60_000 },
  sessionId: "s2",
  ...more,
});

const schedule = (id: string, spec: Schedule["spec"], more: Partial<Schedule> = {}): Schedule => ({
  ...{ id, projectId: "p1", spec, enabled: true, createdAt: now - 90 * hour, author: "cli_me", runs: [] },
  ...more,
});

export const schedules: Schedule[] = [
  schedule(
    "sch_1",
    {
      ...{ name: "nightly", prompt: "/release the tests", mode: "accept-edits", cost: 2 },
      when: { cron: "0 3 * * 1-5", zone: "Europe/Berlin" },
    },
    {
      nextAt: now + 11 * hour,
      runs: [
        run("r3", 13 * hour, { state: "failed", reason: "the limit of $2.00 for this run is used up" }),
        run("r2", 37 * hour, { cause: "missed" }),
        run("r1", 61 * hour, { state: "skipped", reason: "the run before has not ended", sessionId: "" }),
      ],
    },
  ),
  schedule(
    "sch_2",
    { name: "deployments", prompt: "Say what this deployment changed.", when: { webhook: { signed: true } } },
    { enabled: false, problem: "the client that saved it was revoked: save it again" },
  ),
  schedule(
    "sch_3",
    { name: unbroken.slice(8, 70), prompt: "Check it.", when: { folder: { path: "inbox", pattern: "*.csv" } } },
    { runs: [run("r4", hour, { state: "waiting", cause: "folder" })] },
  ),
];

const hooks: Hook[] = [
  {
    ...{ id: "h1", event: "before_tool", declared: "PreToolUse", source: ".claude/settings.json", matcher: "Bash" },
    ...{ command: 'bash "$CLAUDE_PROJECT_DIR"/hooks/no-push.sh', files: ["hooks/no-push.sh"], timeoutSeconds: 10 },
    ...{ sandbox: "bubblewrap+landlock", hash: "1", state: "needs_consent" },
  },
  {
    ...{ id: "h2", name: "format", event: "after_tool", declared: "after_tool", source: ".scorel/hooks.toml" },
    ...{ command: `gofmt -l . ${unbroken}`, timeoutSeconds: 30, sandbox: "bubblewrap+landlock", hash: "2" },
    ...{ matcher: "write_file, patch", state: "ready" },
    last: { at: now - hour, durationMs: 41, outcome: "added", text: "Run gofmt on it." },
  },
  {
    ...{ id: "h3", event: "turn_end", declared: "turn_end", source: "config.toml", command: "notify-me" },
    ...{ timeoutSeconds: 1, sandbox: "none", state: "failed", reason: "there is no program notify-me" },
  },
];

const review: Extension = {
  ...{ name: "review", version: "1.0.0", description: "Reviews changes, and leaves pushing to people." },
  ...{ source: "git", location: "https://git.example/tools.git", ref: "v2", folder: "plugins/review" },
  ...{ commit: "4be1c6d9a0f1b3c07e52b1a96c2f0de88a7c3a55", hash: "9f2c41d07b6a8e35", state: "enabled" },
  contents: {
    ...{ files: 6, bytes: 4_812 },
    skills: [{ name: "review:checklist", description: "What to look at in a change" }],
    commands: [{ name: "/review:changes", description: "Reviews the uncommitted changes" }],
    agents: [{ name: "review:critic", description: "Looks for faults, not for style" }],
    hooks: [
      {
        ...{ event: "before_tool", matcher: "Bash", timeoutSeconds: 10 },
        command: `bash "\u0024{CLAUDE_PLUGIN_ROOT}"/hooks/no-push.sh`,
      },
    ],
    servers: [],
  },
};

const dice: Extension = {
  ...{ name: "dice", source: "project", location: "dice", hash: "77aa03b1c5d2e9f4", state: "needs_consent" },
  reason: "it is not allowed yet",
  contents: {
    ...{ files: 3, bytes: 1_204, skills: [], commands: [], agents: [], hooks: [] },
    servers: [
      {
        ...{ name: "dice:table", transport: "stdio", shown: "", command: "bash", args: ["server.sh", unbroken] },
        env: [
          { name: "DICE_SIDES", value: "6" },
          { name: "TOKEN", value: "", secret: true },
        ],
      },
    ],
    problems: ["hooks/extra.toml: the path leads out of the extension"],
  },
};

const fetched: Requests["fetch_extension"]["response"] = {
  extension: { ...review, version: "1.1.0", hash: "c0ffee11", state: "needs_consent" },
  replaces: review.hash,
  changes: [
    { change: "changed", what: "file", name: "hooks/no-push.sh" },
    { change: "added", what: "hook", name: "turn_end: curl https://git.example/metrics" },
  ],
};

const budgets: Budget[] = [
  { ...{ scope: "session", id: "s1", cost: 2, tokens: 0, usedCost: 2.07, usedTokens: 412_000 }, exceeded: true },
  {
    ...{ scope: "project", id: "p1", cost: 0, tokens: 10_000_000, usedCost: 11.4, usedTokens: 8_412_000 },
    ...{ unpricedTokens: 120_000, source: "config.toml" },
  },
  { scope: "day", cost: 0, tokens: 0, usedCost: 14.02, usedTokens: 9_120_331 },
];

/** Answers for what runs by itself. */
export function automated(host: FakeHost): void {
  host.handlers.list_schedules = ({ projectId }) => ({
    schedules: schedules.filter((each) => projectId === undefined || each.projectId === projectId),
  });
  host.handlers.preview_schedule = ({ cron }) =>
    cron.split(" ").length === 5
      ? { times: [1, 2, 3, 4, 5].map((day) => Date.UTC(2027, 0, 3 + day, 7)) }
      : Promise.reject(new Error(`the cron expression "${cron}" has ${cron.split(" ").length} fields: it needs five`));
  host.handlers.save_schedule = ({ spec }) => ({ schedule: schedule("sch_9", spec) });
  host.handlers.list_hooks = () => ({ hooks, problems: [".scorel/hooks.toml:9: unknown event before_tea"] });
  host.handlers.test_hook = () => ({
    run: { at: now, durationMs: 38, outcome: "denied", text: "Push by hand." },
    input: '{"hook_event_name":"after_tool","tool_name":"patch"}',
  });
  host.handlers.list_extensions = () => ({ extensions: [dice, review] });
  host.handlers.fetch_extension = () => fetched;
  host.handlers.get_budgets = ({ sessionId, projectId }) => ({
    budgets: budgets.filter(({ scope }) => sessionId || scope === "day" || (scope === "project" && projectId)),
  });
}

const error = "The budget of this session is used up: $2.07 of $2.00.";

/** A session whose turn stopped at a budget. */
export const overBudget = chat((session, scorel) => {
  automated(scorel.host(dev));
  const { entries } = session.state.get();
  session.patch({
    entries: [...entries, custom("scorel.turn", { turnId: "t1", stopReason: "error", error })],
    lastError: error,
  });
});
