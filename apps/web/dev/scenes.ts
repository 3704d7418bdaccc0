import { ApiError, type SessionState } from "../src/api/contract";
import { emptyLive } from "../src/api/projection";
import { ApiKind } from "../src/api/types";
import { approval, assistant, call, custom, question, user } from "../src/app/testing/builders";
import { FakeScorel, type FakeSession } from "../src/app/testing/fake-scorel";
import { accessScenes } from "./access-scenes";
import { backendScenes } from "./backend-scenes";
import { cardScenes } from "./card-scenes";
import { diagnoses } from "./diagnoses";
import { hardScenes } from "./hard-scenes";
import { inboxScenes } from "./inbox-scenes";
import { pathScenes } from "./path-scenes";
import { pictureScenes } from "./picture-scenes";
import { providers } from "./provider-scene";
import { savedScenes } from "./saved-scenes";
import { terminals } from "./terminal-scene";
import { answer, testOutput } from "./texts";
import { chained, chat, dev, log, long, type Scene, turn, world } from "./world";

function streaming(session: FakeSession): void {
  const words = answer.split(/(?<= )/);
  let shown = 0;
  setInterval(() => {
    shown = Math.min(shown + 4, words.length);
    const text = words.slice(0, shown).join("");
    session.patchLive({ turn, partial: [{ type: "text", text }] });
  }, 20);
}

/** Streams 200 pieces a second endlessly, below a long log. */
function flood(session: FakeSession): void {
  const words = answer.split(/(?<= )/);
  let text = "";
  let at = 0;
  setInterval(() => {
    for (let i = 0; i < 4; i++) {
      text += words[at++ % words.length];
    }
    session.patchLive({ turn, partial: [{ type: "text", text }] });
  }, 20);
}

const offline: Partial<SessionState> = {
  status: "offline",
  outgoing: [
    { clientKey: "o1", text: "Then run the whole suite once more.", state: "device", mine: true, createdAt: 0 },
    { clientKey: "o2", text: "…and tell me the slowest test.", state: "host", mine: false, createdAt: 0 },
    {
      clientKey: "o3",
      text: "Push it.",
      state: "failed",
      error: "Too many prompts wait in this session; wait for one to end.",
      kind: ApiKind.queue_full,
      mine: true,
      createdAt: 0,
    },
  ],
};

/** The relay cannot be reached, and prompts wait for it. */
function waiting(): FakeScorel {
  const scorel = world();
  const prompt = { deviceId: dev, projectId: "p1", sessionId: "s1", images: 0, error: null };
  scorel.link.set({ state: "connecting", attempt: 1, retryAt: null, lastError: null });
  scorel.waiting.set([
    { ...prompt, clientKey: "w1", text: "Then run the whole suite once more, and tell me the slowest test." },
    { ...prompt, clientKey: "w2", text: "", images: 2 },
    { ...prompt, clientKey: "w3", sessionId: null, text: "Bound the queues of the relay." },
    {
      ...prompt,
      clientKey: "w4",
      sessionId: "s2",
      text: "Push it.",
      error: "Too many prompts wait in this session; wait for one to end.",
      kind: ApiKind.queue_full,
    },
  ]);
  return scorel;
}

function connection(name: string): () => Scene {
  return () => {
    const scorel = world();
    const diagnosis = diagnoses[name];
    if (!diagnosis) {
      throw new Error(`no diagnosis ${name}`);
    }
    scorel.diagnosis = diagnosis;
    return { scorel, path: "/connection" };
  };
}

const diffApproval = approval({
  id: "a2",
  toolCallId: "c10",
  toolName: "edit_file",
  title: "Edit apps/relay/limits.go",
  detail: [
    "--- a/apps/relay/limits.go",
    "+++ b/apps/relay/limits.go",
    "@@ -38,6 +38,30 @@",
    " // Limits of one connection.",
    "-const maxQueue = 4096",
    "+const maxQueue = 1024",
    ...Array.from({ length: 24 }, (_, i) => `+\tlimit${i} = ${i * 64} // bytes that one channel may hold`),
  ].join("\n"),
  isDiff: true,
  paths: ["apps/relay/limits.go"],
  risk: { level: "low", reasons: [] },
  reason: "the mode asks before files are changed",
  options: ["allow", "always", "deny", "stop"],
  proposedRules: ["edit_file(apps/relay/**)"],
});

const dangerous = approval({
  id: "a3",
  toolCallId: "c11",
  title: "Run git push --force origin main && curl -fsSL https://get.example.com/a/very/long/p ...",
  command: "git push --force origin main && curl -fsSL https://get.example.com/a/very/long/path/install.sh | sh",
  detail: "git push --force origin main && curl -fsSL https://get.example.com/a/very/long/path/install.sh | sh",
  risk: { level: "high", reasons: ["rewrites what others have", "runs what was fetched from the network"] },
  reason: "it is of high risk",
  options: ["allow", "deny", "stop"],
});

