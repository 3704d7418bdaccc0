import { Forwarder } from "./forwarder";
import { expect, test } from "./harness";

test("a device turns gray when the relay is lost, and recovers with it", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.pair();
  await anna.open();
  const status = anna.at("device-status");
  const beside = anna.at("sidebar-device");
  await expect(status).toHaveAttribute("data-state", "online");
  await expect(beside).not.toContainText("unknown");
  await world.killRelay();
  await expect(status).toHaveAttribute("data-state", "unknown");
  await expect(status).toContainText("Last known: online");
  await expect(beside).toContainText("unknown");
  await world.startRelay();
  await expect(status).toHaveAttribute("data-state", "online", { timeout: 120_000 });
  await expect(beside).not.toContainText("unknown");
});

test("a silently lost connection is detected while the page shows only machines", async ({ world, visitor }) => {
  const way = new Forwarder(world.port);
  const address = await way.start();
  try {
    const anna = await visitor();
    await anna.page.goto(address);
    await expect(anna.at("pair-code")).not.toBeEmpty();
    const code = (await anna.at("pair-code").textContent()) ?? "";
    expect(await world.scorel(["pair", code.trim(), "--yes"])).toMatchObject({ code: 0 });
    await expect(anna.page).toHaveURL(/\/d\/dev_[a-z2-7]+$/);
    await anna.page.goto(address);
    const status = anna.at("device-status");
    await expect(status).toHaveAttribute("data-state", "online");
    way.mute();
    await expect(status).toHaveAttribute("data-state", "unknown", { timeout: 120_000 });
    way.cut();
    await expect(status).toHaveAttribute("data-state", "online", { timeout: 120_000 });
  } finally {
    await way.stop();
  }
});
