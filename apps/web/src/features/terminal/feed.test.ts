// @vitest-environment node
import { describe, expect, it, vi } from "vitest";
import { ApiError, OfflineError } from "../../api/contract";
import { ApiKind, type Terminal } from "../../api/types";
import { FakeHost } from "../../app/testing/fake-scorel";
import { Feed } from "./feed";

const terminal = (fields: Partial<Terminal> = {}): Terminal => ({
  id: "t1",
  cwd: "/home/ada",
  cols: 80,
  rows: 24,
  createdAt: 0,
  from: 0,
  end: 0,
  ...fields,
});

const encoded = (text: string) => btoa(text);
const bytes = (text: string) => new TextEncoder().encode(text);

/** A screen that draws on request, or at once. */
class FakeScreen {
  text = "";
  lost = 0;
  gaps = 0;
  slow = false;
  readonly waiting: (() => void)[] = [];

  write(data: Uint8Array, drawn: () => void): void {
    this.text += new TextDecoder().decode(data);
    if (this.slow) {
      this.waiting.push(drawn);
    } else {
      drawn();
    }
  }

  missed(count: number | null): void {
    this.lost += count ?? 0;
    this.gaps++;
  }
}

function world() {
  const host = new FakeHost("dev");
  const screen = new FakeScreen();
  const shell = { end: 0, missed: 0 };
  host.handlers.attach_terminal = ({ offset = 0 }) => ({
    terminal: terminal({ end: shell.end }),
    offset: offset + shell.missed,
    ...(shell.missed ? { missed: shell.missed } : {}),
  });
  host.handlers.ack_terminal = () => ({});
  host.handlers.write_terminal = () => ({});
  host.handlers.detach_terminal = () => ({});
  const feed = new Feed(host, "t1", screen);
  const output = (offset: number, text: string) =>
    host.emit({ type: "terminal_output", terminalId: "t1", offset, data: encoded(text) });
  const asked = (name: string) => host.requests.filter((each) => each.name === name).map((each) => each.fields);
  const until = (name: string) => vi.waitFor(() => expect(feed.state.get().name).toBe(name));
  return { host, screen, shell, feed, output, asked, until };
}

describe("the output of a terminal", () => {
  it("continues after a lost connection, without loss or repetition", async () => {
    const { host, screen, shell, feed, output, asked, until } = world();
    feed.start();
    await until("open");
    output(0, "one ");
    host.emit({ type: "terminal_output", terminalId: "another", offset: 4, data: encoded("not mine") });
    host.status.set("connecting");
    expect(feed.state.get().name).toBe("lost");
    shell.end = 12;
    host.status.set("open");
    await vi.waitFor(() => expect(asked("attach_terminal").at(-1)).toEqual({ terminalId: "t1", offset: 4 }));
    output(4, "two ");
    output(0, "one two "); // another page of this browser requested it again
    output(4, "two three");
    await until("open");
    expect(screen.text).toBe("one two three".slice(0, 13));
    expect(screen.lost).toBe(0);
  });

  it("reports how much is missing", async () => {
    const { host, screen, shell, feed, output, until } = world();
    feed.start();
    await until("open");
    output(0, "abc");
    output(10, "\ndef");
    expect(screen.lost).toBe(7);
    host.status.set("offline");
    shell.missed = 5;
    host.status.set("open");
    await vi.waitFor(() => expect(screen.lost).toBe(12));
    output(19, "\nghi");
    expect(screen.text).toBe("abcdefghi");
    expect(screen.lost).toBe(12);
  });

  it("begins with a whole line or sequence after a gap", async () => {
    const { feed, screen, output, until } = world();
    feed.start();
    await until("open");
    output(0, "$ ");
    let at = 100;
    for (const part of ["8;2;200;80;40mhalf of a sequence", " and of a line\nwhole ", "line"]) {
      output(at, part);
      at += part.length;
    }
    expect(screen.text).toBe("$ whole line");
    output(300, "[1;5H\x1b[2Jdrawn");
    expect(screen.text).toBe("$ whole line\x1b[2Jdrawn");
    output(400, "x".repeat(70_000));
    output(70_400, "long line");
    expect(screen.text.slice(-12)).toBe("xxxlong line");
  });

  it("is redrawn by the program after a gap, also when the page is reloaded", async () => {
    const { host, feed, screen, shell, output, asked, until } = world();
    host.handlers.resize_terminal = () => ({ terminal: terminal() });
    shell.missed = 100;
    shell.end = 106;
    feed.start();
    feed.state.subscribe(() => feed.state.get().name === "open" && feed.resize(80, 24));
    await vi.waitFor(() => expect(asked("attach_terminal")).toHaveLength(1));
    output(100, ";1m\x1b[H");
    await until("open");
    expect(screen.text).toBe("\x1b[H");
    expect(screen.gaps).toBe(1);
    expect(screen.lost).toBe(0); // nothing was visible before
    const sizes = (...rows: number[]) => rows.map((each) => ({ terminalId: "t1", cols: 80, rows: each }));
    await vi.waitFor(() => expect(asked("resize_terminal")).toEqual(sizes(24, 23, 24)));
    output(106, "on");
    output(120, "\x1b[2J");
    await vi.waitFor(() => expect(asked("resize_terminal")).toEqual(sizes(24, 23, 24, 23, 24)));
  });

  it("is acknowledged once it is drawn, and not before", async () => {
    const { screen, feed, output, asked, until } = world();
    feed.start();
    await until("open");
    screen.slow = true;
    const block = "x".repeat(40_000);
    output(0, block);
    expect(asked("ack_terminal")).toEqual([]);
    screen.waiting.shift()?.();
    expect(asked("ack_terminal")).toEqual([{ terminalId: "t1", offset: 40_000 }]);
  });
});