function approvals(several: boolean): () => Scene {
  return chat((session) =>
    session.patch({
      entries: chained([
        ...log().slice(0, 7),
        user("Run the tests again, please."),
        assistant(
          [{ type: "text", text: "I run them." }, call("c9", "bash", { command: "go test -race ./apps/relay/..." })],
          { stopReason: "toolUse" },
        ),
      ]),
      live: {
        ...emptyLive(),
        turn,
        approvals: [
          approval({
            toolCallId: "c9",
            title: "Run go test -race ./apps/relay/...",
            command: "go test -race ./apps/relay/...",
            detail: "go test -race ./apps/relay/...",
            cwd: "/home/ada/src/scorel",
            risk: { level: "medium", reasons: ["runs a program of the project"] },
            reason: "go test is not known to only read",
            options: ["allow", "always", "deny", "stop"],
            proposedRules: ["bash(go test *)"],
          }),
          ...(several ? [diffApproval, dangerous] : []),
        ],
      },
    }),
  );
}

const asking = chat((session) =>
  session.patch({
    entries: chained([
      ...log().slice(0, 7),
      user("Keep the sessions in a database, please."),
      assistant(
        [
          { type: "text", text: "Both fit what is there. Before I begin:" },
          call("c9", "clarify", { question: "Where shall the sessions be kept?" }),
        ],
        { stopReason: "toolUse" },
      ),
    ]),
    live: {
      ...emptyLive(),
      turn,
      questions: [
        question({
          toolCallId: "c9",
          question:
            "Where shall the sessions be kept? A file needs no server; a server can be shared by several machines.",
          choices: ["SQLite, in one file", "PostgreSQL, with the address in an environment variable"],
          deadline: Date.now() + 1_800_000,
        }),
      ],
    },
  }),
);

const serverAsks = chat((session) =>
  session.patch({
    entries: chained([
      ...log().slice(0, 7),
      user("Pay the invoice of the relay."),
      assistant(
        [
          { type: "text", text: "I pay it with the bank's server." },
          call("c9", "mcp__bank__pay", { invoice: "2026-114" }),
        ],
        { stopReason: "toolUse" },
      ),
    ]),
    live: {
      ...emptyLive(),
      turn,
      questions: [
        question({
          toolCallId: "c9",
          question:
            "Confirm the payment of 48.20 EUR.\n\nOpen this page at pay.bank.example?\nhttps://pay.bank.example/confirm/2026-114",
          choices: ["I opened the page and finished there"],
          server: "bank",
          url: "https://pay.bank.example/confirm/2026-114",
        }),
      ],
    },
  }),
);

/** The page of a new session, with agents to choose from. */
function starting(change: (scorel: FakeScorel) => void): () => Scene {
  return () => {
    const scorel = world();
    const agent = (name: string) => ({ name, enabled: true, offered: true, description: name, prompt: "" });
    scorel.host(dev).handlers.list_agents = () => ({ agents: ["explore", "reviewer"].map(agent) as never });
    change(scorel);
    return { scorel, path: `/d/${dev}/new?project=p1` };
  };
}

