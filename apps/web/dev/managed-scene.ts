import { ApiError } from "../src/api/contract";
import type {
  AgentInfo,
  FileChange,
  FileEntry,
  HostInfo,
  MCPServer,
  MemoryNote,
  PermissionRule,
  Requests,
} from "../src/api/types";
import { ApiKind } from "../src/api/types";
import { hostInfo, summary } from "../src/app/testing/builders";
import { automated } from "./automation-scene";
import { inRepository } from "./git-scene";
import { unbroken } from "./texts";
import { chat, dev } from "./world";

const agents: AgentInfo[] = [
  {
    name: "explore",
    scope: "builtin",
    description: "Finds out how something works or where it is, and changes nothing. Good for searches in many files.",
    tools: ["glob", "grep", "list_dir", "read_file", "read_skill", "todo"],
    enabled: true,
    offered: true,
    prompt: "You look and report; you cannot change anything.",
  },
  {
    name: "release-notes",
    scope: "user",
    path: "/home/ada/.scorel/agents/release-notes.md",
    version: "1",
    description: "Writes release notes",
    enabled: false,
    offered: false,
    prompt: "You write release notes.",
  },
  {
    name: "reviewer",
    scope: "project",
    path: "/home/ada/code/site/.scorel/agents/reviewer.md",
    version: "2",
    description: "Reads a change and says what is wrong with it.",
    model: "main",
    tools: ["read_file", "grep", "bash(git log *)"],
    maxTurns: 20,
    maxConcurrent: 2,
    enabled: true,
    offered: true,
    prompt: "You review. Look for faults, not for style.",
  },
];
const agentNotes = [
  '/home/ada/code/site/.claude/agents/typo.md:4: the agent is left out: tools: there is no tool "Gerp"',
];
const preview =
  'You are scorel, a coding agent. You work on the user\'s own machine.\n\nThe working folder is /home/ada/code/site.\n\n# Tools\n\n- grep: searches files\n- read_file: reads a file\n\n# Your part\n\nYou are the agent "reviewer".';

const rules: PermissionRule[] = [
  { rule: "bash(go test *)", kind: "allow", scope: "project", source: "permissions.json", projectId: "p1" },
  { rule: "write_file(docs/**)", kind: "ask", scope: "project", source: "permissions.json", projectId: "p1" },
  { rule: `fetch_url(${unbroken})`, kind: "allow", scope: "project", source: "permissions.json", projectId: "p1" },
  { rule: "bash(rm *)", kind: "deny", scope: "user", source: "config.toml" },
  { rule: "bsh(ls)", kind: "deny", scope: "user", source: "config.toml", problem: "there is no tool called bsh" },
] as PermissionRule[];

const servers = [
  {
    name: "lamp",
    source: ".mcp.json",
    state: "needs_consent",
    transport: "stdio",
    hash: "h1",
    shown: "npx",
    command: "npx",
    args: ["-y", "@lighthouse/lamp-mcp", "--address", unbroken],
    env: [
      { name: "LAMP_TOKEN", value: "", secret: true },
      { name: "MODE", value: "dim" },
    ],
    tools: [],
  },
  {
    name: "github",
    source: "servers.json",
    version: "r1",
    state: "idle",
    transport: "stdio",
    shown: "",
    command: "github-mcp",
    args: ["--read-only"],
    env: [
      { name: "GITHUB_TOKEN", value: "", secret: true },
      { name: "LEVEL", value: "", secret: true },
    ],
    sandbox: "bubblewrap+landlock",
    tools: [],
  },
  {
    name: "notes",
    source: "config.toml",
    state: "ready",
    transport: "http",
    shown: "",
    url: "http://127.0.0.1:9/mcp",
    tools: ["note_add", "note_list"],
  },
  {
    name: "weather",
    source: ".mcp.json",
    state: "failed",
    transport: "stdio",
    hash: "h2",
    shown: "",
    command: "weather-mcp",
    reason: "it ended with code 127: weather-mcp: command not found",
    tools: [],
  },
  {
    name: "tracker",
    source: "servers.json",
    version: "r2",
    state: "needs_sign_in",
    transport: "http",
    shown: "",
    url: "https://mcp.tracker.example/mcp",
    reason: "a person must sign in",
    signIn: { state: "needed" },
    tools: [],
  },
  {
    name: "drive",
    source: "servers.json",
    version: "r3",
    state: "ready",
    transport: "http",
    shown: "",
    url: "https://drive.example/mcp",
    signIn: {
      state: "more_scopes",
      issuer: "https://login.drive.example",
      since: Date.UTC(2026, 5, 1),
      scopes: ["files.read"],
      wanted: ["files.write"],
    },
    tools: ["find", "save"],
  },
  {
    name: "calendar",
    source: "config.toml",
    state: "ready",
    transport: "http",
    shown: "",
    url: "https://calendar.example/mcp",
    signIn: {
      state: "signed_in",
      issuer: "https://login.calendar.example",
      since: Date.UTC(2026, 5, 1),
      scopes: ["events"],
    },
    tools: ["events"],
  },
  {
    name: "old",
    source: ".mcp.json",
    state: "denied",
    transport: "stdio",
    hash: "h3",
    shown: "",
    command: "old-mcp",
    tools: [],
  },
] as unknown as MCPServer[];

