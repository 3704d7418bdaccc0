import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { screens, test } from "./gallery";
import { sights } from "./sights";

// What every page and state must hold: the rules of WCAG 2.2 AA that a machine can
// check, in both themes; nothing wider than the screen; and under a finger nothing
// that is too small to be hit.

const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// A limit for a test that hangs; each goes through dozens of pages.
const patience = 900_000;

const contrast = ["color-contrast"];

async function faultsOf(page: Page, only?: string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page });
  // What lies behind an open sheet nobody can reach, and it is a sight of its own.
  if (await page.getByRole("dialog").count()) {
    axe.include("dialog");
  }
  const { violations } = await (only ? axe.withRules(only) : axe.withTags(rules)).analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary}`),
  );
}

/** What stands out at the side, though nothing there scrolls sideways. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide = document.scrollingElement as Element;
    const boxes = [wide, ...document.querySelectorAll("main, section[aria-label=Transcript], dialog > div > div")];
    return boxes
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .map((box) => `too wide: ${box.outerHTML.slice(0, 90)}`)
      .concat(wide.scrollHeight > wide.clientHeight + 1 ? ["the page itself can be scrolled"] : []);
  });
}

/** Controls of less than 44 px; a link in running text is as high as its line. */
function tooSmall(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = [
      ...document.querySelectorAll<HTMLElement>(
        ":is(button, select, input, textarea, a[href]):not([type=checkbox]:disabled)",
      ),
    ];
    const open = document.querySelector("dialog");
    return all.flatMap((control) => {
      const target = (control.closest("label") ?? control).getBoundingClientRect();
      const hidden = target.width === 0 || (open && !open.contains(control)) || control.closest(".sr-only");
      if (hidden || getComputedStyle(control).display === "inline") {
        return [];
      }
      const small = target.height < 43.5 || target.width < 43.5;
      return small
        ? [`${Math.round(target.width)} x ${Math.round(target.height)}: ${control.outerHTML.slice(0, 120)}`]
        : [];
    });
  });
}

test.describe("on a desk", () => {
  test.use({ ...screens.desk, colorScheme: "light" });
  for (const part of [0, 1, 2, 3]) {
    test(`every page can be read and used by everybody (${part + 1})`, async ({ page, show }) => {
      test.setTimeout(patience);
      const faults: string[] = [];
      for (const sight of sights.filter(({ alike }) => !alike).filter((_, i) => i % 4 === part)) {
        await show(sight);
        const light = await faultsOf(page);
        // The theme changes colors and nothing else.
        await page.emulateMedia({ colorScheme: "dark" });
        const dark = await faultsOf(page, contrast);
        await page.emulateMedia({ colorScheme: "light" });
        faults.push(...light.map((fault) => `${sight.name}: ${fault}`));
        faults.push(...dark.map((fault) => `${sight.name} in the dark: ${fault}`));
      }
      expect(faults).toEqual([]);
    });
  }
});

for (const [name, screen] of [
  ["on a phone", screens.phone],
  ["on a narrow screen", screens.narrow],
] as const) {
  test.describe(name, () => {
    test.use({ ...screen });
    test("nothing is wider than the screen, and everything can be hit", async ({ page, show }) => {
      test.setTimeout(patience);
      const faults: string[] = [];
      for (const sight of sights) {
        await show(sight);
        const found = [...(await tooWide(page)), ...(await tooSmall(page))];
        faults.push(...found.map((fault) => `${sight.name}: ${fault}`));
      }
      expect(faults).toEqual([]);
    });
  });
}

test("a sheet takes the focus, keeps it, and gives it back", async ({ page, show }) => {
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
