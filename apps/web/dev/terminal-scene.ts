import type { Event, Terminal } from "../src/api/types";
import { dev, type Scene, world } from "./world";

const begun = Date.now() - 600_000;

const terminal = (id: string, end: number): Terminal => ({
  id,
  projectId: "p1",
  cwd: "/home/ada/src/scorel",
  cols: 80,
  rows: 24,
  createdAt: begun,
  from: 0,
  end,
});

const shown = [
  "\x1b]0;relay\x07\x1b[1;32mada@laptop\x1b[0m:\x1b[1;34m~/src/scorel\x1b[0m$ make check",
  "gofmt \x1b[32mok\x1b[0m   vet \x1b[32mok\x1b[0m   staticcheck \x1b[33m1 warning\x1b[0m",
  "\x1b[2mapps/relay/limits.go:41\x1b[0m const \x1b[36mmaxQueue\x1b[0m is unused \x1b[31m(U1000)\x1b[0m",
  "\x1b[7m All checks took 12 s \x1b[0m",
  "\x1b[1;32mada@laptop\x1b[0m:\x1b[1;34m~/src/scorel\x1b[0m$ ",
].join("\r\n");

/** A shell in the project, beside one that was opened before. */
export function terminals(): Scene {
  const scorel = world();
  const host = scorel.host(dev);
  host.handlers.list_terminals = () => ({ terminals: [terminal("t1", shown.length), terminal("t2", 0)] });
  host.handlers.resize_terminal = () => ({ terminal: terminal("t1", shown.length) });
  host.handlers.ack_terminal = () => ({});
  host.handlers.attach_terminal = ({ terminalId }) => {
    const text = terminalId === "t1" ? shown : "";
    if (text) {
      const output = { type: "terminal_output", terminalId, offset: 0, data: btoa(text) };
      queueMicrotask(() => host.emit(output as Event));
    }
    return { terminal: terminal(terminalId, text.length), offset: 0 };
  };
  return { scorel, path: `/d/${dev}/terminal?project=p1` };
}
