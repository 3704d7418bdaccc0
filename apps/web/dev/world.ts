// Shared by the scenes: a browser with some machines, and a session to change.
import { emptyLive } from "../src/api/projection";
import type { Shell } from "../src/api/shell";
import type { Project, SessionEntry, SessionSummary } from "../src/api/types";
import { assistant, call, custom, hostInfo, project, result, summary, user } from "../src/app/testing/builders";
import { FakeScorel, FakeSession } from "../src/app/testing/fake-scorel";
import { runtimeContext } from "../src/app/testing/runtime-context";
import { channels } from "./channel-scene";
import { notifications } from "./push-scene";
import { answer, goFile, testOutput } from "./texts";

export interface Scene {
  scorel: FakeScorel;
  path: string;
  /** Caches the page's files. */
  shell?: Shell;
}

export const dev = "dev_k7w2mxqj4rr6h3vthz5a2n8e";
const minute = 60_000;

/** A machine without a sandbox for commands. */
const unconfined = { sandbox: "none", sandboxNote: "bubblewrap is not installed, and this kernel has no Landlock" };

export function world(): FakeScorel {
  const scorel = new FakeScorel();
  scorel.devices.set([
    { id: dev, label: "workshop", online: true },
    { id: "dev_p4xq9cc1wwtm8d2tdb0k3yfu", label: "mac mini in the cellar", online: true },
    { id: "dev_a8s0v5nmq3zzjd7ek1hxr6tc", label: "old-laptop", online: false },
  ]);
  const others = ["dev_p4xq9cc1wwtm8d2tdb0k3yfu", "dev_a8s0v5nmq3zzjd7ek1hxr6tc"].map((id) => scorel.host(id));
  for (const other of others) {
    other.handlers.list_sessions = () => ({ sessions: [] });
    other.handlers.list_projects = () => ({ projects: [] });
  }
  others[1]?.status.set("offline");
  const host = scorel.host(dev);
  const projects: Project[] = [
    project("p1", "/home/ada/src/scorel"),
    project("p2", "/home/ada/src/garden-planner"),
    project("p3", "/mnt/usb/photos", { missing: true }),
    project("p4", "/home/ada/src/shop", { unavailable: "the database sessions on db.lan:5432 cannot be reached" }),
  ];
  const now = Date.now();
  const sessions: SessionSummary[] = [
    summary("s1", "p1", "Bound the relay's send queues", {
      mode: "ask",
      running: true,
      waitingApproval: true,
      updatedAt: now,
    }),
    summary("s2", "p1", "Why does the resync test flake on slow machines?", {
      running: true,
      updatedAt: now - 3 * minute,
    }),
    summary("s3", "p1", "Rename Frame to Record everywhere", {
      pinned: true,
      meta: { ticket: "RELAY-41", reviewer: "grace" },
      updatedAt: now - 95 * minute,
    }),
    summary("s4", "p1", "", { updatedAt: now - 26 * 60 * minute }),
    summary("s5", "p2", "Seed calendar export", { updatedAt: now - 4 * 24 * 60 * minute }),
    summary("s6", "p1", "Try the new queue with two relays", {
      archived: true,
      updatedAt: now - 40 * 24 * 60 * minute,
    }),
  ];
  host.handlers.get_host = () => ({ host: hostInfo({ deviceId: dev, maxMode: "bypass", ...unconfined }) });
  host.handlers.list_projects = () => ({ projects });
  channels(host);
  host.handlers.list_push = ({ clientId }) => notifications(now, clientId);
  host.handlers.list_sessions = () => ({ sessions });
  host.handlers.list_clients = () => ({
    clients: [
      { id: "cli_phone", label: "Safari on iPhone", grants: ["view"], pairedAt: now, online: true },
      {
        id: "cli_me",
        label: "Chrome on Linux",
        grants: ["view", "prompt", "approve", "manage", "shell"],
        pairedAt: now - 95 * minute,
        online: true,
      },
      {
        id: "cli_7k2mq4zv5w3x6y2a",
        label: "scorel on builder-in-the-basement.home.example",
        grants: ["view", "prompt", "approve", "manage"],
        pairedAt: now - 40 * 24 * 60 * minute,
        online: false,
        lastSeen: now - 3 * 60 * minute,
      },
    ],
  });
  host.handlers.list_providers = () => ({
    providers: [
      {
        name: "anthropic",
        type: "anthropic",
        address: "api.anthropic.com",
        models: ["opus", "sonnet"],
        keyName: "ANTHROPIC_API_KEY",
        keySource: "system",
      },
      {
        name: "google",
        type: "google",
        address: "generativelanguage.googleapis.com",
        models: [],
        keyName: "GEMINI_API_KEY",
      },
      { name: "local", type: "openai", address: "127.0.0.1:11434", models: ["qwen"] },
      {
        name: "openai",
        type: "openai-responses",
        address: "api.openai.com",
        models: ["main"],
        keyName: "OPENAI_API_KEY",
        keySource: "environment",
      },
    ],
  });
  host.handlers.list_dir = ({ path }) => ({
    path: path || "/home/ada/src",
    parent: "/home/ada",
    entries: ["garden-planner", "notes", "scorel", "tiny-relay", ".cache", ".config"].map((name) => ({
      name,
      path: `/home/ada/src/${name}`,
      hidden: name.startsWith("."),
      git: ["garden-planner", "scorel", "tiny-relay"].includes(name),
    })),
  });
  host.handlers.find_files = () => ({
    files: [
      { path: "apps/host/client.go", kind: "file" },
      { path: "apps/host/client_test.go", kind: "file" },
      { path: "packages/client", kind: "folder" },
      { path: "packages/client/a folder with a long name that says much/client options.md", kind: "file" },
    ],
    truncated: true,
  });
  host.handlers.list_skills = () => ({
    skills: [
      { name: "commit", description: "Writes a commit message in the style of this repository", scope: "project" },
      { name: "release", description: "Tags a release and writes its notes", scope: "project", manual: true },
      { name: "simplify", description: "Looks for a simpler form of the last change", scope: "user" },
    ],
  });
  host.handlers.list_mcp_offers = () => ({
    resources: [
      {
        server: "rooms",
        uri: "doc://house-rules",
        name: "rules",
        title: "House rules",
        description: "What guests agree to",
      },
      {
        server: "a-server-with-a-long-name",
        uri: "https://rooms.example/a/long/address/of/a/resource/without/any/break/house-plan.md",
        name: "house-plan",
      },
    ],
    prompts: [
      {
        server: "rooms",
        command: "mcp__rooms__tidy",
        name: "tidy",
        description: "Tidies a room and says what was thrown away",
        arguments: [{ name: "room", required: true }, { name: "style" }],
      },
      { server: "rooms", command: "mcp__rooms__plan", name: "plan" },
    ],
  });
  host.handlers.set_model = () => ({});
  host.handlers.get_snapshot = ({ sessionId }) => {
    const session = sessions.find(({ id }) => id === sessionId);
    if (!session) {
      throw new Error("There is no such session.");
    }
    return { session, leafId: "e1", entries: 12, live: emptyLive(), runtimeContext };
  };
  for (const session of sessions) {
    host.sessions.set(session.id, new FakeSession(session.id, { summary: session }));
  }
  return scorel;
}

