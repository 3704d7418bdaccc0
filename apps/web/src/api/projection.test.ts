// @vitest-environment node
import { describe, expect, it } from "vitest";
import { ModelSession } from "../../test-support/model-session";
import { Random } from "../../test-support/random";
import { randomStep } from "../../test-support/random-turns";
import { afterEvent, afterResync, trimmed } from "../link/copies/session-copy";
import type { SessionCopy } from "./copies";
import { lastErrorOf } from "./derive";
import type { WireEvent } from "./messages";
import {
  applyResync,
  emptyProjection,
  fromCopy,
  type Projection,
  prependEntries,
  project,
  tailBytes,
} from "./projection";

function freshLoad(session: ModelSession): Projection {
  return applyResync(emptyProjection(), session.resync(emptyProjection().anchors));
}

/** Returns the state after all earlier entries were fetched. */
function whole(state: Projection, session: ModelSession): Projection {
  let all = state;
  while (all.before > 0) {
    all = prependEntries(all, session.entries(all.before));
  }
  return all;
}

describe("project", () => {
  it("equals a fresh load after any resync, wherever the log was cut", () => {
    const modes = new Map<string, number>();
    for (let seed = 1; seed <= 120; seed++) {
      const random = new Random(seed);
      const session = new ModelSession("ses_1");
      session.ringSize = random.pick([3, 20, 200]);
      session.windowSize = random.pick([4, 30, 500]);
      let state = emptyProjection();
      const reconnect = (): void => {
        const response = session.resync(state.anchors);
        modes.set(response.mode, (modes.get(response.mode) ?? 0) + 1);
        state = applyResync(state, response);
        expect(whole(state, session)).toEqual(whole(freshLoad(session), session));
        if (random.chance(10)) {
          state = whole(state, session);
        }
        session.subscribers.add((event) => {
          state = project(state, event);
        });
      };
      reconnect();
      for (let step = 0; step < 150; step++) {
        randomStep(session, random);
        if (random.chance(4)) {
          session.restart();
        } else if (random.chance(6)) {
          session.subscribers.clear();
        }
        if (session.subscribers.size === 0 && random.chance(30)) {
          reconnect();
        }
      }
      session.subscribers.clear();
      reconnect();
    }
    expect([...modes.keys()].sort()).toEqual(["full_reload", "persistent_fallback", "stream_resume"]);
  });

  it("equals a fresh load after a start from any copy", () => {
    const modes = new Map<string, number>();
    for (let seed = 1; seed <= 120; seed++) {
      const random = new Random(seed);
      const session = new ModelSession("ses_1");
      session.ringSize = random.pick([3, 20, 200]);
      session.windowSize = random.pick([4, 30, 500]);
      const most = random.pick([1, 5, 200]);
      let copy: SessionCopy | null = null;
      const copies: SessionCopy[] = [];
      const load = (): void => {
        session.subscribers.clear();
        const asked = emptyProjection().anchors;
        copy = afterResync(null, asked, session.resync(asked));
        session.subscribers.add((event) => {
          copy = copy && afterEvent(copy, event);
        });
      };
      load();
      for (let step = 0; step < 120; step++) {
        randomStep(session, random);
        if (random.chance(4)) {
          session.restart();
          load();
        }
        if (copy && random.chance(8)) {
          copies.push(structuredClone(trimmed(copy, most)));
        }
        const saved = random.chance(20) && copies.length > 0 ? random.pick(copies) : null;
        if (saved) {
          const begun = fromCopy(saved);
          const response = session.resync(begun.anchors);
          modes.set(response.mode, (modes.get(response.mode) ?? 0) + 1);
          const state = applyResync(begun, response);
          expect(whole(state, session)).toEqual(whole(freshLoad(session), session));
          // The copy continues from there.
          const next = afterResync(saved, begun.anchors, response);
          expect(next?.entries.at(-1)).toEqual(session.log.at(-1));
          expect(next?.last).toBe(response.anchors.persistentLastSeq);
          const follow = (event: WireEvent) => {
            followed = project(followed, event);
          };
          let followed = state;
          session.subscribers.add(follow);
          randomStep(session, random);
          session.subscribers.delete(follow);
          expect({ ...whole(followed, session), summary: null }).toEqual({
            ...whole(freshLoad(session), session),
            summary: null,
          });
        }
      }
    }
    expect([...modes.keys()].sort()).toEqual(["full_reload", "persistent_fallback"]);
  });

  it("follows events without any resync", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = new Random(seed);
      const session = new ModelSession("ses_1");
      let state = freshLoad(session);
      session.subscribers.add((event) => {
        state = project(state, event);
      });
      for (let step = 0; step < 120; step++) {
        randomStep(session, random);
      }
      expect({ ...state, summary: null }).toEqual({ ...whole(freshLoad(session), session), summary: null });
    }
  });

  it("ignores an event that was already applied", () => {
    const session = new ModelSession("ses_1");
    session.userMessage("hi", "k1", "cli_a");
    const state = freshLoad(session);
    const seen = { type: "entry_appended", sessionId: "ses_1", seq: 1, entry: session.log[0] };
    expect(project(state, seen)).toBe(state);
  });

  it("keeps entries of unknown types and skips unknown events", () => {
    const session = new ModelSession("ses_1");
    let state = freshLoad(session);
    session.subscribers.add((event) => {
      state = project(state, event);
    });
    session.append({ type: "hologram", depth: 3 });
    session.publish("aurora_changed", { colour: "green" });
    expect(state.entries).toEqual(session.log);
    expect(state.entries[0]).toMatchObject({ type: "hologram", depth: 3 });
    expect(state.anchors.streamLastSeq).toBe(2);
    expect(state.anchors.persistentLastSeq).toBe(1);
  });

  it("never changes the given state", () => {
    const random = new Random(7);
    const session = new ModelSession("ses_1");
    let state = freshLoad(session);
    session.subscribers.add((event) => {
      const before = structuredClone(state);
      const next = project(state, event);
      expect(state).toEqual(before);
      state = next;
    });
    for (let step = 0; step < 200; step++) {
      randomStep(session, random);
    }
  });
});

describe("tailBytes", () => {
  it.each([
    ["short", 10, "short"],
    ["0123456789", 4, "6789"],
    ["aé", 2, "é"],
    ["aé", 1, ""],
    ["🙂🙂", 5, "🙂"],
    ["", 3, ""],
  ])("cuts %j to %i bytes", (text, limit, want) => {
    expect(tailBytes(text, limit)).toBe(want);
  });
});

describe("lastErrorOf", () => {
  const message = (role: string, extra: object = {}) => ({ type: "message", message: { role, content: [], ...extra } });
  const turn = (stopReason: string, error?: string) => ({
    type: "custom",
    customType: "scorel.turn",
    data: { stopReason, error },
  });

  it.each([
    ["nothing", [], null],
    ["a good answer", [message("assistant", { stopReason: "stop" })], null],
    ["a failed turn", [message("user"), turn("error", "no key")], "no key"],
    ["a canceled turn", [message("user"), turn("aborted")], null],
    ["a failed turn and a new message", [turn("error", "no key"), message("user")], null],
    ["a failed answer of another program", [message("assistant", { stopReason: "error", errorMessage: "429" })], "429"],
    ["a renaming after a failed turn", [turn("error", "no key"), { type: "session_info", name: "x" }], "no key"],
  ])("of %s", (_, entries, want) => {
    expect(lastErrorOf(entries as never)).toBe(want);
  });
});
