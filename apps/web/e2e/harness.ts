import { type BrowserContextOptions, test as base, expect } from "@playwright/test";
import { Recorder } from "./recorder";
import { Visitor } from "./visitor";
import { World, type WorldOptions } from "./world";

export { expect };

interface Fixtures {
  options: WorldOptions;
  /** A new relay and host for each test, so that tests do not affect one another. */
  world: World;
  /** A proxy to the relay, for browsers whose traffic a test reads. */
  recorder: Recorder;
  /** Opens a browser with its own profile. A complaint of any of them fails the test. */
  visitor: (options?: BrowserContextOptions) => Promise<Visitor>;
}

export const test = base.extend<Fixtures>({
  options: [{}, { option: true }],
  world: async ({ options }, use, info) => {
    const world = new World(options);
    try {
      await world.begin();
      await use(world);
    } finally {
      if (info.status !== info.expectedStatus) {
        await info.attach("processes", { body: world.logs() });
      }
      await world.end();
    }
  },
  recorder: async ({ world }, use) => {
    const recorder = await Recorder.start(world.url);
    await use(recorder);
    await recorder.stop();
  },
  visitor: async ({ browser, world }, use) => {
    const visitors: Visitor[] = [];
    await use(async (options) => {
      const context = await browser.newContext(options);
      const visitor = new Visitor(world, await context.newPage());
      visitors.push(visitor);
      return visitor;
    });
    const complaints = visitors.flatMap((each) => each.complaints);
    await Promise.all(visitors.map((each) => each.context.close()));
    expect(complaints).toEqual([]);
  },
});
