import type { Locator } from "@playwright/test";
import { expect, test } from "./harness";
import { type Visitor, words } from "./visitor";
import type { World } from "./world";

/** Opens the settings of the machine in a new tab, where the paths to it are listed. */
async function watchPaths(anna: Visitor): Promise<Visitor> {
  const watch = anna.on(await anna.context.newPage());
  await watch.open(anna.sessionPath.split("/s/")[0]);
  await watch.at("machine-settings").click();
  return watch;
}

function path(watch: Visitor, url: string): Locator {
  return watch.page.locator(`[data-testid=path][data-url="${url}"]`);
}

/** Waits until both relays are usable and one is used. */
async function bothOpen(watch: Visitor, { url, secondUrl }: World): Promise<void> {
  for (const each of [url, secondUrl]) {
    await expect(path(watch, each)).toHaveAttribute("data-state", /^(used|ready)$/);
  }
  await expect(watch.page.locator("[data-testid=path][data-state=used]")).toHaveCount(1);
}

/** Returns the address of the used path. */
async function usedUrl(watch: Visitor): Promise<string> {
  return (await watch.page.locator("[data-testid=path][data-state=used]").getAttribute("data-url")) ?? "";
}

/** Prompts for a stream, calls `what` in its middle, and waits for the end. */
async function inMidStream(anna: Visitor, count: number, what: () => Promise<void>): Promise<void> {
  await anna.prompt(`stream ${count}`);
  await expect(anna.streaming.last()).toContainText("word20 ");
  await what();
  await expect(anna.streaming.last()).toContainText("word60 ");
  await anna.rest();
  expect((await anna.said()).at(-1)?.text).toBe(words(count));
}

test.describe("a machine on two relays", () => {
  test.use({ options: { second: "allowed" } });

  test("is paired on one, and loses and repeats nothing when either dies while it answers", async ({
    world,
    visitor,
  }) => {
    const anna = await visitor();
    await anna.settle();
    const watch = await watchPaths(anna);

    await test.step("the other relay becomes a path without a pairing of its own", () => bothOpen(watch, world));

    let dead = "";
    let left = "";
    await test.step("the relay in use dies", async () => {
      await inMidStream(anna, 400, async () => {
        dead = await usedUrl(watch);
        left = dead === world.url ? world.secondUrl : world.url;
        await world.killRelayAt(dead);
      });
      await expect(path(watch, left)).toHaveAttribute("data-state", "used");
      await expect(path(watch, left)).toContainText("In use");
      await expect(path(watch, dead)).toHaveAttribute("data-state", "connecting");
      await expect(anna.at("link-state").first()).toHaveAttribute("data-state", "online");
      await anna.expectTruth();
    });

    await test.step("prompts and approvals go over the relay that is left", async () => {
      await anna.prompt("run echo lantern-$((40+2))");
      await anna.at("approval-allow").click();
      await anna.rest();
      await anna.expectTruth();
    });

    await test.step("it is back, and the other dies", async () => {
      await world.startRelayAt(dead);
      await bothOpen(watch, world);
      await inMidStream(anna, 400, () => world.killRelayAt(left));
      await expect(path(watch, dead)).toHaveAttribute("data-state", "used");
      await anna.expectTruth();
    });

    await test.step("the connection check walks both", async () => {
      await watch.open("/connection");
      await expect(watch.at("diagnosis")).toHaveAttribute("data-state", "warn");
      const failed = watch.page.locator("[data-testid=step][data-status=failed]");
      await expect(failed.first().getByTestId("step-hint")).toBeVisible();
      await expect(watch.page.locator("[data-step=paths]")).toContainText("1 of 2 work");
    });

    await test.step("reloaded, it reads the same", async () => {
      await world.startRelayAt(left);
      const before = await anna.transcript();
      await anna.page.reload();
      await anna.expectTruth();
      await expect.poll(() => anna.transcript()).toBe(before);
    });
  });

  test("loses access on both when it is revoked on the machine", async ({ world, visitor }) => {
    const anna = await visitor();
    await anna.settle();
    const watch = await watchPaths(anna);
    await bothOpen(watch, world);
    const removed = await world.scorel(["host", "clients", "revoke", anna.clientId]);
    expect(removed, removed.stderr).toMatchObject({ code: 0 });
    await expect(anna.at("revoked-notice").first()).toBeVisible();
  });
});

test.describe("a relay that rejects pages of another", () => {
  test.use({ options: { second: "refused" } });

  test("is shown with the remedy for its operator, and blocks nothing", async ({ world, visitor }) => {
    const anna = await visitor();
    await anna.settle();
    const watch = await watchPaths(anna);
    await expect(path(watch, world.url)).toHaveAttribute("data-state", "used");
    await expect(path(watch, world.secondUrl)).toHaveAttribute("data-state", "origin");
    await expect(watch.at("path-hint")).toContainText(`add ${world.url} to allowed_origins`);
    await watch.open("/connection");
    await expect(watch.at("diagnosis")).toHaveAttribute("data-state", "warn");
    const other = watch.page.locator(`[data-testid=path-steps][data-url="${world.secondUrl}"]`);
    await expect(other.locator("[data-step=relay]")).toHaveAttribute("data-status", "failed");
    await expect(other.getByTestId("step-hint")).toContainText("allowed_origins");
    await anna.prompt("stream 5");
    await anna.expectTruth();
  });
});
