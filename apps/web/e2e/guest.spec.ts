import { expect, test } from "./harness";
import { words } from "./visitor";
import type { World } from "./world";

async function share(world: World, sessionId: string, ...more: string[]): Promise<{ url: string; clientId: string }> {
  const shared = await world.scorel(["session", "share", sessionId, "--json", ...more]);
  expect(shared, shared.stderr).toMatchObject({ code: 0 });
  return JSON.parse(shared.stdout);
}

test("a guest link shows one session live, and nothing else, until it is revoked", async ({ world, visitor }) => {
  const anna = await visitor();
  const sessionId = await anna.settle();
  await anna.prompt("stream 20");
  await anna.rest();
  const { url, clientId } = await share(world, sessionId);
  expect(url).toMatch(new RegExp(`^${world.url}/g#`));

  const phone = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const desk = await visitor();
  for (const guest of [phone, desk]) {
    await guest.page.goto(url);
    await expect(guest.box).toContainText(words(20));
    await expect(guest.at("guest")).toContainText("Read-only");
    await expect(guest.at("guest")).toContainText("until ");
    for (const absent of ["composer", "sidebar", "open-tree", "open-find", "composer-send"]) {
      await expect(guest.at(absent)).toHaveCount(0);
    }
    await expect(guest.page.getByRole("link")).toHaveCount(0);
  }

  await test.step("it streams in both browsers, and approvals are only shown", async () => {
    await anna.prompt("run echo lantern-$((40+2))");
    for (const guest of [phone, desk]) {
      await expect(guest.at("approval-card")).toContainText("lantern-");
      await expect(guest.at("approval-allow")).toHaveCount(0);
    }
    await anna.at("approval-allow").click();
    await anna.rest();
    for (const guest of [phone, desk]) {
      await expect(guest.at("approval-card")).toHaveCount(0);
    }
    await anna.prompt("stream 40");
    for (const guest of [phone, desk]) {
      await expect(guest.box).toContainText(words(40));
    }
  });

  await test.step("nothing is kept in the browser", async () => {
    const kept = await desk.page.evaluate(async () => ({
      local: Object.keys(localStorage),
      session: Object.keys(sessionStorage),
      databases: (await indexedDB.databases()).map(({ name }) => name),
      cookies: document.cookie,
      workers: (await navigator.serviceWorker.getRegistrations()).length,
    }));
    expect(kept).toEqual({ local: [], session: [], databases: [], cookies: "", workers: 0 });
    expect(world.relayLog).not.toContain(url.split("#")[1]);
  });

  await test.step("it is there again after a reload, and after the host was away", async () => {
    await desk.page.reload();
    await expect(desk.box).toContainText(words(40));
    await world.killHost();
    await expect(desk.at("guest-status")).toContainText("The machine is offline.");
    await world.startHost();
    await expect(desk.at("guest-status")).toHaveCount(0);
  });

  await test.step("revoked, it ends everywhere, and does not open again", async () => {
    const revoked = await world.scorel(["session", "unshare", sessionId, "--json"]);
    expect(JSON.parse(revoked.stdout)).toEqual({ revoked: [clientId] });
    for (const guest of [phone, desk]) {
      await expect(guest.at("guest-end")).toHaveAttribute("data-why", "revoked");
      await expect(guest.page.getByText(words(20))).toHaveCount(0);
    }
    await desk.page.reload();
    await expect(desk.at("guest-end")).toHaveAttribute("data-why", "revoked");
  });
});

test("a guest link that does not open shows why", async ({ world, visitor }) => {
  const sessionId = await (await visitor()).settle();
  const { url } = await share(world, sessionId);
  const guest = await visitor();
  const says = async (link: string, why: string) => {
    await guest.page.goto("about:blank");
    await guest.page.goto(link);
    await expect(guest.at("guest-end")).toHaveAttribute("data-why", why);
  };
  await says(`${world.url}/g`, "missing");
  await says(url.slice(0, -5), "damaged");
  await says(`${url}x`, "damaged");
  const brief = await share(world, sessionId, "--expires", "3s");
  await guest.page.goto("about:blank");
  await guest.page.goto(brief.url);
  await expect(guest.at("guest-end")).toHaveAttribute("data-why", "expired");
  await guest.page.goto("about:blank");
  await guest.page.goto(url);
  await expect(guest.at("guest")).toBeVisible();
  expect((await world.scorel(["session", "delete", sessionId, "--yes"])).code).toBe(0);
  await expect(guest.at("guest-end")).toHaveAttribute("data-why", "revoked");
});
