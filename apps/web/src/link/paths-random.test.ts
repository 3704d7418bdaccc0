// @vitest-environment node
import { afterEach, beforeEach, expect, it } from "vitest";
import { closePages, freshBrowser } from "../../test-support/bench";
import { PathsWorld } from "../../test-support/paths-world";
import { Random } from "../../test-support/random";

// SCOREL_PATH_CUTS makes a run longer, SCOREL_SEED repeats one.
const cuts = Number(process.env.SCOREL_PATH_CUTS || 150);
const seed = Number(process.env.SCOREL_SEED || Math.floor(Math.random() * 2 ** 31));

beforeEach(freshBrowser);
afterEach(closePages);

it(
  `loses and repeats nothing while paths come and go, over ${cuts} cuts`,
  async () => {
    const world = await PathsWorld.begin(new Random(seed));
    try {
      for (let n = 0; n < cuts; n++) {
        await world.step(n);
      }
    } catch (cause) {
      throw new Error(`SCOREL_SEED=${seed} repeats this run`, { cause });
    }
    const { taken, approvals, won } = world;
    if (cuts >= 150) {
      expect(Object.keys(Object.fromEntries(taken)).sort(), "every path was used").toEqual([...world.urls].sort());
      expect(won).toBeGreaterThan(0);
      expect(won).toBeLessThan(approvals);
    }
    if (process.env.SCOREL_PATH_CUTS) {
      console.log(`SCOREL_SEED=${seed}:`, Object.fromEntries(taken), `${approvals} approvals, ${won} answered here`);
    }
  },
  120_000 + cuts * 1_000,
);
