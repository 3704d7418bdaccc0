import type { CDPSession } from "@playwright/test";
import type { Forwarder } from "./forwarder";
import { expect } from "./harness";
import { conversation } from "./log";
import { type Visitor, words } from "./visitor";
import type { World } from "./world";

/** Returns a generator of pseudorandom numbers in [0, 1), reproducible by the seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A browser of the test: its tabs, and its own connection to the relay. */
export interface Browser {
  name: string;
  tabs: Visitor[];
  way: Forwarder;
  /** The prompts of this round, in the order in which its pages sent them. */
  sent: string[];
}

export interface Stage {
  world: World;
  browsers: Browser[];
  /** Returns an integer from 0 up to, not including, `below`. */
  draw: (below: number) => number;
  /** Sends a unique prompt. */
  ask: (browser: Browser, tab: Visitor) => Promise<void>;
}

/** The interruptions of people and machines. Each leaves everything running again. */
const interruptions = {
  reload: async (stage: Stage) => {
    await anyTab(stage).page.reload();
  },
  /** A tab is closed and another opened. */
  otherTab: async (stage: Stage) => {
    const browser = any(stage, stage.browsers);
    const at = stage.draw(browser.tabs.length);
    const old = browser.tabs[at] as Visitor;
    const tab = old.on(await old.context.newPage());
    await tab.open(old.sessionPath);
    await old.page.close();
    browser.tabs[at] = tab;
  },
  /** Connections end, and new ones work at once. */
  cut: async (stage: Stage) => {
    any(stage, stage.browsers).way.cut();
  },
  /** The network is down for a while, during which a prompt is written. */
  offline: async (stage: Stage) => {
    const browser = any(stage, stage.browsers);
    const tab = any(stage, browser.tabs);
    browser.way.close();
    await expect(tab.at("session-strip")).toBeVisible();
    await stage.ask(browser, tab);
    browser.way.cut();
  },
  /** Data sent up arrives, and nothing comes back, until the connection ends. */
  mute: async (stage: Stage) => {
    const browser = any(stage, stage.browsers);
    browser.way.mute();
    await stage.ask(browser, any(stage, browser.tabs));
    browser.way.cut();
  },
  /** A page sleeps, its connections die, and others continue. */
  sleep: async (stage: Stage) => {
    const browser = any(stage, stage.browsers);
    const tab = any(stage, browser.tabs);
    const cdp = await tab.context.newCDPSession(tab.page);
    await setState(cdp, "frozen");
    browser.way.cut();
    const other = any(
      stage,
      stage.browsers.filter((each) => each !== browser),
    );
    await stage.ask(other, any(stage, other.tabs));
    await setState(cdp, "active");
    await cdp.detach();
    await tab.page.bringToFront();
  },
  relayCrash: async ({ world }: Stage) => {
    await world.killRelay();
    await world.startRelay();
  },
  relayRestart: async ({ world }: Stage) => {
    await world.stopRelay();
    await world.startRelay();
  },
  hostCrash: async ({ world }: Stage) => {
    await world.killHost();
    await world.startHost();
  },
  hostRestart: async ({ world }: Stage) => {
    await world.stopHost();
    await world.startHost();
  },
};

export type Interruption = keyof typeof interruptions;
export const kinds = Object.keys(interruptions) as Interruption[];

export function interrupt(stage: Stage, kind: Interruption): Promise<void> {
  return interruptions[kind](stage);
}

export function any<T>({ draw }: Pick<Stage, "draw">, all: T[]): T {
  return all[draw(all.length)] as T;
}

export function anyTab(stage: Stage): Visitor {
  return any(stage, any(stage, stage.browsers).tabs);
}

function setState(cdp: CDPSession, state: "frozen" | "active"): Promise<unknown> {
  return cdp.send("Page.setWebLifecycleState", { state });
}

/** Asserts, at any moment, that no prompt is repeated, and no word of an answer missing or repeated. */
export async function expectWhole(tab: Visitor): Promise<void> {
  const said = await tab.said();
  const asked = said.filter(({ who }) => who === "user").map(({ text }) => text);
  expect(asked).toEqual([...new Set(asked)]);
  for (const { who, text } of said) {
    if (who === "assistant" && text.startsWith("word")) {
      expect(words(1000).startsWith(text), text).toBe(true);
    }
  }
}

/**
 * Asserts, in the end, that every page shows the state of the log, and that the log has each prompt once, in the order
 * of its sender.
 */
export async function expectSettled({ browsers }: Stage): Promise<void> {
  const tabs = browsers.flatMap((each) => each.tabs);
  await Promise.all(tabs.map((tab) => tab.expectTruth()));
  const log = tabs[0]?.log() ?? [];
  const asked = conversation(log).filter(({ who }) => who === "user");
  expect(asked.map(({ text }) => text).sort()).toEqual(browsers.flatMap(({ sent }) => sent).sort());
  for (const { tabs, sent } of browsers) {
    const own = log.filter((line) => line.message?.role === "user" && line.clientId === tabs[0]?.clientId);
    expect(conversation(own).map(({ text }) => text)).toEqual(sent);
  }
}
