import type { Locator } from "@playwright/test";
import { expect, test } from "./harness";
import type { Visitor } from "./visitor";

function step(visitor: Visitor, name: string): Locator {
  return visitor.page.locator(`[data-testid=step][data-step=${name}]`);
}

async function expectSteps(visitor: Visitor, wanted: Record<string, string>): Promise<void> {
  for (const [name, status] of Object.entries(wanted)) {
    await expect(step(visitor, name)).toHaveAttribute("data-status", status);
  }
}

test("the connection page finds a lost host, then a lost relay", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  const device = anna.sessionPath.split("/s/")[0];

  await test.step("all is well", async () => {
    await anna.page.getByRole("button", { name: "Settings" }).click();
    await anna.at("settings-connection").click();
    await expect(anna.at("diagnosis")).toHaveAttribute("data-state", "ok");
    await expectSteps(anna, { page: "ok", network: "ok", relay: "ok", login: "ok", clock: "ok" });
    await expectSteps(anna, { binding: "ok", presence: "ok", channel: "ok", seal: "ok", api: "ok" });
    await expect(step(anna, "page")).toContainText("and current");
    await expect(step(anna, "api")).toContainText("round trip");
  });

  await test.step("the host is gone", async () => {
    await world.killHost();
    await anna.page.goBack();
    await anna.at("connection-link").click();
    await expect(anna.at("diagnosis")).toHaveAttribute("data-state", "failed");
    await expectSteps(anna, { login: "ok", binding: "ok", presence: "failed", channel: "skipped", api: "skipped" });
    await expect(anna.at("step-hint")).toContainText("scorel host serve");
    await expect(anna.at("diagnosis")).toContainText("workshop cannot be reached");
  });

  await test.step("the host is back", async () => {
    await world.startHost();
    await anna.at("check-again").click();
    await expect(anna.at("diagnosis")).toHaveAttribute("data-state", "ok");
  });

  await test.step("the relay is gone, which is also where the page came from", async () => {
    await anna.open(device);
    await expect(anna.at("new-session")).toBeEnabled();
    await world.killRelay();
    await anna.at("connection-link").first().click();
    await expectSteps(anna, { network: "failed", relay: "skipped", presence: "skipped" });
    await expect(anna.at("diagnosis")).toContainText("The relay cannot be reached");
    await world.startRelay();
    await anna.at("check-again").click();
    await expectSteps(anna, { network: "ok", relay: "ok", login: "ok" });
  });
});
