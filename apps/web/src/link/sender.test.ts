// @vitest-environment node
import { beforeEach, describe, expect, it } from "vitest";
import { freshBrowser } from "../../test-support/bench";
import { DEVICE, empty, fakeLocks, offline, openTab, prompt, start, Tabs } from "../../test-support/sender";
import { ApiError } from "../api/contract";
import { openDb } from "../api/db";
import { NO_SESSION } from "../api/outbox";
import { IdbOutbox } from "./outbox-store";
import { MovingError } from "./sender";

beforeEach(freshBrowser);

describe("the sender", () => {
  it("waits for the device, whose channel it requests, and sends in order", async () => {
    const tab = await openTab();
    for (const text of ["a", "b", "c"]) {
      await tab.outbox.add(prompt(text));
    }
    expect([...tab.wanted]).toEqual([DEVICE]);
    expect(tab.asked).toEqual([]);
    tab.sender.reachable("dev_other", 1);
    tab.sender.reachable(DEVICE, 1);
    await empty(tab);
    expect(tab.asked).toEqual(["send_prompt a", "send_prompt b", "send_prompt c"]);
  });

  it("sends prompts of one session while those of another get no answer", async () => {
    const tab = await openTab({
      answer: (_, { text }) => (text === "stuck" ? new Promise(() => {}) : { state: "queued" }),
    });
    await tab.outbox.add(prompt("stuck"));
    await tab.outbox.add(prompt("behind it"));
    await tab.outbox.add(prompt("other", { sessionId: "ses_2" }));
    tab.sender.reachable(DEVICE, 1);
    await expect.poll(() => tab.outbox.items.map((item) => item.text)).toEqual(["stuck", "behind it"]);
    expect(tab.asked).not.toContain("send_prompt behind it");
  });

  it("sends the next one to a host that answers late, and repeats the first over the next channel", async () => {
    let answers = false;
    const tab = await openTab({
      answer: (_, { text }) => (text === "stuck" && !answers ? new Promise(() => {}) : { state: "taken" }),
      patience: 5,
    });
    await tab.outbox.add(prompt("stuck"));
    await tab.outbox.add(prompt("b"));
    tab.sender.reachable(DEVICE, 1);
    await expect.poll(() => tab.outbox.items.map((item) => item.text)).toEqual(["stuck"]);
    answers = true;
    tab.sender.reachable(DEVICE, 0);
    tab.sender.reachable(DEVICE, 2);
    await empty(tab);
  });

  it("keeps the order and the keys when the channel is lost", async () => {
    const keys: unknown[] = [];
    let broken = true;
    const tab = await openTab({
      answer: (_, { clientKey }) => {
        keys.push(clientKey);
        return broken ? offline() : { state: "taken" };
      },
    });
    await tab.outbox.add(prompt("a"));
    await tab.outbox.add(prompt("b"));
    tab.sender.reachable(DEVICE, 1);
    await expect.poll(() => keys).toEqual(["key-a"]);
    broken = false;
    tab.sender.reachable(DEVICE, 2);
    await empty(tab);
    expect(keys).toEqual(["key-a", "key-a", "key-b"]);
  });

  it("remembers rejected and unsent prompts over a reload, and retries on demand", async () => {
    const first = await openTab({
      answer: (_, { text }) => {
        if (text === "bad") {
          throw new ApiError(9, "too large");
        }
        return offline();
      },
    });
    await first.outbox.add(prompt("bad"));
    await first.outbox.add(prompt("good"));
    first.sender.reachable(DEVICE, 1);
    await expect.poll(() => first.outbox.items.map((item) => item.error)).toEqual(["too large", null]);
    const second = await openTab();
    second.sender.reachable(DEVICE, 1);
    await expect.poll(() => second.outbox.items.map((item) => item.text)).toEqual(["bad"]);
    expect(second.asked).toEqual(["send_prompt good"]);
    await second.outbox.retry("key-bad");
    await empty(second);
  });

  it("waits for the end of a move of the session, and keeps the order", async () => {
    let tries = 0;
    const tab = await openTab({
      answer: () => {
        tries += 1;
        if (tries < 4) {
          throw new MovingError("the session is being moved");
        }
        return { state: "taken" };
      },
      movePause: 5,
    });
    for (const text of ["a", "b"]) {
      await tab.outbox.add(prompt(text));
    }
    tab.sender.reachable(DEVICE, 1);
    await empty(tab);
    const first = tab.asked.indexOf("send_prompt b");
    expect(tab.asked.slice(0, first)).toEqual(Array(4).fill("send_prompt a"));
    expect(tab.news.flatMap(({ changed }) => changed.map((item) => item.error))).not.toContain(
      "the session is being moved",
    );
  });

  it("reads what an older version kept, and leaves alone what another identity wrote", async () => {
    const store = new IdbOutbox(await openDb());
    await store.put(prompt("old"));
    await store.put(prompt("theirs", { clientId: "cli_other" }));
    const tab = await openTab();
    expect([...tab.wanted]).toEqual([DEVICE]);
    tab.sender.reachable(DEVICE, 1);
    await empty(tab);
    expect(tab.asked).toEqual(["send_prompt old"]);
    expect((await store.all()).map((item) => item.text)).toEqual(["theirs"]);
  });

  it("drops the prompts for a lost device, and no others", async () => {
    const tab = await openTab();
    await tab.outbox.add(prompt("a"));
    await tab.outbox.add(prompt("b", { deviceId: "dev_2" }));
    await tab.outbox.wipe(DEVICE);
    expect((await new IdbOutbox(await openDb()).all()).map((item) => item.text)).toEqual(["b"]);
    expect(tab.news.at(-1)?.gone).toEqual([{ clientKey: "key-a", outcome: "discarded" }]);
  });
});

