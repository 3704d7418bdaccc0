// @vitest-environment node
import { answerMessage, fromBase64url, idOf, verifySignature } from "@scorel/protocol";
import type { AnswerSignature } from "@scorel/protocol/gen/session";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closePages, freshBrowser, openPage, pairPage, until } from "../../test-support/bench";
import { FakeDevice } from "../../test-support/device";
import type { ModelSession } from "../../test-support/model-session";
import { Random } from "../../test-support/random";
import { randomStep } from "../../test-support/random-turns";
import { FakeRelay } from "../../test-support/relay";
import { approval, question } from "../app/testing/builders";
import type { Scorel, SessionState, SessionView } from "./contract";

const SESSION = "ses_1";

let relay: FakeRelay;
let device: FakeDevice;
let model: ModelSession;

beforeEach(async () => {
  freshBrowser();
  relay = new FakeRelay();
  device = await FakeDevice.create();
  relay.add(device);
  model = device.session(SESSION);
});

afterEach(closePages);

async function pairedPage(): Promise<Scorel> {
  const page = openPage(relay);
  await pairPage(page, device);
  return page;
}

function view(page: Scorel): SessionView {
  return page.host(device.identity.id).session(SESSION);
}

async function live(v: SessionView): Promise<SessionState> {
  return until(v.state, (s) => s.status === "live");
}

/** Waits until the page shows the host's state. */
async function inStep(v: SessionView): Promise<SessionState> {
  return until(
    v.state,
    (s) =>
      s.status === "live" &&
      s.entries.length === model.log.length &&
      JSON.stringify(s.live) === JSON.stringify(model.live),
  );
}

describe("a session", () => {
  it("loads, follows events and knows its summary", async () => {
    model.userMessage("first", "k0", "cli_other");
    const v = view(await pairedPage());
    expect(v.state.get().status).toBe("loading");
    expect((await live(v)).entries).toEqual(model.log);
    model.publish("message_started");
    model.live.partial = [{ type: "text", text: "Hello" }];
    model.publish("block_started", { index: 0, block: "text" });
    model.publish("block_delta", { index: 0, delta: "Hello" });
    const state = await inStep(v);
    expect(state.live.partial).toEqual([{ type: "text", text: "Hello" }]);
    device.broadcast({ type: "session_updated", session: { ...model.summary, name: "renamed" } });
    await until(v.state, (s) => s.summary?.name === "renamed");
  });

  it("is missing when the host does not know it", async () => {
    const page = await pairedPage();
    const v = page.host(device.identity.id).session("ses_unknown");
    await until(v.state, (s) => s.status === "missing");
  });

  it("reports other errors of the host and retries", async () => {
    device.intercept = (r) =>
      r.type === "resync_events" ? { type: "error", kind: 10, message: "damaged" } : undefined;
    const v = view(await pairedPage());
    const state = await until(v.state, (s) => s.lastError !== null);
    expect(state).toMatchObject({ status: "loading", lastError: "damaged" });
  });

  it("shows the host's state after cuts, restarts and silence", async () => {
    const page = await pairedPage();
    const v = view(page);
    await live(v);
    const random = new Random(11);
    for (let round = 0; round < 12; round++) {
      for (let step = 0; step < 20; step++) {
        randomStep(model, random);
        if (step === 10 && round % 3 === 0) {
          relay.cut();
        }
        if (step === 10 && round % 3 === 1) {
          relay.setOnline(device, false);
          model.restart();
        }
      }
      if (!device.online) {
        await until(v.state, (s) => s.status === "offline");
        relay.setOnline(device, true);
      }
      const state = await inStep(v);
      expect(state.entries).toEqual(model.log);
      expect(state.live).toEqual(model.live);
    }
  });

  it("is reconnecting, then offline, and stays visible", async () => {
    model.userMessage("first", "k0", "cli_other");
    const v = view(await pairedPage());
    await live(v);
    relay.down = true;
    relay.cut();
    expect((await until(v.state, (s) => s.status === "reconnecting")).entries).toEqual(model.log);
    relay.down = false;
    await live(v);
    relay.setOnline(device, false);
    await until(v.state, (s) => s.status === "offline");
    relay.revoke(device);
    await until(v.state, (s) => s.status === "revoked");
  });

  it("is rendered a few times for a burst of events, and keeps unchanged parts", async () => {
    model.userMessage("first", "k0", "cli_other");
    const v = view(await pairedPage());
    const { entries, outgoing } = await live(v);
    let drawn = 0;
    v.state.subscribe(() => drawn++);
    model.publish("message_started");
    model.live.partial = [{ type: "text", text: "" }];
    model.publish("block_started", { index: 0, block: "text" });
    for (let i = 0; i < 1000; i++) {
      (model.live.partial[0] as { text: string }).text += "word ";
      model.publish("block_delta", { index: 0, delta: "word " });
    }
    const state = await inStep(v);
    expect(drawn).toBeLessThan(50);
    expect(state.entries).toBe(entries);
    expect(state.outgoing).toBe(outgoing);
  });

  it("is one object for all its holders", async () => {
    const page = await pairedPage();
    const [a, b] = [view(page), view(page)];
    expect(a).toBe(b);
    a.release();
    b.release();
    expect(view(page)).toBe(a);
  });

  it("passes on unknown events of the host and ignores unknown events of its own", async () => {
    const page = await pairedPage();
    const v = view(page);
    await live(v);
    const heard = new Promise((resolve) => page.host(device.identity.id).onEvent(resolve));
    device.broadcast({ type: "weather_changed", wind: 3 });
    expect(await heard).toEqual({ type: "weather_changed", wind: 3 });
    model.publish("aurora_changed", { colour: "green" });
    model.append({ type: "hologram", depth: 3 });
    expect((await inStep(v)).entries[0]).toMatchObject({ type: "hologram", depth: 3 });
  });
});