const spent = {
  usage: { input: 48_213_554, output: 1_902_331, cacheRead: 912_004_112, cacheWrite: 22_104_998, cost: 1432.07 },
  auxiliary: { input: 51_223, output: 4_120, cacheRead: 0, cacheWrite: 0, cost: 0.0031 },
  delegated: { input: 3_204_118, output: 90_220, cacheRead: 0, cacheWrite: 0, cost: 12.4 },
  inherited: { input: 12_000, output: 800, cacheRead: 0, cacheWrite: 0, cost: 0.41 },
  uncounted: 2,
};

const thinker = {
  name: "thinker",
  provider: "away",
  id: "gpt-5-mini",
  thinkingLevels: ["minimal", "low", "high"],
  thinking: "low",
};

const note = (name: string, scope: MemoryNote["scope"], title: string): MemoryNote => ({
  name,
  scope,
  title,
  path: `/home/ada/.scorel/memory/${scope === "user" ? "user" : "projects/site-3f2a"}/${name}.md`,
  version: "1",
  modifiedAt: Date.UTC(2026, 4, 30),
});

const notes = [
  note("build-commands", "project", "How this project is built and tested"),
  note(`long-${"name-".repeat(11)}x`, "project", unbroken),
  note("taste", "user", "How Ada likes changes: small, with a test that can fail"),
];

/** Conversations of another agent. */
const transcripts = [
  {
    id: "t1",
    title: "Make the pairing page work on narrow phones",
    folder: "/home/ada/code/site",
    updatedAt: Date.now() - 3_600_000,
  },
  {
    id: "t2",
    title: "Why does the build take four minutes since the last release, and which of the steps could be cached?",
    folder: "/home/ada/code/site/deploy",
    updatedAt: Date.now() - 86_400_000 * 3,
    sessionId: "codex-1",
  },
  {
    id: "t3",
    title: "Rename the fields of the report",
    folder: "/home/ada/work/reports-of-the-year-2026/generator",
    updatedAt: Date.now() - 86_400_000 * 40,
  },
];

/** A session with high usage, in a project with rules and servers. */
export const managed = chat((session, scorel) => {
  const host = scorel.host(dev);
  const info = hostInfo({
    deviceId: dev,
    grants: ["view", "prompt", "approve", "manage", "files", "shell"],
    maxMode: "auto" as never,
    sandbox: "bubblewrap+landlock",
    sandboxLimits: { network: "open", writable: ["/tmp", "/home/ada/.cache"] },
  }) as HostInfo;
  host.handlers.get_host = () => ({ host: { ...info, models: [...info.models, thinker] } });
  host.handlers.list_rules = () => ({ rules });
  host.handlers.list_agents = () => ({ agents, notes: agentNotes });
  host.handlers.list_transcripts = ({ from, projectId }) => ({
    transcripts: transcripts.map((each) => ({ ...each, from })).slice(0, projectId ? 2 : 3),
    total: projectId ? 2 : 57,
    damaged: projectId ? 0 : 1,
  });
  host.handlers.list_skills = () => ({
    skills: [
      {
        name: "release",
        description: "Tags a release and writes its notes",
        scope: "project",
        manual: true,
        path: "/home/ada/code/site/.scorel/skills/release/SKILL.md",
      },
      {
        name: "simplify",
        description: "Looks for a simpler form of the last change",
        scope: "user",
        disabled: true,
        path: "/home/ada/.scorel/skills/simplify/SKILL.md",
      },
    ],
    notes: ["/home/ada/code/site/.claude/skills/draft/SKILL.md: the skill is left out: it has no description"],
  });
  host.handlers.get_skill = ({ name }) => ({
    skill: {
      name,
      description: "Tags a release and writes its notes",
      scope: "project",
      path: "/home/ada/code/site/.scorel/skills/release/SKILL.md",
    },
    text: "# Release\n\n1. Run `make test`.\n2. Write the notes from the log since the last tag.\n3. Tag it.",
  });
  host.handlers.list_memory = ({ projectId }) => ({
    notes: notes.filter(({ scope }) => projectId !== undefined || scope === "user"),
  });
  host.handlers.get_memory_note = ({ name }) => {
    const note = notes.find((each) => each.name === name) as MemoryNote;
    return { note: { ...note, version: "2" }, text: `# ${note.title}\n\nRun make test-go before each commit.\n` };
  };
  host.handlers.save_memory_note = () => Promise.reject(new ApiError(ApiKind.conflict, "the note was changed"));
  host.handlers.preview_agent = () => ({ prompt: preview, tools: ["grep", "read_file"], model: "main", maxTurns: 20 });
  host.handlers.save_agent = () => Promise.reject(new Error('reviewer.md:4: tools: there is no tool "gerp"'));
  host.handlers.list_mcp_servers = () =>
    ({ servers, problems: [".mcp.json, line 4: the server two has neither command nor url"] }) as never;
  host.handlers.sign_in_mcp_server = () => ({
    signInId: "sgn_1",
    url: "https://login.tracker.example/authorize?client_id=1",
    issuer: "https://login.tracker.example",
    scopes: ["issues.read", "issues.write"],
    redirect: "http://127.0.0.1:41877/callback",
    expiresAt: Date.UTC(2026, 5, 1, 9, 40),
  });
  host.handlers.await_mcp_sign_in = () => new Promise(() => {});
  host.handlers.save_mcp_server = () => Promise.reject(new Error("give command or url, not both"));
  host.handlers.test_mcp_server = ({ name }) =>
    name === "weather"
      ? { tools: [], problem: "it ended with code 127: weather-mcp: command not found" }
      : {
          tools: [
            { name: "search_code", description: "Searches the code of repositories." },
            { name: "get_issue", description: `Reads an issue. ${unbroken}` },
          ],
        };
  host.handlers.add_rule = () =>
    Promise.reject(
      new Error('no tool is called "bsh": write a tool, as bash, or a tool and what it is about, as bash(go test *)'),
    );
  host.handlers.get_tree = () => tree();
  host.handlers.get_changes = ({ path }: { path?: string }) => changes(path);
  host.handlers.list_files = () => ({ entries: folder });
  inRepository(host);
  automated(host);
  const told = summary("s1", "p1", "Bound the relay's send queues", {
    mode: "auto" as never,
    model: "thinker",
    thinking: "high",
    ...spent,
  });
  host.handlers.list_sessions = () => ({ sessions: [told] });
  session.patch({ summary: told });
});