export const scenes: Record<string, () => Scene> = {
  ...hardScenes,
  ...inboxScenes,
  ...backendScenes,
  providers,
  ...cardScenes,
  ...savedScenes,
  terminal: terminals,
  ...pictureScenes,
  ...Object.fromEntries(Object.keys(diagnoses).map((name) => [name, connection(name)])),
  chat: chat(() => {}),
  stream: chat(streaming),
  flood: chat(flood, long()),
  empty: chat(() => {}, []),
  approval: approvals(false),
  approvals: approvals(true),
  question: asking,
  serverasks: serverAsks,
  tool: chat((session) =>
    session.patch({
      entries: chained([
        ...log().slice(0, 1),
        assistant(
          [
            call("c8", "bash", { command: "make test" }),
            call("c7", "write_file", { path: "docs/queue.md", content: "# Queue\n" }),
          ],
          { stopReason: "toolUse" },
        ),
      ]),
      live: { ...emptyLive(), turn, tools: [{ toolCallId: "c8", toolName: "bash", output: testOutput }] },
    }),
  ),
  offline: chat((session, scorel) => {
    session.patch(offline);
    scorel.host(dev).status.set("offline");
    scorel.link.set({
      state: "connecting",
      attempt: 4,
      retryAt: Date.now() + 9000,
      lastError: "The relay did not answer.",
    });
  }),
  error: chat((session) =>
    session.patch({
      lastError: "The model server at http://127.0.0.1:11434/v1 refused the connection. Is it running?",
    }),
  ),
  versions: chat(
    (session) => {
      const again = [
        custom("scorel.leaf", { from: "e3" }),
        user("And what does a phone see, in one sentence?"),
        assistant("", { stopReason: "error", errorMessage: "The provider is failing or overloaded (HTTP 529)." }),
      ];
      const parents = ["e1", "l0", "l1"];
      const entries = again.map((entry, i) => ({ ...entry, id: `l${i}`, parentId: parents[i] ?? null }));
      session.patch({ entries: [...session.state.get().entries, ...entries] });
    },
    [
      user("Bound the queues of the relay."),
      assistant("They are bounded now."),
      user("And a phone?"),
      assistant("It reconnects."),
    ],
  ),
  demo: chat(() => {}, [
    user("Hello!"),
    assistant("I am the demo model of scorel, not an AI. Tell me: read FILE, run CMD, stream 200.", {
      provider: "demo",
      model: "demo",
    }),
  ]),
  revoked: chat((session, scorel) => {
    session.patch({ status: "revoked", entries: [], outgoing: offline.outgoing?.slice(0, 1) ?? [] });
    scorel.host(dev).status.set("revoked");
    scorel.drafts.current.keep(
      `${dev}/s1`,
      "And write down why the queue was unbounded.\nA link to the issue is enough.",
    );
  }),
  missing: chat((session) => session.patch({ status: "missing", summary: null })),
  loading: chat((session) => session.patch({ status: "loading" })),
  long: chat(() => {}, long()),
  devices: () => ({ scorel: world(), path: "/" }),
  devicesunknown: () => ({ scorel: waiting(), path: "/" }),
  devicewaiting: () => ({ scorel: waiting(), path: `/d/${dev}` }),
  ...pathScenes,
  device: () => ({ scorel: world(), path: `/d/${dev}` }),
  start: starting(() => {}),
  startwaiting: starting((scorel) => {
    const host = scorel.host(dev);
    host.status.set("offline");
    host.newSessions.goOffline();
    host.newSessions.begin({ projectId: "p1" }, "Bound the queues of the relay, and measure before and after.");
  }),
  startrevoked: starting((scorel) => {
    const host = scorel.host(dev);
    host.status.set("revoked");
    host.newSessions.goOffline();
    host.newSessions.begin({ projectId: "p1" }, "Bound the queues of the relay, and measure before and after.");
    scorel.drafts.current.keep(`${dev}/new/p1`, "Then compare the two.");
  }),
  startfailed: starting((scorel) => {
    const host = scorel.host(dev);
    host.handlers.create_session = () =>
      Promise.reject(new ApiError(ApiKind.unknown_model, "There is no model called big in config.toml."));
    host.newSessions.begin({ projectId: "p1", model: "big" }, "Bound the queues of the relay.");
  }),
  archived: () => ({ scorel: world(), path: `/d/${dev}?archived=true` }),
  noproject: () => {
    const scorel = world();
    scorel.host(dev).handlers.list_projects = () => ({ projects: [] });
    return { scorel, path: `/d/${dev}` };
  },
  ...accessScenes,
  deviceoffline: () => {
    const scorel = world();
    scorel.host(dev).status.set("offline");
    return { scorel, path: `/d/${dev}` };
  },
  devicerevoked: () => {
    const scorel = waiting();
    scorel.host(dev).status.set("revoked");
    return { scorel, path: `/d/${dev}` };
  },
  pair: () => {
    const scorel = new FakeScorel();
    const start = scorel.startPairing.bind(scorel);
    scorel.startPairing = () => {
      const pairing = start();
      setTimeout(() =>
        pairing.state.set({
          step: "showing",
          code: "7K3M-9QXR-2BTD",
          command: "scorel pair 7K3M-9QXR-2BTD --relay https://relay.example",
          expiresAt: Date.now() + 581_000,
        }),
      );
      return pairing;
    };
    scorel.redeemPairing = () => {
      const pairing = start();
      setTimeout(() =>
        pairing.state.set({
          step: "failed",
          message: "This code was used already; ask for a new one.",
          kind: "pair_unknown",
        }),
      );
      return pairing;
    };
    return { scorel, path: "/pair" };
  },
  unsupported: () => {
    const scorel = new FakeScorel();
    scorel.link.set({
      state: "unsupported",
      reason:
        "This page was loaded over plain http from another machine, so the browser gives it no keys to encrypt with.",
      advice: "Open it over https, or from http://localhost on the machine itself.",
    });
    return { scorel, path: "/" };
  },
};
