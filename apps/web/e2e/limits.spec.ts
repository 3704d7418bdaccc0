import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "./harness";

test("one browser limits another, which shows it at once", async ({ world, visitor }) => {
  const anna = await visitor();
  const sessionId = await anna.settle();
  const other = join(dirname(world.project), "other");
  mkdirSync(other);
  expect((await world.scorel(["project", "add", other])).code).toBe(0);
  const ben = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await ben.pair();
  await expect(ben.at("project-row")).toHaveCount(2);
  await expect(ben.at("own-access")).toHaveCount(0);
  const machine = new URL(ben.page.url()).pathname;

  await anna.open(machine);
  await anna.at("access").click();
  await anna.at("client").filter({ hasText: ben.clientId }).getByTestId("client-grants").click();
  await test.step("a grant", async () => {
    await anna.at("grant-prompt").click();
    await expect(anna.at("grant-prompt")).toHaveAttribute("aria-checked", "false");
    await expect(ben.at("own-access")).toContainText("It cannot send prompts.");
    await expect(ben.at("new-session")).toHaveCount(0);
  });
  await test.step("projects and a time", async () => {
    await anna.at("projects-some").click();
    await anna.page.getByRole("checkbox", { name: "lighthouse" }).click();
    await anna.at("limits-expiry").selectOption("8h");
    await anna.at("save-limits").click();
    await expect(anna.at("limits")).toContainText("Saved. In effect now.");
    await expect(ben.at("project-row")).toHaveCount(1);
    await expect(ben.at("own-access")).toContainText("It sees only the projects below");
    await expect(ben.at("add-project")).toHaveCount(0);
    await expect(ben.at("own-access")).toContainText("Its access ends");
  });
  await anna.at("access-back").click();
  const limits = anna.at("client").filter({ hasText: ben.clientId }).getByTestId("client-limits");
  await expect(limits).toContainText("Only lighthouse·Until ");

  await test.step("its access expires, and it is told what to do", async () => {
    await ben.open(`${machine}/s/${sessionId}`);
    await expect(ben.at("composer")).toBeVisible();
    expect((await world.scorel(["host", "clients", "limit", ben.clientId, "--expires", "1s"])).code).toBe(0);
    await expect(ben.at("expired-notice")).toContainText(`scorel host clients limit ${ben.clientId} --expires 8h`);
    await expect(limits).toContainText("Expired ");
    await ben.at("try-access").click();
    await expect(ben.at("expired-notice")).toBeVisible();
  });
  await test.step("with more time it continues", async () => {
    expect((await world.scorel(["host", "clients", "limit", ben.clientId, "--expires", "8h"])).code).toBe(0);
    await ben.at("try-access").click();
    await expect(ben.at("expired-notice")).toHaveCount(0);
    await expect(ben.at("composer")).toBeVisible();
  });
});
