import { join } from "node:path";
import type { BrowserContextOptions } from "@playwright/test";
import { test } from "./harness";

// Screenshots of subagents: while they ask, when they are done, and the session of one of them.

const folder = process.env.SHOTS || "test-results/shots";

const screens: Record<string, BrowserContextOptions> = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desk: { viewport: { width: 1280, height: 800 } },
};

const tasks = {
  tasks: [
    { agent: "explore", title: "Find out where the lamp turns", prompt: "grep lamp" },
    { agent: "general", title: "Bring the module in order", prompt: "run go mod init lamp" },
    { agent: "general", title: "Count the files of the project", prompt: "list ." },
  ],
};

for (const [name, screen] of Object.entries(screens)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`crew, ${name}, ${colorScheme}`, async ({ visitor }) => {
      const anna = await visitor({ ...screen, colorScheme });
      const picture = (what: string) =>
        anna.page.screenshot({ path: join(folder, `${what}-${name}-${colorScheme}.png`), animations: "disabled" });
      await anna.pair();
      await anna.addProject();
      await anna.newSession();
      await anna.prompt(`use delegate_parallel ${JSON.stringify(tasks)}`);
      await anna.at("approval-card").waitFor();
      await picture("crew-asks");
      await anna.at("approval-allow").click();
      await anna.rest();
      await picture("crew-done");
      await anna.at("crew-member").nth(1).getByRole("link").click();
      await anna.at("parent-session").waitFor();
      await anna.at("message-assistant").first().waitFor();
      await picture("crew-child");
      await anna.at("parent-session").click();
      await anna.at("crew").waitFor();
    });
  }
}
