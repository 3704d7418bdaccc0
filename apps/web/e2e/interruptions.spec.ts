import { Forwarder } from "./forwarder";
import { expect, test } from "./harness";
import {
  any,
  anyTab,
  type Browser,
  expectSettled,
  expectWhole,
  interrupt,
  kinds,
  randomFrom,
  type Stage,
} from "./interruptions";
import type { Visitor } from "./visitor";

// Two browsers, one of them with two tabs, each with its own connection to the relay, prompt and read while everything
// around them fails at random. SCOREL_SEED repeats a run, SCOREL_INTERRUPTIONS makes it longer.

const count = Number(process.env.SCOREL_INTERRUPTIONS || 24);
const seed = Number(process.env.SCOREL_SEED || Math.floor(Math.random() * 2 ** 31));

/** Sessions are short enough for a page to show without scrolling. */
const perSession = 12;

test(`${count} random interruptions lose and repeat nothing`, async ({ world, visitor }) => {
  test.setTimeout(300_000 + count * 10_000);
  console.log(`interruptions: SCOREL_SEED=${seed}`);
  test.info().annotations.push({ type: "seed", description: String(seed) });
  const random = randomFrom(seed);
  const draw = (below: number) => Math.floor(random() * below);
  const ways = [new Forwarder(world.port), new Forwarder(world.port)];
  try {
    const browsers: Browser[] = [];
    for (const [i, way] of ways.entries()) {
      const first = await visitor();
      first.url = await way.start();
      await first.pair();
      browsers.push({ name: i === 0 ? "anna" : "ben", tabs: [first], way, sent: [] });
    }
    const [anna] = browsers.flatMap((each) => each.tabs) as [Visitor];
    await anna.addProject();
    browsers[0]?.tabs.push(anna.on(await anna.context.newPage()));
    const stage: Stage = { world, browsers, draw, ask: asker(draw) };
    for (let done = 0; done < count; done += perSession) {
      await begin(stage);
      await test.step(`interruptions from ${done}`, () => round(stage, Math.min(perSession, count - done)));
    }
  } finally {
    await Promise.all(ways.map((way) => way.stop()));
  }
});

/** Opens a new session in each browser with all its tabs. */
async function begin({ browsers }: Stage): Promise<void> {
  const [first] = browsers.flatMap((each) => each.tabs) as [Visitor];
  await first.open(first.sessionPath.split("/s/")[0]);
  await first.newSession();
  for (const browser of browsers) {
    browser.sent = [];
    for (const tab of browser.tabs.filter((each) => each !== first)) {
      await tab.open(first.sessionPath);
    }
  }
}

async function round(stage: Stage, interruptions: number): Promise<void> {
  const story: string[] = [];
  try {
    for (let i = 0; i < interruptions; i++) {
      const browser = any(stage, stage.browsers);
      const tab = any(stage, browser.tabs);
      await stage.ask(browser, tab);
      story.push(`${browser.name} asks ${browser.sent.at(-1)}`);
      if (stage.draw(2) === 0) {
        // It has reached the host, and is being answered or queued there.
        const text = browser.sent.at(-1) ?? "";
        await expect.poll(() => JSON.stringify(tab.log())).toContain(JSON.stringify(text));
      }
      const kind = any(stage, kinds);
      story.push(kind);
      await interrupt(stage, kind);
      await expectWhole(anyTab(stage));
    }
    await expectSettled(stage);
  } catch (cause) {
    throw new Error(`seed ${seed}: ${story.join(", ")}`, { cause });
  }
}

/** Returns distinct prompts: streams of different lengths, words, and tool calls. */
function asker(draw: (below: number) => number): Stage["ask"] {
  let asked = 0;
  return async (browser, tab) => {
    const n = ++asked;
    const text = [`stream ${20 + n}`, `stream ${20 + n}`, `remember number ${n}`, `grep nothing-${n}`][draw(4)] ?? "";
    browser.sent.push(text);
    await tab.prompt(text);
    // The prompt has left the composer: from now on it must not be lost.
    await expect(tab.at("composer")).toHaveValue("");
  };
}