describe("beside another page of this browser", () => {
  it("acknowledges output that the host repeats for another page, which may be closed", async () => {
    const { feed, output, asked, until } = world();
    feed.start();
    await until("open");
    const block = "x".repeat(40_000);
    for (let i = 0; i < 3; i++) {
      output(i * 40_000, block);
    }
    output(0, block);
    output(40_000, block);
    const offsets = asked("ack_terminal").map((each) => (each as { offset: number }).offset);
    expect(offsets).toEqual([40_000, 80_000, 120_000, 40_000, 80_000]);
    output(80_000, block + block);
    expect(asked("ack_terminal").at(-1)).toEqual({ terminalId: "t1", offset: 160_000 });
  });

  it("reports even without a connection that it no longer follows the terminal", async () => {
    const { host, feed, asked, until } = world();
    feed.start();
    await until("open");
    host.status.set("offline");
    feed.stop();
    expect(asked("detach_terminal")).toEqual([{ terminalId: "t1" }]);
  });
});

describe("input", () => {
  it("is not what the terminal answers to output of the past", async () => {
    const { screen, shell, feed, output, asked, until } = world();
    shell.end = 5;
    screen.slow = true;
    feed.start();
    await vi.waitFor(() => expect(asked("attach_terminal")).toHaveLength(1));
    output(0, "\x1b[6n>");
    expect(feed.type(bytes("\x1b[1;1R"))).toBe(false);
    screen.waiting.shift()?.();
    await until("open");
    expect(feed.type(bytes("ls\r"))).toBe(true);
    await vi.waitFor(() => expect(asked("write_terminal")).toEqual([{ terminalId: "t1", data: encoded("ls\r") }]));
  });

  it("keeps its order, in few requests", async () => {
    const { host, feed, asked, until } = world();
    feed.start();
    await until("open");
    let answer = () => {};
    host.handlers.write_terminal = () =>
      new Promise((resolve) => {
        answer = () => resolve({});
      });
    for (const key of "make") {
      feed.type(bytes(key));
    }
    await vi.waitFor(() => expect(asked("write_terminal")).toHaveLength(1));
    answer();
    await vi.waitFor(() => expect(asked("write_terminal")).toHaveLength(2));
    expect(asked("write_terminal").map((each) => atob((each as { data: string }).data))).toEqual(["m", "ake"]);
  });

  it("is dropped while the shell cannot be reached, and never sent again", async () => {
    const { host, feed, asked, until } = world();
    feed.start();
    await until("open");
    host.handlers.write_terminal = () => {
      throw new OfflineError("lost");
    };
    feed.type(bytes("rm"));
    await vi.waitFor(() => expect(asked("write_terminal")).toHaveLength(1));
    host.status.set("offline");
    expect(feed.type(bytes(" -rf"))).toBe(false);
    host.status.set("open");
    await until("open");
    expect(asked("write_terminal")).toHaveLength(1);
  });
});

describe("the end", () => {
  it("is shown as the host reports it", async () => {
    const { host, feed, until } = world();
    feed.start();
    await until("open");
    host.emit({ type: "terminal_changed", terminal: terminal({ ended: { reason: "exited", exitCode: 3 } }) });
    expect(feed.state.get()).toMatchObject({ name: "ended", terminal: { ended: { exitCode: 3 } } });
    expect(feed.type(bytes("x"))).toBe(false);
  });

  it("is known after the host was restarted", async () => {
    const { host, feed, until } = world();
    host.handlers.attach_terminal = () => {
      throw new ApiError(ApiKind.not_found, "this client has no terminal");
    };
    feed.start();
    await until("gone");
  });
});
