import { join } from "node:path";
import { screens, test } from "./gallery";
import { sights } from "./sights";

// Screenshots of every page and state on made-up data. SHOTS_ONLY is a regular expression that selects some of them.

const folder = process.env.SHOTS || "test-results/shots";

const only = new RegExp(process.env.SHOTS_ONLY || "");
const wanted = sights.filter(({ name }) => only.test(name));

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
        // The actions of a sight find elements by English labels.
        for (const sight of look === "chinese" ? wanted.filter(({ act }) => !act) : wanted) {
          await show(sight);
          const path = join(folder, "gallery", `${name}-${look}-${sight.name}.png`);
          await page.screenshot({ path, animations: "disabled" });
        }
      });
    });
  }
}
