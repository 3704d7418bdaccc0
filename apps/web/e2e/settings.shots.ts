import { join } from "node:path";
import type { BrowserContextOptions } from "@playwright/test";
import { test } from "./harness";

// Screenshots of a project's settings, and of the reasoning level.

const folder = process.env.SHOTS || "test-results/shots";

const screens: Record<string, BrowserContextOptions> = {
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desk: { viewport: { width: 1280, height: 800 } },
};

const config = `
default_model = "sonnet"
[providers.away]
type = "anthropic"
base_url = "http://127.0.0.1:9"
[models.sonnet]
provider = "away"
id = "claude-sonnet-4-5"
thinking = "medium"
[providers.demo]
type = "demo"
[models.demo]
provider = "demo"
[permissions]
deny = ["bash(rm *)", "read_file(.env)"]
ask = ["bash(git push *)"]
[mcp.servers.notes]
url = "http://127.0.0.1:9/mcp"
headers = { Authorization = "Bearer abc" }
`;

const servers = {
  lamp: {
    command: "npx",
    args: ["-y", "@lighthouse/lamp-mcp", "--speed", "fast"],
    env: { LAMP_TOKEN: "x", MODE: "dim" },
  },
};

test.use({ options: { config } });

for (const [name, screen] of Object.entries(screens)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`settings, ${name}, ${colorScheme}`, async ({ world, visitor }) => {
      world.write(".mcp.json", JSON.stringify({ mcpServers: servers }));
      const anna = await visitor({ ...screen, colorScheme });
      const picture = (what: string) =>
        anna.page.screenshot({
          path: join(folder, `settings-${what}-${name}-${colorScheme}.png`),
          animations: "disabled",
        });
      await anna.settle();
      await anna.at("thinking").waitFor();
      await anna.at("servers-wait").waitFor();
      await picture("session");
      for (const rule of ["bash(go test *)", "write_file(docs/**)"]) {
        await world.scorel(["permission", "add", rule, "--project", world.project]);
      }
      await anna.at("servers-look").click();
      await anna.at("mcp-server").first().waitFor();
      await anna.at("rule").first().waitFor();
      await picture("untrusted");
      await anna.at("trust-toggle").click();
      await anna.at("mcp-allow").waitFor();
      await picture("project");
      await anna.at("rules-user").scrollIntoViewIfNeeded();
      await picture("rules");
      await anna.page.getByRole("button", { name: "Close" }).click();
      await anna.open(anna.sessionPath.split("/s/")[0]);
      await anna.at("project-settings").waitFor();
      await picture("device");
    });
  }
}