/** A session on a machine with a weak sandbox. */
export const weak = chat((_, scorel) => {
  const host = scorel.host(dev);
  const sandboxLimits = {
    network: "no_tcp",
    writable: ["/tmp", "/home/ada", `/mnt/${unbroken.slice(8, 120)}`],
    missing: ["/data/scratch"],
    exposed: ["/home/ada/.scorel"],
  };
  const sandboxNote = "bubblewrap is there and may not make namespaces: the kernel forbids it to users";
  const info = hostInfo({ deviceId: dev, maxMode: "ask", sandbox: "landlock", sandboxNote, sandboxLimits });
  host.handlers.get_host = () => ({ host: info });
});

const folder: FileEntry[] = [
  { name: "relay", kind: "folder" },
  { name: ".env", kind: "file", size: 120, closed: true },
  { name: "client.go", kind: "file", size: 4096 },
  { name: "latest", kind: "link" },
  { name: unbroken.slice(8, 90), kind: "file", size: 1 },
];

const queueDiff = `--- a/relay/queue.go
+++ b/relay/queue.go
@@ -10,7 +10,9 @@ import "errors"

 // push adds a frame.
 func (q *queue) push(f frame) error {
-	q.frames = append(q.frames, f)
+	if len(q.frames) == cap(q.frames) {
+		return errFull
+	}
 	return nil
 }
`;

function changes(path = ""): Requests["get_changes"]["response"] {
  const files: FileChange[] = [
    { path: ".env", status: "modified", closed: true },
    { path: "docs/queues.md", status: "added", added: 24, byTools: true },
    { path: "logo.png", status: "added", binary: true },
    { path: "relay/old.go", status: "deleted", removed: 112, byTools: true },
    { path: "relay/queue.go", status: "modified", added: 3, removed: 1, byTools: true },
    { path: unbroken.slice(8, 120), from: "short.txt", status: "renamed" },
  ];
  return {
    since: Date.UTC(2026, 5, 1, 9, 30),
    files:
      path === ""
        ? files
        : files.filter((file) => file.path === path).map((file) => ({ ...file, diff: queueDiff, version: "1" })),
    outside: path === "" ? ["/home/ada/.config/relay.toml"] : [],
    skipped: path === "" ? ["data/dump.sql", "vendor/other/"] : [],
  };
}

function tree(): Requests["get_tree"]["response"] {
  const texts = [
    "Bound the queues",
    "I read the connection first",
    "No, begin with the tests",
    "The tests say what is promised",
  ];
  return {
    nodes: texts.map((text, i) => ({
      id: `t${i}`,
      parentId: i === 0 ? "" : i === 2 ? "t0" : `t${i - 1}`,
      type: "message",
      role: i % 2 ? "assistant" : "user",
      text,
      target: true,
      active: i !== 1,
      ...(i === 1 ? { label: "before the rewrite" } : {}),
    })),
  } as never;
}
