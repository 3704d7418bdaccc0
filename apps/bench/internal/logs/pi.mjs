// Opens one session with Pi's own session manager and prints what it took, as one
// JSON object. Arguments: the folder of Pi's package, the file, how many messages
// the context must have, how many to append after.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file, messages, appends] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(resolve(folder, "dist/core/session-manager.js")));

const before = process.cpuUsage();
const begin = performance.now();
const session = SessionManager.open(file);
const opened = performance.now();
const context = session.buildSessionContext();
const built = performance.now();
const used = process.cpuUsage(before);
if (context.messages.length !== Number(messages)) {
  throw new Error(`the context has ${context.messages.length} messages, not ${messages}`);
}
const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;

const message = { role: "user", content: "some words ".repeat(30), timestamp: 1 };
const beforeAppends = process.cpuUsage();
const start = performance.now();
for (let i = 0; i < Number(appends); i++) session.appendMessage(message);
const took = performance.now() - start;
const usedAppending = process.cpuUsage(beforeAppends);

console.log(JSON.stringify({
  open_ms: opened - begin, context_ms: built - opened, open_and_context_ms: built - begin,
  open_and_context_cpu_ms: (used.user + used.system) / 1000, peak_rss_mib: peak,
  append_us: (took * 1000) / Number(appends), append_cpu_us: (usedAppending.user + usedAppending.system) / Number(appends),
}));