describe("a prompt", () => {
  it("moves from this browser to the host to the log, and is shown as mine", async () => {
    device.intercept = (r) => {
      if (r.type !== "send_prompt" || device.prompts.length > 0) {
        return undefined;
      }
      device.prompts.push({ clientKey: r.clientKey, text: r.text });
      model.live.queue = [{ clientKey: r.clientKey, clientId: "cli_x", text: r.text, queuedAt: 5 }];
      model.publish("queue_changed", { queue: model.live.queue });
      return { type: "response", result: { state: "queued" } };
    };
    const v = view(await pairedPage());
    await live(v);
    v.send("hello");
    const queued = await until(v.state, (s) => s.live.queue.length === 1);
    expect(queued.outgoing).toEqual([
      { clientKey: expect.any(String), text: "hello", state: "host", mine: true, createdAt: expect.any(Number) },
    ]);
    const clientKey = queued.outgoing[0]?.clientKey as string;
    model.userMessage("hello", clientKey, "cli_x");
    // The queue still lists it for a moment; it is shown once all the same.
    expect((await until(v.state, (s) => s.entries.length === 1)).outgoing).toEqual([]);
  });

  it("shows waiting prompts of others", async () => {
    model.live.queue = [{ clientKey: "theirs", clientId: "cli_other", text: "me first", queuedAt: 5 }];
    const v = view(await pairedPage());
    expect((await live(v)).outgoing).toMatchObject([{ clientKey: "theirs", state: "host", mine: false }]);
  });

  it("written offline is sent after a reload, once and in order", async () => {
    const page = await pairedPage();
    const v = view(page);
    await live(v);
    relay.setOnline(device, false);
    await until(v.state, (s) => s.status === "offline");
    const stored = [v.send("one"), v.send("two")];
    await until(v.state, (s) => s.outgoing.length === 2 && s.outgoing.every((o) => o.state === "device"));
    await Promise.all(stored);
    closePages();
    relay.setOnline(device, true);
    const again = view(openPage(relay));
    await until(again.state, (s) => s.entries.length === 2 && s.outgoing.length === 0);
    expect(device.prompts.map((p) => p.text)).toEqual(["one", "two"]);
  });

  it("with a lost answer is not sent twice", async () => {
    const v = view(await pairedPage());
    await live(v);
    let lost = false;
    device.intercept = (r) => {
      if (r.type !== "send_prompt" || lost) {
        return undefined;
      }
      lost = true;
      device.prompts.push({ clientKey: r.clientKey, text: r.text });
      model.userMessage(r.text, r.clientKey, "cli_x");
      relay.cut();
      return null;
    };
    v.send("only once");
    const state = await until(v.state, (s) => s.status === "live" && s.entries.length === 1 && s.outgoing.length === 0);
    expect(state.entries).toHaveLength(1);
    expect(device.prompts).toHaveLength(1);
  });

  it("rejected by the host does not block the next one, and can be retried or discarded", async () => {
    const v = view(await pairedPage());
    await live(v);
    let refuse = true;
    device.intercept = (r) =>
      r.type === "send_prompt" && r.text.startsWith("bad") && refuse
        ? { type: "error", kind: 11, message: "the queue is full" }
        : undefined;
    v.send("bad 1");
    v.send("bad 2");
    v.send("good");
    const state = await until(v.state, (s) => s.entries.length === 1 && s.outgoing.length === 2);
    expect(state.outgoing).toMatchObject([
      { text: "bad 1", state: "failed", error: "the queue is full" },
      { text: "bad 2", state: "failed", error: "the queue is full" },
    ]);
    refuse = false;
    v.retry(state.outgoing[0]?.clientKey as string);
    v.discard(state.outgoing[1]?.clientKey as string);
    await until(v.state, (s) => s.entries.length === 2 && s.outgoing.length === 0);
    expect(device.prompts.map((p) => p.text)).toEqual(["good", "bad 1"]);
  });

  it("of a turn is canceled by that turn's id", async () => {
    const v = view(await pairedPage());
    await live(v);
    await v.cancel();
    expect(device.requests).not.toContain("cancel_turn");
    model.live.turn = { turnId: "turn_1", clientKey: "k", startedAt: 1 };
    model.publish("turn_started", { turn: model.live.turn });
    await until(v.state, (s) => s.live.turn !== null);
    const asked = new Promise((resolve) => {
      device.intercept = (r) => {
        if (r.type === "cancel_turn") {
          resolve(r);
        }
        return undefined;
      };
    });
    await v.cancel();
    expect(await asked).toMatchObject({ turnId: "turn_1", sessionId: SESSION });
  });
});