describe("two tabs", () => {
  it("send each prompt once between them, in order", async () => {
    const asked: unknown[] = [];
    const shared = {
      tabs: new Tabs(),
      locks: fakeLocks(),
      answer: (_: string, fields: Record<string, unknown>) => {
        asked.push(fields.text);
        return { state: "taken" };
      },
    };
    const [one, two] = [await openTab(shared), await openTab(shared)];
    for (const text of ["a", "b", "c"]) {
      await one.outbox.add(prompt(text));
    }
    one.sender.reachable(DEVICE, 1);
    two.sender.reachable(DEVICE, 1);
    await empty(one);
    await empty(two);
    expect(asked).toEqual(["a", "b", "c"]);
  });

  it("do not wait for each other forever", async () => {
    const shared = { tabs: new Tabs(), locks: fakeLocks(), patience: 20 };
    const frozen = await openTab({ ...shared, patience: 60_000, answer: () => new Promise(() => {}) });
    const other = await openTab(shared);
    await frozen.outbox.add(prompt("a"));
    frozen.sender.reachable(DEVICE, 1);
    await expect.poll(() => frozen.asked).toEqual(["send_prompt a"]);
    other.sender.reachable(DEVICE, 1);
    await empty(other);
  });

  it("do not send what the other has discarded", async () => {
    const [one, two] = [await openTab(), await openTab()]; // the two do not receive each other's messages
    await one.outbox.add(prompt("never mind"));
    await two.outbox.load();
    await one.outbox.discard("key-never mind");
    two.sender.reachable(DEVICE, 1);
    await empty(two);
    expect(two.asked).toEqual([]);
  });

  it("send for a closed one", async () => {
    const tabs = new Tabs();
    const gone = await openTab({ tabs });
    const stays = await openTab({ tabs, patience: 10 });
    await gone.outbox.add(prompt("a"));
    gone.sender.stop();
    await expect.poll(() => [...stays.wanted]).toEqual([DEVICE]);
    stays.sender.reachable(DEVICE, 1);
    await empty(stays);
  });
});

