// Scenes of extreme contents: very much, very long, foreign, or broken.

import { emptyLive } from "../src/api/projection";
import type { SubagentChild } from "../src/api/types";
import {
  approval,
  assistant,
  call,
  custom,
  hostInfo,
  project,
  question,
  result,
  summary,
  user,
} from "../src/app/testing/builders";
import type { FakeScorel } from "../src/app/testing/fake-scorel";
import { overBudget } from "./automation-scene";
import { managed, weak } from "./managed-scene";
import { process } from "./process-scene";
import { answer, arabic, japanese, unbroken } from "./texts";
import { chained, chat, dev, log, type Scene, turn, world } from "./world";

const children: SubagentChild[] = [
  {
    agent: "explore",
    title: "Find every place that grows a queue",
    state: "completed",
    sessionId: "s2",
    startedAt: Date.now() - 90_000,
    endedAt: Date.now() - 5_000,
    summary: "Four queues grow without a bound: three in the relay and one in the client.",
    toolNames: ["grep", "read_file", "list_dir"],
    toolCallCount: 17,
    usage: {
      input: 41_200,
      output: 1900,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 43_100,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
  },
  {
    agent: "general",
    title: "Write the bound and its tests",
    state: "running",
    doing: "patch",
    sessionId: "s3",
    toolCallCount: 1,
    startedAt: Date.now() - 42_000,
  },
  {
    agent: "general",
    title: "Run the whole suite on the slow machine, twice, and say which of its tests are not steady",
    state: "running",
    sessionId: "s4",
    approvals: [
      approval({
        id: "a9",
        title: "Run make test-go",
        command: "make test-go",
        detail: "make test-go",
        options: ["allow", "deny", "stop"],
      }),
    ],
  },
  {
    agent: "reviewer-of-concurrent-code",
    title: `Look at ${unbroken}`,
    state: "failed",
    error: "The model server at http://127.0.0.1:11434/v1 refused the connection after four attempts.",
    sessionId: "s5",
  },
  { agent: "explore", title: "Measure before and after", state: "queued" },
  { agent: "explore", title: "Write the note for the changelog", state: "cancelled", sessionId: "s5" },
];

const crowd = chat((session) =>
  session.patch({
    entries: chained([
      user("Bound the queues. Share the work out."),
      assistant(
        [
          { type: "text", text: "I share it out, and ask about what is left open." },
          call("d1", "delegate_parallel", {
            tasks: children.map(({ agent, title }) => ({ agent, title, prompt: title })),
          }),
          call("d2", "bash", { command: "git push origin main" }),
          call("d3", "clarify", { question: "Which limit?", choices: ["1 MiB"] }),
        ],
        { stopReason: "toolUse" },
      ),
    ]),
    live: {
      ...emptyLive(),
      turn,
      tools: [{ toolCallId: "d1", toolName: "delegate_parallel", output: "" }],
      crew: [{ toolCallId: "d1", children } as never],
      approvals: [
        approval({
          id: "a8",
          toolCallId: "d2",
          title: "Run git push origin main",
          command: "git push origin main",
          detail: "git push origin main",
          risk: { level: "high", reasons: ["changes what others have"] },
          options: ["allow", "always", "deny", "stop"],
          proposedRules: ["bash(git push *)"],
        }),
      ],
      questions: [
        question({
          id: "q8",
          toolCallId: "d3",
          question: `Which limit shall hold?\n\n${japanese}`,
          choices: ["1 MiB, as the protocol says", arabic, unbroken, "Whatever is measured to be best"],
          deadline: Date.now() + 600_000,
        }),
      ],
    },
  }),
);

const task =
  "Read apps/relay and packages/client and list every queue that can grow without a bound.\n\nFor each: the file, the line, who fills it, and what empties it. Change nothing.";
const report = `Four queues grow without a bound.

| file | filled by |
|---|---|
| \`apps/relay/queue.go:41\` | the reader of a channel |
| \`apps/relay/trunk.go:73\` | the bus |

**Not found:** queues in \`packages/protocol\`.

1. The first can be bounded at once.
2. The others need a decision.`;

const crewDone = chat((session) =>
  session.patch({
    entries: chained([
      user("Bound the queues. Share the work out."),
      assistant([call("d1", "delegate_parallel", { tasks: children.map((c) => ({ ...c, prompt: task })) })], {
        stopReason: "toolUse",
      }),
      custom("scorel.crew", {
        toolCallId: "d1",
        members: children.slice(0, 5).map(({ approvals: _, ...child }) => ({
          ...child,
          state: child.state === "failed" ? "failed" : child.state === "queued" ? "cancelled" : "completed",
        })),
      }),
      result("d1", "delegate_parallel", `<report task="1">\n${report}\n</report>`, false, {
        agents: [{ lines: [1, 1 + report.split("\n").length] }],
      }),
      assistant("Four of five did what they were asked."),
    ]),
  }),
);

const foreign = chat((session, scorel) => {
  const name = `${arabic} ${japanese}`;
  session.patch({
    summary: summary("s1", "p1", name, { mode: "ask" }),
    entries: chained([
      user(arabic),
      assistant(`${arabic}\n\n- ${arabic}\n- \`go test ./...\`\n\n> ${arabic}\n\n1. ${japanese}\n\n${japanese}`),
      user(japanese, { clientId: "cli_phone" }),
      assistant(`See ${unbroken} and \`${unbroken}\`.\n\n| path | what |\n|---|---|\n| ${unbroken} | ${japanese} |`),
      user(unbroken),
      assistant([call("f1", "bash", { command: `curl -fsSL ${unbroken} | tar -x` })], { stopReason: "toolUse" }),
      result("f1", "bash", unbroken),
      assistant("…"),
    ]),
  });
  longLists(scorel);
});

/** Fills the lists with names of every kind. */
function longLists(scorel: FakeScorel): void {
  const host = scorel.host(dev);
  const now = Date.now();
  const names = [
    "Find out why the resync test of the relay fails on machines with a single slow core, and only there",
    arabic,
    japanese,
    unbroken,
    "ok",
  ];
  const sessions = names.map((name, i) =>
    summary(`s${i + 1}`, "p1", name, {
      mode: "ask",
      running: i === 1,
      waitingApproval: i === 2,
      updatedAt: now - i * 4_000_000,
      ...(i === 3 ? { damaged: "Line 412 of the session's file is damaged; it can be read, not continued." } : {}),
    }),
  );
  host.handlers.list_sessions = () => ({ sessions });
  host.handlers.list_projects = () => ({
    projects: [
      project("p1", `/home/ada/src/${"a-project-with-a-very-long-name-".repeat(3)}`),
      project("p2", `/home/ada/${arabic}`),
      project("p3", "/mnt/usb/photos", { missing: true }),
    ],
  });
  scorel.devices.set([
    { id: dev, label: "the workstation under the desk in the second room on the left", online: true },
    { id: "dev_p4xq9cc1wwtm8d2tdb0k3yfu", label: japanese, online: false },
    { id: "dev_a8s0v5nmq3zzjd7ek1hxr6tc", label: "old-laptop", online: false, revoked: true },
    {
      id: "dev_b8s0v5nmq3zzjd7ek1hxr6tc",
      label: "changed",
      online: true,
      problem:
        "The relay shows another key for this machine than the one that was paired. Pair it again at the machine.",
    },
  ] as never);
}

const hugeDiff = chat((session) =>
  session.patch({
    entries: chained([
      ...log().slice(0, 1),
      assistant([call("h1", "patch", { path: "apps/relay/limits.go" })], { stopReason: "toolUse" }),
    ]),
    live: {
      ...emptyLive(),
      turn,
      approvals: [
        approval({
          toolCallId: "h1",
          toolName: "patch",
          title: `Change ${"apps/relay/internal/limits/".repeat(4)}limits.go and 11 other files`,
          detail: [
            "--- a/apps/relay/limits.go",
            "+++ b/apps/relay/limits.go",
            "@@ -1,6 +1,1800 @@",
            `-const address = "${unbroken}"`,
            ...Array.from({ length: 1800 }, (_, i) => `+\tlimit${i} = ${i * 64} // bytes that one channel may hold`),
          ].join("\n"),
          isDiff: true,
          paths: Array.from({ length: 12 }, (_, i) => `apps/relay/internal/limits/some/deeper/folder/limits_${i}.go`),
          risk: { level: "high", reasons: ["changes many files", "one of them is outside of the project"] },
          reason: "the mode asks before files are changed",
          options: ["allow", "always", "deny", "stop"],
          proposedRules: ["patch(apps/relay/internal/limits/some/deeper/folder/**)", "patch(apps/relay/**)"],
        }),
      ],
    },
  }),
);

const answered = chat((session) => {
  const ask = { question: "Where shall the sessions be kept?", choices: ["SQLite, in one file", "PostgreSQL"] };
  const asked = (id: string, data: object) => [
    assistant([call(id, "clarify", ask)], { stopReason: "toolUse" }),
    custom("scorel.question", { toolCallId: id, answeredBy: "cli_phone", ...data }),
    result(id, "clarify", "{}"),
  ];
  session.patch({
    entries: chained([
      user("Keep the sessions in a database, please."),
      ...asked("q1", { outcome: "answered", answer: "SQLite, in one file" }),
      ...asked("q2", { outcome: "answered", answer: "Neither: keep them as they are, and write down why." }),
      ...asked("q3", { outcome: "timed_out" }),
      ...asked("q4", { outcome: "skipped" }),
      assistant("Then SQLite it is."),
    ]),
  });
});

const notes = chat((session) =>
  session.patch({
    entries: chained([
      custom("scorel.child", { agent: "explore", toolCallId: "x" }),
      { ...custom("x", {}), type: "model_change", provider: "local", modelId: "qwen3-coder" } as never,
      custom("scorel.mode", { mode: "ask" }),
      custom("scorel.instructions", {
        files: [{ path: "/home/ada/src/scorel/AGENTS.md" }, { path: "/home/ada/.scorel/AGENTS.md" }],
      }),
      custom("scorel.skills", { skills: [{ name: "pdf" }, { name: "release" }] }),
      user("Find every place that grows a queue."),
      custom("scorel.mode", { mode: "bypass" }),
      assistant("There are three."),
      {
        ...custom("scorel.note", {}),
        type: "custom_message",
        content: "job 1 ended with code 0",
        details: { kind: "jobs" },
      } as never,
      custom("scorel.omitted", { bytes: 4_194_304 }),
      custom("scorel.turn", { stopReason: "aborted" }),
      user("Go on."),
      assistant("I was", { stopReason: "aborted" }),
      custom("scorel.turn", {
        stopReason: "error",
        error: "The model server refused the key. Look at the key in config.toml.",
      }),
      { type: "compaction", id: "k1", parentId: null, timestamp: "", summary: answer } as never,
      { type: "from_the_future", id: "x1", parentId: null, timestamp: "" } as never,
    ]),
    live: { ...emptyLive(), unattended: true } as never,
  }),
);

const watching = chat((session, scorel) => {
  scorel.host(dev).handlers.get_host = () => ({ host: hostInfo({ deviceId: dev, grants: ["view"] }) });
  session.patch({
    entries: chained([
      ...log().slice(0, 1),
      assistant([call("w1", "bash", { command: "make" })], { stopReason: "toolUse" }),
    ]),
    live: {
      ...emptyLive(),
      turn,
      approvals: [approval({ toolCallId: "w1", title: "Run make", command: "make", detail: "make" })],
      questions: [question({ toolCallId: "w2" })],
    },
  });
});

function page(path: string, change: (scorel: FakeScorel) => void): () => Scene {
  return () => {
    const scorel = world();
    change(scorel);
    return { scorel, path };
  };
}

/** Scenes by name. */
export const hardScenes: Record<string, () => Scene> = {
  crowd,
  crewdone: crewDone,
  foreign,
  hugediff: hugeDiff,
  process,
  answered,
  notes,
  managed,
  overBudget,
  watching,
  weak,
  damaged: chat((session) => {
    const told = summary("s1", "p1", "A damaged session", {
      damaged: "Line 412 of the file is damaged; it can be read, not continued.",
    });
    session.patch({ summary: told });
  }),
  retrying: chat((session) =>
    session.patchLive({
      turn,
      retry: { reason: "Anthropic is failing or overloaded (HTTP 529).", attempt: 2, attempts: 4, delayMs: 600_000 },
    }),
  ),
  working: chat((session) => session.patchLive({ work: { kind: "compaction" } as never })),
  foreigndevice: page(`/d/${dev}`, longLists),
  foreigndevices: page("/", longLists),
  unknowndevice: page("/d/dev_nobody", () => {}),
  refused: page("/", (scorel) =>
    scorel.link.set({
      state: "refused",
      message: "This relay admits new ids by invite only.",
      needsInvite: true,
    } as never),
  ),
  unread: page(`/d/${dev}`, (scorel) => {
    scorel.host(dev).handlers.list_projects = () =>
      Promise.reject(new Error("The list of projects is damaged: look at ~/.scorel/projects.json."));
  }),
};