describe("an approval", () => {
  it("is answered for what was shown, with the feedback to the agent", async () => {
    const v = view(await pairedPage());
    await live(v);
    const asked = new Promise((resolve) => {
      device.intercept = (r) => {
        if (r.type === "answer_approval") {
          resolve(r);
        }
        return undefined;
      };
    });
    const shown = { ...approval({ id: "apr_1" }), shown: "hash" };
    await v.answer(shown, { decision: "deny", feedback: "use make" });
    const sent = (await asked) as { signature: AnswerSignature };
    const { signKey, sealKey, value, ...about } = sent.signature;
    const me = idOf("cli", fromBase64url(signKey), fromBase64url(sealKey));
    const answer = { ...about, approval: shown, decision: "deny", feedback: "use make" } as const;
    expect(about.sessionId).toBe(SESSION);
    expect(await verifySignature(fromBase64url(signKey), answerMessage(answer, me), fromBase64url(value))).toBe(true);
    expect(sent).toMatchObject({
      sessionId: SESSION,
      approvalId: "apr_1",
      decision: "deny",
      feedback: "use make",
      shown: "hash",
    });
  });
});

describe("an answer with a lost reply", () => {
  const shown = approval({ id: "apr_1" });
  const asked = question({ id: "q_1" });

  it.each<[string, object, object, boolean]>([
    ["is ours when it is given again", {}, {}, true],
    ["is too late after another one of ours", { decision: "deny" }, { answer: "no" }, false],
    ["is too late after that of another", { decidedBy: "cli_other" }, { answeredBy: "cli_other" }, false],
  ])("%s", async (_, leave, reply, won) => {
    const page = await pairedPage();
    const me = page.me.get()?.id;
    device.intercept = ({ type }) => {
      switch (type) {
        case "answer_approval":
          return { type: "response", result: { decision: "allow", decidedBy: me, won: false, ...leave } };
        case "answer_question":
          return {
            type: "response",
            result: { outcome: "answered", answer: "yes", answeredBy: me, won: false, ...reply },
          };
        default:
          return undefined;
      }
    };
    const v = view(page);
    await live(v);
    expect(await v.answer(shown, { decision: "allow" })).toMatchObject({ won });
    expect(await v.answerQuestion(asked, { answer: "yes" })).toMatchObject({ won });
  });
});

describe("a session longer than one answer", () => {
  it("begins with its end and fetches the rest on demand", async () => {
    model.windowSize = 10;
    for (let i = 0; i < 25; i++) {
      model.userMessage(`line ${i}`, `k${i}`, "cli_other");
    }
    const v = view(await pairedPage());
    const first = await live(v);
    expect(first.entries).toEqual(model.log.slice(-10));
    expect(first.earlier).toBe("some");
    v.loadEarlier();
    v.loadEarlier(); // one at a time
    expect(v.state.get().earlier).toBe("loading");
    await until(v.state, (s) => s.entries.length === 20);
    expect(device.requests.filter((name) => name === "get_entries")).toHaveLength(1);
    v.loadEarlier();
    const whole = await until(v.state, (s) => s.earlier === "none");
    expect(whole.entries).toEqual(model.log);
    v.loadEarlier(); // there is nothing more
    model.userMessage("one more", "k25", "cli_other");
    expect((await inStep(v)).entries).toEqual(model.log);
    expect(device.requests.filter((name) => name === "get_entries")).toHaveLength(2);
  });

  it("recognizes a sent prompt whose message lies further back", async () => {
    model.windowSize = 5;
    const page = await pairedPage();
    const v = view(page);
    await live(v);
    device.intercept = (r) => (r.type === "send_prompt" ? null : undefined);
    await v.send("long ago");
    await until(v.state, (s) => s.outgoing.length === 1);
    const clientKey = v.state.get().outgoing[0]?.clientKey ?? "";
    await closePages();
    model.userMessage("long ago", clientKey, "cli_other");
    for (let i = 0; i < 20; i++) {
      model.userMessage(`line ${i}`, `k${i}`, "cli_other");
    }
    device.intercept = () => undefined;
    const again = view(openPage(relay));
    const state = await until(again.state, (s) => s.status === "live" && s.outgoing.length === 0);
    expect(state.entries).toHaveLength(5);
    expect(model.log).toHaveLength(21);
  });
});
