import { join } from "node:path";
import type { BrowserContextOptions } from "@playwright/test";
import { test } from "./harness";

// Screenshots of the real app on the demo model. `npm run shots` stores them in SHOTS, or test-results/shots; those of
// README.md are in docs.shots.ts.

const folder = process.env.SHOTS || "test-results/shots";

const screens: Record<string, BrowserContextOptions> = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desk: { viewport: { width: 1280, height: 800 } },
};

for (const [name, screen] of Object.entries(screens)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`${name}, ${colorScheme}`, async ({ world, visitor }) => {
      const anna = await visitor({ ...screen, colorScheme });
      const picture = (what: string) =>
        anna.page.screenshot({ path: join(folder, `${what}-${name}-${colorScheme}.png`), animations: "disabled" });
      world.write("lamp_test.go", "package lamp\n");
      await anna.open();
      await anna.at("pair-code").waitFor();
      await picture("pair");
      await anna.pair();
      await picture("device-empty");
      await anna.at("add-project").click();
      await anna.at("dir-entry").first().waitFor();
      await picture("folders");
      await anna.page.getByRole("button", { name: "Cancel" }).click();
      await anna.addProject();
      await anna.newSession();
      await anna.prompt("help");
      await anna.rest();
      await anna.prompt("read README.md");
      await anna.rest();
      await anna.prompt("run go version");
      await anna.at("approval-card").waitFor();
      await picture("chat");
      await anna.at("approval-allow").click();
      await anna.rest();
      await anna.at("tool-card").last().getByRole("button").first().click();
      await picture("chat-card");
      await anna.open(new URL(anna.page.url()).pathname.split("/s/")[0]);
      await anna.at("session-row").first().waitFor();
      await picture("device");
      const search = anna.page.getByTestId("session-search").last();
      await search.fill("lamp");
      await anna.at("search-hit").first().waitFor();
      await picture("search");
      await anna.at("search-hit").last().click();
      await anna.page.locator("[data-row].bg-accent-soft\\/50").waitFor();
      await picture("search-hit");
      await anna.open();
      await anna.at("device-row").waitFor();
      await picture("devices");
    });
  }
}

for (const [name, screen] of Object.entries(screens)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`a question, ${name}, ${colorScheme}`, async ({ visitor }) => {
      const anna = await visitor({ ...screen, colorScheme });
      await anna.settle();
      const question =
        "Where shall the sessions be kept? A file needs no server; a server can be shared by several machines.";
      const choices = ["SQLite, in one file", "PostgreSQL, with its address in an environment variable"];
      await anna.prompt(`use clarify ${JSON.stringify({ question, choices })}`);
      await anna.at("question-card").waitFor();
      await anna.page.screenshot({ path: join(folder, `question-${name}-${colorScheme}.png`), animations: "disabled" });
      await anna.at("question-choice").first().click();
      await anna.rest();
      await anna.at("tool-card").getByRole("button").first().click();
      await anna.page.screenshot({ path: join(folder, `answered-${name}-${colorScheme}.png`), animations: "disabled" });
    });
  }
}
