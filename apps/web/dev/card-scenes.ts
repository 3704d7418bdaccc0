// Tool cards in all their states.
import { emptyLive } from "../src/api/projection";
import { assistant, call, custom, result, user } from "../src/app/testing/builders";
import { goFile, testOutput } from "./texts";
import { chained, chat, type Scene, turn } from "./world";

const diff = [
  "--- a/apps/relay/limits.go",
  "+++ b/apps/relay/limits.go",
  "@@ -12,9 +12,11 @@ package relay",
  ' import "time"',
  " ",
  " // Limits of one connection.",
  "-const maxQueue = 4096 // records",
  "+const maxQueue = 1 << 20 // bytes of all records that wait",
  " ",
  " /* A consumer that is slower than that is closed,",
  "    and no other. */",
  "-func full(queued int) bool { return queued > maxQueue }",
  "+func full(queued, size int) bool {",
  "+\treturn queued+size > maxQueue",
  "+}",
  " ",
  "@@ -40,3 +42,3 @@ func close(reason string) {",
  " \tlog.Debug(reason)",
  "-\ttime.Sleep(time.Second)",
  "+\tdefer timer.Stop()",
  " \treturn",
  "",
].join("\n");

const several = `${diff}--- /dev/null\n+++ b/docs/queues.md\n@@ -0,0 +1,3 @@\n+# Queues\n+\n+Bounded in bytes.\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n`;

const patched = (id: string, text: string, details: object) =>
  result(id, "patch", text, false, { ok: true, strategy: "exact", count: 1, error: null, ...details });

const todos = (...states: string[]) => {
  const contents = [
    "Find where the queue grows",
    "Bound it in bytes, for each channel and not for the connection",
    "Close a slow consumer with slow_consumer",
    "Write the test that fails without it",
    "Ask whether the limit should be a setting",
  ];
  return { todos: states.map((status, i) => ({ id: `t${i}`, content: contents[i] ?? "", status })) };
};

const log = () => [
  user("Bound the queues of the relay in bytes, and write down what happens then."),
  assistant([call("k0", "todo", {})], { stopReason: "toolUse" }),
  result("k0", "todo", "5 items", false, todos("completed", "in_progress", "pending", "pending", "cancelled")),
  assistant(
    [{ type: "text", text: "I look at the relay first." }, call("k1", "read_file", { path: "apps/relay/conn.go" })],
    { stopReason: "toolUse" },
  ),
  result("k1", "read_file", goFile),
  assistant(
    [
      call("k2", "read_file", { path: "apps/relay/limits.go" }),
      call("k3", "grep", { pattern: "maxQueue", path: "apps" }),
    ],
    { stopReason: "toolUse" },
  ),
  result("k2", "read_file", goFile),
  result("k3", "grep", "apps/relay/limits.go:15: const maxQueue = 4096"),
  assistant([call("k4", "read_file", { path: "apps/relay/conn_test.go" })], { stopReason: "toolUse" }),
  result("k4", "read_file", goFile),
  assistant([call("k5", "patch", { path: "apps/relay/limits.go", old_string: "a", new_string: "b" })], {
    stopReason: "toolUse",
  }),
  patched("k5", "Changed 1 (exact).", { diff }),
  assistant([call("k6", "patch", { patch: "*** Begin Patch" })], { stopReason: "toolUse" }),
  patched("k6", "Changed, but old_string was only similar to the file (indent). Check the diff:\n--- a/x", {
    diff: several,
    approximate: true,
  }),
  assistant([call("k7", "write_file", { path: "docs/queues.md", content: "# Queues\n\nBounded in bytes.\n" })], {
    stopReason: "toolUse",
  }),
  result("k7", "write_file", "Created docs/queues.md: 3 lines, 27 bytes.", false, { created: true }),
  assistant(
    [
      call("k8", "patch", {
        path: "go.mod",
        old_string: "go 1.25\n\nrequire (",
        new_string: "go 1.26\n\nrequire (",
      }),
    ],
    { stopReason: "toolUse" },
  ),
  custom("scorel.approval", {
    ...{ approvalId: "x", toolCallId: "k8", decision: "deny", decidedBy: "cli_phone" },
    feedback: "The version stays.",
  }),
  result("k8", "patch", "Denied by the user: The version stays.", true),
  assistant([call("k9", "bash", { command: "go test ./apps/relay" })], { stopReason: "toolUse" }),
  result("k9", "bash", `\u001B[1m\u001B[31mFAIL\u001B[0m\n${testOutput}`, true, { exitCode: 1 }),
];

const cards = chat((session) =>
  session.patch({
    entries: chained([
      ...log(),
      assistant(
        [call("k10", "patch", { path: "apps/relay/conn.go", old_string: "queue := 1\n", new_string: "queue := 2\n" })],
        { stopReason: "toolUse" },
      ),
    ]),
    live: { ...emptyLive(), turn, tools: [{ toolCallId: "k10", toolName: "patch", output: "" }] },
  }),
);

/** Scenes by name. */
export const cardScenes: Record<string, () => Scene> = { toolcards: cards };
