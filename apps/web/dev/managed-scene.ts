import type { HostInfo, MCPServer, PermissionRule, Requests } from "../src/api/types";
import { hostInfo, summary } from "../src/app/testing/builders";
import { unbroken } from "./texts";
import { chat, dev } from "./world";

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

/** A session that has spent much, in a project with rules and servers. */
export const managed = chat((session, scorel) => {
  const host = scorel.host(dev);
  const info = hostInfo({
    deviceId: dev,
    maxMode: "auto" as never,
    sandbox: "bubblewrap+landlock",
    sandboxLimits: { network: "open", writable: ["/tmp", "/home/ada/.cache"] },
  }) as HostInfo;
  host.handlers.get_host = () => ({ host: { ...info, models: [...info.models, thinker] } });
  host.handlers.list_rules = () => ({ rules });
  host.handlers.list_mcp_servers = () =>
    ({ servers, problems: [".mcp.json, line 4: the server two has neither command nor url"] }) as never;
  host.handlers.add_rule = () =>
    Promise.reject(
      new Error('no tool is called "bsh": write a tool, as bash, or a tool and what it is about, as bash(go test *)'),
    );
  host.handlers.get_tree = () => tree();
  const told = summary("s1", "p1", "Bound the relay's send queues", {
    mode: "auto" as never,
    model: "thinker",
    thinking: "high",
    ...spent,
  });
  host.handlers.list_sessions = () => ({ sessions: [told] });
  session.patch({ summary: told });
});

/** On a machine whose sandbox leaves much open. */
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
