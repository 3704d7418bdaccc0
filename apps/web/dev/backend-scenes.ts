// Sessions on agents of other programs.

import { emptyLive } from "../src/api/projection";
import type { Backend } from "../src/api/types";
import { approval, assistant, call, custom, result, user } from "../src/app/testing/builders";
import type { FakeScorel } from "../src/app/testing/fake-scorel";
import { chained, chat, dev, type Scene, turn, world } from "./world";

export const backends: Backend[] = [
  {
    name: "claude",
    title: "Claude Code",
    command: "claude-agent-acp",
    path: "/home/ada/.npm-global/bin/claude-agent-acp",
    login: "claude /login",
    mode: "default",
    builtIn: true,
  },
  {
    name: "codex",
    title: "Codex",
    command: "codex-acp",
    install: "npm install -g @agentclientprotocol/codex-acp",
    login: "codex login",
    mode: "read-only",
    builtIn: true,
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    command: "gemini --acp",
    path: "/usr/local/bin/gemini",
    login: "gemini",
    builtIn: true,
  },
  {
    name: "opencode",
    title: "opencode",
    command: "opencode acp",
    path: "/usr/local/bin/opencode",
    login: "opencode auth login",
    builtIn: true,
    denied: "needs_bypass",
  },
];

const backend = (data: object) => custom("scorel.backend", { backend: "claude", ...data });

const modes = (value: string, decides = false) =>
  backend({
    kind: "options",
    decides,
    options: [
      {
        id: "mode",
        name: "Mode",
        category: "mode",
        value,
        choices: [
          { value: "default", name: "Ask before edits" },
          { value: "bypassPermissions", name: "Bypass permissions" },
        ],
      },
    ],
  });

const entries = () => [
  backend({ kind: "chosen" }),
  user("Bound the queues of the relay in bytes."),
  backend({ kind: "session", agentSession: "0d1c", agent: "claude-agent 0.101.0", rebuilt: 6 }),
  modes("default"),
  assistant(
    [
      { type: "text", text: "I look at the limits first." },
      call("k1", "acp_read", {
        title: "Read apps/relay/limits.go",
        tool: "Read",
        locations: [{ path: "/home/ada/src/scorel/apps/relay/limits.go", line: 12 }],
      }),
      call("k2", "acp_edit", { title: "Edit apps/relay/limits.go", tool: "Edit" }),
    ],
    { stopReason: "toolUse" },
  ),
  result("k1", "acp_read", "const maxQueue = 4096"),
  result("k2", "acp_edit", "", false, {
    acp: {
      toolCallId: "toolu_1",
      content: [
        {
          type: "diff",
          path: "apps/relay/limits.go",
          oldText: "const maxQueue = 4096 // records\n",
          newText: "const maxQueue = 1 << 20 // bytes\n",
        },
      ],
    },
  }),
  backend({
    kind: "notice",
    severity: "warning",
    title: "The context is 80 % full",
    text: "Older messages are shortened soon.",
  }),
  backend({ kind: "compaction", title: "completed", text: "The queue of conn.go is bounded in records." }),
  backend({ kind: "update", title: "hologram", update: { sessionUpdate: "hologram", beam: [1, 2, 3] } }),
  modes("bypassPermissions", true),
  assistant(
    [
      { type: "text", text: "Now the tests." },
      call("k3", "acp_execute", { title: "make test", input: { command: "make test" } }),
    ],
    { stopReason: "toolUse" },
  ),
];

const offered = (scorel: FakeScorel) => {
  const { handlers } = scorel.host(dev);
  handlers.list_backends = () => ({ backends });
  handlers.list_mcp_servers = () => ({ servers: [] });
  handlers.get_backend = () => ({
    backend: "claude",
    decides: true,
    options: [
      {
        id: "model",
        name: "Model",
        category: "model",
        value: "opus",
        choices: [
          { value: "opus", name: "Opus" },
          { value: "haiku", name: "Haiku" },
        ],
      },
      {
        id: "mode",
        name: "Mode",
        category: "mode",
        value: "bypassPermissions",
        choices: [
          { value: "default", name: "Ask before edits" },
          { value: "bypassPermissions", name: "Bypass permissions" },
        ],
      },
    ],
    commands: [
      { name: "review", description: "Review a pull request", hint: "number" },
      { name: "compact", description: "Summarize the conversation" },
    ],
  });
};

const asks = approval({
  toolCallId: "k3",
  toolName: "bash",
  title: "make test",
  command: "make test",
  detail: "make test",
  cwd: "/home/ada/src/scorel",
  risk: { level: "medium", reasons: ["runs a program of the project"] },
  reason: "make test is not known to only read",
  options: ["choice:1", "choice:2", "choice:3", "stop"] as never,
  choices: [
    { decision: "choice:1", name: "Yes", kind: "allow_once" },
    {
      decision: "choice:2",
      name: "Yes, and don't ask again for commands that start with `make` in /home/ada/src/scorel",
      kind: "allow_always",
    },
    { decision: "choice:3", name: "No, and tell Claude what to do differently", kind: "reject_once" },
  ] as never,
});

export const backendScenes: Record<string, () => Scene> = {
  backend: chat((session, scorel) => {
    offered(scorel);
    const { summary } = session.state.get();
    session.patch({
      ...(summary ? { summary: { ...summary, backend: "claude" } } : {}),
      entries: chained(entries()),
      live: { ...emptyLive(), turn, approvals: [asks] },
    });
  }),
  backends: () => {
    const scorel = world();
    offered(scorel);
    scorel.host(dev).handlers.test_backend = () => ({
      problem: "Gemini CLI needs a login. Run this on the machine: scorel backend login gemini",
      durationMs: 7100,
    });
    return { scorel, path: `/d/${dev}` };
  },
  backendcommands: chat((session, scorel) => {
    offered(scorel);
    const { summary } = session.state.get();
    session.patch({
      ...(summary ? { summary: { ...summary, backend: "claude" } } : {}),
      entries: chained(entries().slice(0, 4)),
    });
  }),
  startbackend: () => {
    const scorel = world();
    offered(scorel);
    return { scorel, path: `/d/${dev}/new?project=p1` };
  },
};