describe("a session that begins with its prompt", () => {
  /** A host with one session of so many messages. */
  function host(messageCount = 0) {
    const snapshot = { session: { id: "ses_9", messageCount }, live: { queue: [], turn: null } };
    const answers: Record<string, unknown> = {
      create_session: { session: { id: "ses_9" } },
      get_snapshot: snapshot,
      send_prompt: { state: "taken" },
      delete_session: {},
    };
    return (name: string) => answers[name] ?? offline();
  }

  it("is created together with its prompt, and an error leaves nothing on the host", async () => {
    let refuses = true;
    const tab = await openTab({
      answer: (name, { prompt }) => {
        if (refuses) {
          throw new ApiError(2, "unknown command");
        }
        return name === "create_session" && prompt
          ? { session: { id: "ses_9" }, prompt: { state: "taken", entryId: "e1" } }
          : offline();
      },
    });
    await tab.outbox.add(start("hello"));
    tab.sender.reachable(DEVICE, 1);
    await expect.poll(() => tab.outbox.items).toMatchObject([{ text: "hello", error: "unknown command" }]);
    expect(tab.outbox.items[0]).toMatchObject({ sessionId: NO_SESSION, start: { projectId: "prj_1" } });
    expect(tab.outbox.items[0]).not.toHaveProperty("asked");
    refuses = false;
    await tab.outbox.retry("key-hello");
    await empty(tab);
    expect(tab.asked).toEqual(["create_session key-hello", "create_session key-hello"]);
    expect(tab.news.flatMap((each) => each.changed).at(-1)).toMatchObject({ sessionId: "ses_9", projectId: "prj_1" });
    expect(tab.news.at(-1)?.gone).toEqual([{ clientKey: "key-hello", outcome: "taken" }]);
  });

  it("is created by an older host, and gets its prompt", async () => {
    const tab = await openTab({ answer: host() });
    await tab.outbox.add(start("hello"));
    tab.sender.reachable(DEVICE, 1);
    await empty(tab);
    expect(tab.asked).toEqual(["create_session key-hello", "send_prompt hello"]);
    expect(tab.news.flatMap((each) => each.changed).at(-1)).toMatchObject({ sessionId: "ses_9", projectId: "prj_1" });
  });

  it.each([
    [0, ["create_session key-hello", "get_snapshot ses_9", "get_snapshot ses_9", "delete_session ses_9"]],
    [2, ["create_session key-hello", "get_snapshot ses_9", "get_snapshot ses_9"]],
  ])("is deleted when it is discarded while the host creates it, with %d messages in it", async (messages, asked) => {
    const answer = host(messages);
    let create = () => {};
    const tab = await openTab({
      answer: async (name) => {
        if (name === "create_session") {
          await new Promise<void>((resolve) => {
            create = resolve;
          });
        }
        return answer(name);
      },
    });
    await tab.outbox.add(start("hello"));
    tab.sender.reachable(DEVICE, 1);
    await expect.poll(() => tab.asked).toHaveLength(1);
    await tab.outbox.discard("key-hello");
    create();
    await empty(tab);
    expect(tab.asked).toEqual(asked);
  });

  it.each([
    [
      { queue: [{ clientKey: "key-hello" }, { clientKey: "key-other" }], turn: null },
      ["edit_queue ses_9", "get_snapshot ses_9"],
    ],
    [{ queue: [], turn: { turnId: "t1", clientKey: "key-hello" } }, ["cancel_turn ses_9", "get_snapshot ses_9"]],
  ])("is withdrawn when it is discarded while the host accepts it", async (live, asked) => {
    let create = () => {};
    const tab = await openTab({
      answer: async (name) => {
        if (name === "create_session") {
          await new Promise<void>((resolve) => {
            create = resolve;
          });
          return { session: { id: "ses_9" }, prompt: { state: "queued" } };
        }
        return name === "get_snapshot" ? { session: { id: "ses_9", messageCount: 1 }, live } : {};
      },
    });
    await tab.outbox.add(start("hello"));
    tab.sender.reachable(DEVICE, 1);
    await expect.poll(() => tab.asked).toHaveLength(1);
    await tab.outbox.discard("key-hello");
    create();
    await empty(tab);
    expect(tab.asked).toEqual(["create_session key-hello", "get_snapshot ses_9", ...asked]);
  });

  it("is deleted after a reload when the answer was lost", async () => {
    const first = await openTab({ answer: offline });
    await first.outbox.add(start("hello"));
    first.sender.reachable(DEVICE, 1);
    await expect.poll(() => first.asked).toHaveLength(1);
    await first.outbox.discard("key-hello");
    expect(first.outbox.items).toMatchObject([{ discarded: true }]);
    const second = await openTab({ answer: host() });
    second.sender.reachable(DEVICE, 1);
    await empty(second);
    expect(second.asked.at(-1)).toBe("delete_session ses_9");
  });

  it("leaves nothing to delete when the host was not asked, or rejects it", async () => {
    const tab = await openTab({
      answer: () => {
        throw new ApiError(3, "no such project");
      },
    });
    await tab.outbox.add(start("hello"));
    await tab.outbox.discard("key-hello");
    expect(tab.outbox.items).toEqual([]);
    await tab.outbox.add(start("again"));
    tab.sender.reachable(DEVICE, 1);
    await expect.poll(() => tab.outbox.items.map((item) => item.error)).toEqual(["no such project"]);
    await tab.outbox.discard("key-again");
    await empty(tab);
  });
});

describe("a session in a worktree", () => {
  it("does not begin in the project's folder of a host without worktrees", async () => {
    const tab = await openTab({
      answer: (name) =>
        name === "get_snapshot" || name === "create_session"
          ? { session: { id: "ses_9", messageCount: 0 }, live: { queue: [], turn: null } }
          : {},
    });
    const item = start("hello");
    await tab.outbox.add({ ...item, start: { projectId: "p1", worktree: true } });
    tab.sender.reachable(DEVICE, 1);
    await expect
      .poll(() => tab.outbox.items.map((each) => each.error))
      .toEqual(["This machine does not support worktrees. Update scorel there, or choose the project folder."]);
    expect(tab.asked.at(-1)).toBe("delete_session ses_9");
    await tab.outbox.discard("key-hello");
    await empty(tab);
  });
});

describe("a prompt that could not be stored", () => {
  it("reports it, is not discarded by another tab, and is sent", async () => {
    const tabs = new Tabs();
    const first = await openTab({ tabs, full: true });
    const second = await openTab({ tabs });
    await first.outbox.add(prompt("hello"));
    await expect.poll(() => second.outbox.items).toMatchObject([{ text: "hello", unstored: true }]);
    expect(first.outbox.items).toMatchObject([{ text: "hello", unstored: true }]);
    expect(await second.outbox.current("key-hello")).toMatchObject({ text: "hello" });
    expect(first.outbox.items).toHaveLength(1);
    first.sender.reachable(DEVICE, 1);
    await empty(first);
    expect(first.asked).toEqual(["send_prompt hello"]);
    await expect.poll(() => second.outbox.items).toEqual([]);
  });

  it("reports nothing once it is stored", async () => {
    const tab = await openTab();
    await tab.outbox.add(prompt("hello"));
    expect(tab.outbox.items[0]?.unstored).toBeUndefined();
  });
});
