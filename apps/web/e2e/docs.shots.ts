import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { screens, test } from "./gallery";
import { sights } from "./sights";

// The pictures of README.md and docs. `npm run pictures` puts them into docs/pictures.

const folder = process.env.SHOTS || "test-results/shots";

const pictures = [
  { name: "inbox-desktop", sight: "inbox", screen: screens.desk, colorScheme: "light" },
  { name: "approval-desktop", sight: "approval", screen: screens.desk, colorScheme: "light" },
  { name: "changes-desktop", sight: "changes", act: showDiff, screen: screens.desk, colorScheme: "light" },
  { name: "inbox-phone", sight: "inbox", screen: screens.phone, colorScheme: "light" },
  { name: "approval-phone", sight: "approval", screen: screens.phone, colorScheme: "dark" },
] as const;

/** Shows the diff, without the comment that the sight begins. */
async function showDiff(page: Page): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: /queue\.go/ }).evaluate((button) => button.scrollIntoView({ block: "start" }));
}

for (const { name, sight, screen, colorScheme, ...more } of pictures) {
  test.describe(name, () => {
    test.use({ ...screen, colorScheme, ...(screen === screens.phone ? { deviceScaleFactor: 2 } : {}) });
    test("picture", async ({ page, show }) => {
      const found = sights.find((each) => each.name === sight);
      if (!found) {
        throw new Error(`there is no sight ${sight}`);
      }
      await show(found);
      await page.mouse.move(1, 1);
      if ("act" in more) {
        await more.act(page);
      } else {
        // An approval is enabled a moment after it becomes visible.
        await expect(page.getByTestId("approval-allow").first()).not.toHaveAttribute("aria-disabled", "true");
      }
      await expect(page.locator("[class*=tok-]").first()).toBeAttached();
      await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
    });
  });
}
