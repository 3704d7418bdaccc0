import { join } from "node:path";
import type { BrowserContextOptions } from "@playwright/test";
import { test } from "./harness";

// Screenshots of the actions on a session's history.

const folder = process.env.SHOTS || "test-results/shots";

const screens: Record<string, BrowserContextOptions> = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desk: { viewport: { width: 1280, height: 800 } },
};

for (const [name, screen] of Object.entries(screens)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`history, ${name}, ${colorScheme}`, async ({ visitor }) => {
      const anna = await visitor({ ...screen, colorScheme });
      const picture = (what: string) =>
        anna.page.screenshot({
          path: join(folder, `history-${what}-${name}-${colorScheme}.png`),
          animations: "disabled",
        });
      await anna.settle();
      for (const prompt of ["help", "stream 20"]) {
        await anna.prompt(prompt);
        await anna.rest();
      }
      await anna.at("place-menu").nth(2).click();
      await picture("menu");
      await anna.page.getByRole("textbox", { name: "Label" }).fill("before the rewrite");
      await anna.page.getByRole("button", { name: "Label", exact: true }).click();
      await anna.at("go-here").waitFor({ state: "hidden" });
      await anna.at("place-menu").nth(1).click();
      await anna.page.getByRole("checkbox").check();
      await anna.at("go-here").click();
      await anna.at("summary").waitFor();
      await anna.prompt("stream 30");
      await anna.rest();
      await anna.at("summary").getByRole("button").click();
      await picture("summary");
      await anna.at("open-tree").click();
      await anna.at("tree-node").first().waitFor();
      await picture("tree");
      await anna.page.getByRole("button", { name: "Close" }).click();
      await anna.prompt("stream 200");
      await anna.streaming.waitFor();
      await anna.prompt("stream 2");
      await anna.prompt("stream 3");
      await anna.at("queue-buttons").nth(1).waitFor();
      await anna.at("composer").fill("look at the left one");
      await picture("queue");
    });
  }
}
