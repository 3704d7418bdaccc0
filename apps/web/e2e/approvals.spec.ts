import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test("always stores the shown rule, a denial gives the agent feedback, stop ends the turn", async ({
  world,
  visitor,
}) => {
  const anna = await visitor(phone);
  await anna.settle();
  await test.step("always", async () => {
    await anna.prompt("run touch one");
    const rule = (await anna.at("approval-rules").textContent()) ?? "";
    expect(rule).toMatch(/^bash\(touch .+\)$/);
    await anna.at("approval-always").tap();
    await anna.rest();
    const kept = anna.log().find((line) => line.data?.decision === "always");
    expect(kept?.data).toMatchObject({ decision: "always", decidedBy: anna.clientId, rules: [rule] });
  });
  await test.step("and what it covers asks no more", async () => {
    await anna.prompt("run touch one");
    await anna.rest();
    await expect(anna.at("tool-card")).toHaveCount(2);
    expect(anna.log().filter((line) => line.data?.decision !== undefined)).toHaveLength(1);
  });
  await test.step("a word to the agent", async () => {
    await anna.prompt("run env touch two");
    await anna.at("approval-word").tap();
    await anna.at("approval-feedback").fill("not in this folder");
    await anna.at("approval-deny-word").tap();
    await anna.rest();
    await anna.at("tool-card").last().getByRole("button").first().tap();
    await expect(anna.at("tool-card").last()).toContainText("Denied by this browser: “not in this folder”");
  });
  await test.step("stop", async () => {
    await anna.prompt("run env touch three");
    await anna.at("approval-stop").tap();
    await anna.rest();
    await expect(anna.at("approval-card")).toHaveCount(0);
    expect(anna.log().some((line) => line.data?.decision === "stop")).toBe(true);
  });
  expect(["one", "two", "three"].map((name) => existsSync(join(world.project, name)))).toEqual([true, false, false]);
});

test("the mode decides what asks, and a deleted session is gone", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  await anna.at("session-mode").click();
  await expect(anna.at("mode-bypass")).toBeDisabled();
  await anna.at("mode-auto").click();
  await expect(anna.at("session-mode")).toHaveAttribute("data-mode", "auto");
  await anna.prompt("run touch four");
  await anna.rest();
  await expect(anna.at("tool-card")).toHaveAttribute("data-state", "done");
  expect(existsSync(join(world.project, "four"))).toBe(true);

  await anna.at("session-menu").click();
  await anna.at("delete-session").click();
  await anna.page.getByRole("button", { name: "Delete permanently" }).click();
  await expect(anna.page).toHaveURL(/\/d\/dev_[a-z2-7]+$/);
  await expect(anna.at("session-row")).toHaveCount(0);
});
