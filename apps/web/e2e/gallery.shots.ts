import { join } from "node:path";
import { screens, test } from "./gallery";
import { sights } from "./sights";

// Pictures of every page and state on made-up data.

const folder = process.env.SHOTS || "test-results/shots";

const looks = [
  { look: "light", colorScheme: "light" },
  { look: "dark", colorScheme: "dark" },
  { look: "chinese", colorScheme: "light", locale: "zh-CN" },
] as const;

for (const name of ["phone", "desk"] as const) {
  const screen = screens[name];
  for (const { look, ...options } of looks) {
    test.describe(`${name}, ${look}`, () => {
      test.use({ ...screen, ...options });
      test("gallery", async ({ page, show }) => {
        test.slow();
        // What a sight does finds its way by English labels.
        for (const sight of look === "chinese" ? sights.filter(({ act }) => !act) : sights) {
          await show(sight);
          const path = join(folder, "gallery", `${name}-${look}-${sight.name}.png`);
          await page.screenshot({ path, animations: "disabled" });
        }
      });
    });
  }
}