export function log(): SessionEntry[] {
  return [
    user(
      "The relay must close a slow consumer and no other. Look at how conn.go queues records, then write the bound.",
    ),
    assistant(
      [
        {
          type: "thinking",
          thinking: "The queue is a slice behind a mutex; find where it grows.\nThen look at the tests.",
        },
        { type: "text", text: "I read the connection first, then the tests that hold its promises." },
        call("c1", "read_file", { path: "apps/relay/conn.go", offset: 1, limit: 120 }),
        call("c2", "grep", { pattern: "slow_consumer", path: "apps/relay" }),
        call("c3", "bash", { command: "go test ./apps/relay -run Queue" }),
      ],
      { stopReason: "toolUse" },
    ),
    result("c1", "read_file", goFile),
    result("c2", "grep", 'apps/relay/limits.go:41: SlowConsumer Reason = "slow_consumer"\napps/relay/conn.go:118'),
    custom("scorel.approval", { approvalId: "a0", toolCallId: "c3", decision: "allow", decidedBy: "cli_phone" }),
    result("c3", "bash", testOutput, true, { exitCode: 1 }),
    assistant(answer),
    user("Good. And what does a phone see when its channel is closed so?", { clientId: "cli_phone" }),
    assistant(
      "It reopens the channel and resumes with `stream_resume`; see [the protocol](https://example.org/protocol).\n\n![diagram](https://example.org/d.png)",
    ),
    { type: "from_the_future", id: "x1", parentId: null, timestamp: "" } as unknown as SessionEntry,
  ];
}

export function long(): SessionEntry[] {
  return Array.from({ length: 2000 }, (_, i) =>
    i % 2 ? assistant(`Answer ${i}\n\n- one\n- two`) : user(`Question ${i}`),
  );
}

export function chained(entries: SessionEntry[]): SessionEntry[] {
  return entries.map((entry, i) => ({ ...entry, id: `e${i}`, parentId: i === 0 ? null : `e${i - 1}` }));
}

export function chat(change: (session: FakeSession, scorel: FakeScorel) => void, entries = log()): () => Scene {
  return () => {
    const scorel = world();
    const session = scorel.host(dev).sessions.get("s1");
    if (!session) {
      throw new Error("no session s1");
    }
    session.patch({ entries: chained(entries) });
    change(session, scorel);
    return { scorel, path: `/d/${dev}/s/s1` };
  };
}

export const turn = { turnId: "t1", clientKey: "k", startedAt: 0 };
