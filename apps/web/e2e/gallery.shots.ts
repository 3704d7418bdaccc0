import { join } from "node:path";
import { screens, test } from "./gallery";
import { sights } from "./sights";

// Pictures of every page and state on made-up data.

const folder = process.env.SHOTS || "test-results/shots";

for (const name of ["phone", "desk"] as const) {
  const screen = screens[name];
  for (const colorScheme of ["light", "dark"] as const) {
    test.describe(`${name}, ${colorScheme}`, () => {
      test.use({ ...screen, colorScheme });
      test("gallery", async ({ page, show }) => {
        test.slow();
        for (const sight of sights) {
          await show(sight);
          const path = join(folder, "gallery", `${name}-${colorScheme}-${sight.name}.png`);
          await page.screenshot({ path, animations: "disabled" });
        }
      });
    });
  }
}
