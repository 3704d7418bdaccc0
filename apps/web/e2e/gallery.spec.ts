import { expect } from "@playwright/test";
import { contrast, darken, faultsOf, rules, tooSmall, tooWide } from "./faults";
import { screens, settled, test, touched } from "./gallery";
import { sights } from "./sights";

// Requirements of every page and state: the rules of WCAG 2.2 AA that can be checked automatically, in both themes;
// nothing wider than the screen; and no touch targets that are too small.

// A limit for a test that hangs; each visits dozens of pages.
const patience = 900_000;

// Each test takes every third sight, so that three workers have equal work.
const parts = [0, 1, 2];

const part = <T>(all: T[], which: number): T[] => all.filter((_, i) => i % parts.length === which);

test.describe("with a mouse on a wide screen, and with a finger on small ones", () => {
  test.use({ ...screens.desk, colorScheme: "light" });
  for (const which of parts) {
    test(`every page can be read and used by everybody (${which + 1})`, async ({ page, show }) => {
      test.setTimeout(patience);
      const faults: string[] = [];
      for (const sight of part(sights, which)) {
        const say = (where: string, found: string[]) =>
          faults.push(...found.map((each) => `${sight.name}${where}: ${each}`));
        await page.setViewportSize(screens.desk.viewport);
        await show(sight);
        if (!sight.alike) {
          say("", await faultsOf(page, rules));
          await darken(page);
          say(" in the dark", await faultsOf(page, contrast));
          await page.emulateMedia({ colorScheme: "light" });
        }
        const restoreMouse = await touched(page);
        for (const [where, screen] of [
          [" on a narrow screen", screens.narrow],
          // The phone has the same layout: the same controls can be reached there.
          [" on a phone", screens.phone],
        ] as const) {
          await page.setViewportSize(screen.viewport);
          await settled(page);
          say(where, [...(await tooWide(page)), ...(await tooSmall(page))]);
        }
        // The last of them is the phone.
        if (!sight.alike) {
          say(" on a phone", await faultsOf(page, rules));
        }
        await restoreMouse();
      }
      expect(faults).toEqual([]);
    });
  }
});

test("a sheet takes the focus, keeps it, and returns it", async ({ page, show }) => {
  await show({ name: "session", scene: "managed" });
  const opener = page.getByTestId("session-menu");
  await opener.focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await expect(dialog).toBeVisible();
  for (let i = 0; i < 8; i++) {
    await page.keyboard.press("Tab");
    const outside = await page.evaluate(() => {
      const at = document.activeElement;
      return at !== document.body && !document.querySelector("dialog")?.contains(at);
    });
    expect(outside).toBe(false);
  }
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(opener).toBeFocused();
  await page.keyboard.press("Enter");
  await page.getByTestId("delete-session").focus();
  await page.keyboard.press("Enter");
  await expect(dialog).toContainText("Delete the session?");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(opener).toBeFocused();
});

test.describe("on a phone, an approval in the inbox", () => {
  test.use({ ...screens.phone });
  test("is not covered, however little of its card is visible", async ({ page, show }) => {
    await show({ name: "inbox", scene: "inbox" });
    const card = page.getByTestId("question-card");
    await card.getByTestId("question-choice").first().waitFor();
    for (const part of [
      card.getByRole("heading"),
      card.getByTestId("question-choice"),
      card.getByTestId("question-send"),
    ]) {
      // Its end becomes visible first, and the rest of the card is still below the window.
      await part.last().evaluate((element) => element.scrollIntoView({ block: "end" }));
      const covering = await part.last().evaluate((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        const there = document.elementFromPoint(left + width / 2, top + height / 2);
        return element.contains(there) ? null : (there?.outerHTML ?? "nothing");
      });
      expect(covering).toBeNull();
    }
  });
});

for (const [name, screen, keys] of [
  ["wide screen with a mouse", screens.desk, ["D", "A", "⇧A"]],
  ["narrow screen with a mouse", { viewport: screens.phone.viewport }, []],
  ["phone", screens.phone, []],
] as const) {
  test.describe(`on a ${name}, the buttons of an approval`, () => {
    test.use(screen);
    test(`show ${keys.length} keys`, async ({ page, show }) => {
      await show({ name: "approval", scene: "approval" });
      const card = page.getByTestId("approval-card");
      await expect(card.getByTestId("approval-always")).toHaveAttribute("aria-keyshortcuts", "Shift+A");
      const shown = card.locator("kbd").filter({ visible: true });
      expect((await shown.allTextContents()).sort()).toEqual([...keys].sort());
    });
  });
}

test.describe("on a narrow screen, the doctor", () => {
  test.use({ ...screens.narrow });
  test("gives each step's title a line of its own", async ({ page, show }) => {
    await show({ name: "connection", scene: "connection" });
    const titles = page.getByTestId("step").locator("p:first-of-type");
    await expect(titles.filter({ hasText: "Online status" }).first()).toBeVisible();
    const lines = await titles.evaluateAll((all) =>
      all.map((title) => Math.round(title.clientHeight / Number.parseFloat(getComputedStyle(title).lineHeight))),
    );
    expect(new Set(lines)).toEqual(new Set([1]));
  });
});
