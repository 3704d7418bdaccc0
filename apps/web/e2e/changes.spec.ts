import type { Locator } from "@playwright/test";
import { expect, test } from "./harness";
import type { Visitor } from "./visitor";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** Returns how far content overflows the side of the page or of an open sheet, in pixels. */
function sticksOut({ page }: Visitor): Promise<number> {
  return page.evaluate(() => {
    const boxes = [
      document.scrollingElement as Element,
      ...document.querySelectorAll("section[aria-label=Transcript], dialog > div > div"),
    ];
    return Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth));
  });
}

/** Counts the parts of a diff in the visible area, or near it, whose rows are not drawn yet. */
function undrawnNear(sheet: Locator): Promise<number> {
  return sheet.getByTestId("undrawn").evaluateAll(
    (places) =>
      places.filter((place) => {
        const { top, bottom } = place.getBoundingClientRect();
        return bottom > -500 && top < innerHeight + 500;
      }).length,
  );
}

/** Returns a prompt that changes every occurrence in a file. */
const change = (path: string, from: string, to: string) =>
  `use patch ${JSON.stringify({ path, old_string: from, new_string: to, replace_all: true })}`;

async function openChanges(anna: Visitor): Promise<void> {
  await anna.at("session-menu").first().waitFor(); // the header is there
  if (await anna.at("open-changes").isVisible()) {
    await anna.at("open-changes").click();
  } else {
    await anna.at("session-menu").click();
    await anna.at("session-changes").click();
  }
}

test("a file is reverted from the changes, and later changes are kept", async ({ world, visitor }) => {
  const before = world.read("lamp.go");
  const anna = await visitor();
  await anna.settle();
  await anna.prompt("read lamp.go");
  await anna.rest();
  await anna.prompt(change("lamp.go", "Period = 10", "Period = 12"));
  await anna.at("approval-allow").click();
  await anna.rest();
  expect(world.read("lamp.go")).toContain("Period = 12");
  await openChanges(anna);
  const row = anna.at("change");
  await row.getByRole("button", { name: /lamp\.go/ }).click();
  await expect(row.getByRole("table", { name: "Changes in lamp.go" })).toContainText("const Period = 10");

  await test.step("a file that is not as it was shown stays", async () => {
    world.write("lamp.go", "package lamp\n\n// Mine.\n");
    await anna.at("revert").click();
    await anna.at("revert-now").click();
    await expect(anna.at("revert-now")).toHaveCount(0);
    expect(world.read("lamp.go")).toContain("// Mine.");
  });

  await test.step("as it is shown, it is reverted", async () => {
    await anna.page.keyboard.press("Escape");
    await openChanges(anna);
    await row.getByRole("button", { name: /lamp\.go/ }).click();
    await expect(row).toContainText("// Mine.");
    await anna.at("revert").dblclick();
    await expect(anna.at("revert-now")).toHaveCount(0);
    expect(world.read("lamp.go"), "a double click does not confirm").toContain("// Mine.");
    await anna.at("revert").click();
    await anna.at("revert-now").click();
    await expect(row).toHaveCount(0);
    expect(world.read("lamp.go")).toBe(before);
  });
});

test("a diff is side by side where there is room, and in one column where there is none", async ({ visitor }) => {
  const anna = await visitor({ viewport: { width: 1440, height: 900 } });
  await anna.settle();
  await anna.prompt("read lamp.go");
  await anna.rest();
  await anna.prompt(change("lamp.go", "Period = 10", "Period = 12"));
  const diff = anna.at("approval-card").getByRole("table");
  await expect(diff).toBeVisible();
  await expect(diff.locator("thead th")).toHaveCount(6);
  await anna.page.setViewportSize({ width: 1100, height: 900 });
  await expect(diff.locator("thead th")).toHaveCount(4);
  await anna.at("approval-deny").click();
  await anna.rest();
});

test("a diff of 5,000 lines fits a phone, in a card and in the changes", async ({ world, visitor }) => {
  const line = (i: number) =>
    `	limits.set("channel-${i}", ${i * 64}); // ${"bytes that one channel may hold ".repeat(3)}\n`;
  const anna = await visitor(phone);
  await anna.settle();
  world.write("limits.js", Array.from({ length: 5000 }, (_, i) => line(i)).join(""));
  await anna.prompt("read limits.js");
  await anna.rest();
  await anna.prompt(change("limits.js", "channel-", "lane-"));
  const card = anna.at("approval-card");
  const title = card.getByRole("heading");
  const allow = anna.at("approval-allow");
  await expect(card.getByRole("table")).toBeVisible();

  const inSight = async () => {
    for (const part of [title, card.getByText(/^(low|medium|high) risk$/), allow, anna.at("approval-deny")]) {
      await expect(part).toBeInViewport({ ratio: 1 });
    }
    expect(await sticksOut(anna)).toBeLessThanOrEqual(0);
  };
  await test.step("what is asked stays in sight wherever the diff is", async () => {
    await inSight();
    const diff = card.getByRole("table").locator("xpath=ancestor::*[contains(@class, 'overflow-auto')][1]");
    for (const to of [0.5, 1]) {
      await diff.evaluate((box, to) => box.scrollTo(0, (box.scrollHeight - box.clientHeight) * to), to);
      await inSight();
    }
  });
  await allow.tap();
  await anna.rest();
  expect(world.read("limits.js").match(/lane-/g)).toHaveLength(5000);

  await test.step("no line widens the changes", async () => {
    await openChanges(anna);
    await anna
      .at("change")
      .getByRole("button", { name: /limits\.js/ })
      .click();
    await expect(anna.page.getByRole("dialog").getByRole("table")).toBeVisible();
    expect(await sticksOut(anna)).toBeLessThanOrEqual(0);
  });

  await test.step("a search of the browser finds a line that is not drawn, and stays there", async () => {
    const sheet = anna.page.getByRole("dialog");
    await sheet.getByTestId("diff-more").tap();
    const row = sheet.locator(".diff-row").filter({ hasText: "channel-1777" });
    await expect(row).toHaveCount(0);
    expect(
      await anna.page.evaluate(() => (window as unknown as { find(text: string): boolean }).find("channel-1777")),
    ).toBe(true);
    // Headless browsers have no find bar. One sends this event to text that is hidden until found:
    // https://html.spec.whatwg.org/multipage/interaction.html#ancestor-hidden-until-found-revealing-algorithm
    await expect(async () => {
      const places = sheet.getByTestId("undrawn").filter({ hasText: "channel-1777" });
      for (const place of await places.all()) {
        await place.dispatchEvent("beforematch");
      }
      await expect(row).toHaveCount(1, { timeout: 1000 });
    }).toPass();
    await row.evaluate((row) => row.scrollIntoView({ block: "center" }));
    await expect.poll(() => undrawnNear(sheet)).toBe(0);
    await expect(row).toBeInViewport();
  });

  await test.step("the file is reverted by touch, below rows that are drawn meanwhile", async () => {
    await anna.at("revert").tap();
    const now = anna.at("revert-now");
    await expect(now).toBeInViewport({ ratio: 1 });
    expect((await now.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    expect(await sticksOut(anna)).toBeLessThanOrEqual(0);
    await now.tap();
    await expect(anna.at("change")).toHaveCount(0);
    expect(world.read("limits.js").match(/channel-/g)).toHaveLength(5000);
  });
});
