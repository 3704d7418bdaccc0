import { expect, test } from "./harness";
import type { Visitor } from "./visitor";

/** Collects the texts of answered cards from now on: they disappear after a moment, which a busy machine may miss. */
async function collectOutcomes({ page }: Visitor): Promise<() => Promise<string>> {
  await page.evaluate(() => {
    const told = new Set<string>();
    const read = () => {
      for (const card of document.querySelectorAll("[data-testid=approval-answered]")) {
        told.add(card.textContent ?? "");
      }
      document.documentElement.dataset.told = [...told].join("\n");
    };
    new MutationObserver(read).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  return () => page.evaluate(() => document.documentElement.dataset.told ?? "");
}

// Tall enough that nothing scrolls: when a card disappears, the next one takes exactly its place.
const tall = { viewport: { width: 1280, height: 2000 } };

test("with four calls waiting, a second click on the same spot allows nothing more", async ({ world, visitor }) => {
  const anna = await visitor(tall);
  await anna.settle();
  await anna.prompt(["one", "two", "three", "four"].map((name) => `run env touch ${name}`).join("\n"));
  const card = anna.at("approval-card");
  const allow = anna.at("approval-allow");
  const heading = (name: string) => card.getByRole("heading", { name });
  const decisions = () => anna.log().flatMap((line) => (line.data?.decision ? [line.data.decision] : []));

  const told = await collectOutcomes(anna);
  await expect(heading("touch one")).toBeVisible();
  await expect(allow).toBeEnabled();
  const spot = await allow.boundingBox();
  const [x, y] = [(spot?.x ?? 0) + (spot?.width ?? 0) / 2, (spot?.y ?? 0) + (spot?.height ?? 0) / 2];
  await anna.page.mouse.click(x, y, { clickCount: 2 });
  await test.step("it says who answered, and the focus goes to the next card", async () => {
    await expect.poll(told).toContain("You allowed it.");
    await expect(heading("touch two")).toBeFocused();
  });
  await test.step("the next card comes under the pointer, which rests", async () => {
    await expect(anna.at("approval-answered")).toHaveCount(0);
    await expect.poll(async () => Math.round((await allow.boundingBox())?.y ?? 0)).toBe(Math.round(spot?.y ?? -1));
    for (const _ of [1, 2]) {
      await anna.page.mouse.down();
      await anna.page.mouse.up();
      await expect(anna.at("approval-outcome")).toContainText("Not counted");
    }
    await expect(heading("touch two")).toBeVisible();
    expect(decisions()).toEqual(["allow"]);
  });
  await test.step("a pointer that has left and returns allows it", async () => {
    await anna.page.mouse.move(x, y + 300);
    await allow.click();
    await expect(heading("touch three")).toBeFocused();
  });
  await test.step("keys answer the rest", async () => {
    await anna.page.keyboard.press("d");
    await expect(heading("touch four")).toBeFocused();
    await expect(allow).toBeEnabled();
    await anna.page.keyboard.press("a");
    await anna.rest();
  });
  expect(decisions()).toEqual(["allow", "allow", "deny", "allow"]);
  expect(world.projectFiles().sort()).toEqual(["README.md", "four", "lamp.go", "one", "two"]);
});

test("the second of two answers is shown who answered first", async ({ visitor }) => {
  const anna = await visitor();
  await anna.settle();
  const ben = await visitor();
  await ben.pair();
  await ben.at("session-row").click();
  await anna.prompt("run env echo once");
  for (const each of [anna, ben]) {
    await expect(each.at("approval-allow")).toBeEnabled();
  }
  const told = { anna: await collectOutcomes(anna), ben: await collectOutcomes(ben) };
  // The later one presses the current button, or nothing.
  const press = (id: string) => document.querySelector<HTMLElement>(`[data-testid=${id}]`)?.click();
  await Promise.all([anna.page.evaluate(press, "approval-allow"), ben.page.evaluate(press, "approval-deny")]);
  const made = () => anna.log().flatMap((line) => (line.data?.decision ? [line.data.decidedBy] : []));
  await expect.poll(made).toHaveLength(1);
  const [winner, loser] = made()[0] === anna.clientId ? [told.anna, told.ben] : [told.ben, told.anna];
  await expect.poll(loser).toMatch(/answered first|Allowed from|Denied from/);
  await expect.poll(winner).toMatch(/You (allowed|denied) it/);
  for (const each of [anna, ben]) {
    await expect(each.at("approval-answered")).toHaveCount(0);
    await each.expectTruth();
  }
});
