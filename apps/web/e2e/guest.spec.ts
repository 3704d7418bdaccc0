import { mkdirSync } from "node:fs";
import { contrast, darken, faultsOf, rules, tooSmall, tooWide } from "./faults";
import { Forwarder } from "./forwarder";
import { screens } from "./gallery";
import { expect, test } from "./harness";
import { type Visitor, words } from "./visitor";
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
  await says(brief.url, "expired");
  expect(await faultsInSight(guest, "guest-expired")).toEqual([]);
  await guest.page.goto("about:blank");
  await guest.page.goto(url);
  await expect(guest.at("guest")).toBeVisible();
  expect((await world.scorel(["session", "delete", sessionId, "--yes"])).code).toBe(0);
  await expect(guest.at("guest-end")).toHaveAttribute("data-why", "revoked");
});

/** The faults of a page in sight on a phone and at a desk, in both themes. SHOTS names a folder for pictures. */
async function faultsInSight({ page }: Visitor, name: string): Promise<string[]> {
  const faults: string[] = [];
  const folder = process.env.SHOTS;
  for (const size of ["phone", "desk"] as const) {
    await page.setViewportSize(screens[size].viewport);
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    const light = [...(await faultsOf(page, rules)), ...(await tooWide(page))];
    const take = async (look: string) => {
      if (folder) {
        mkdirSync(folder, { recursive: true });
        await page.screenshot({ path: `${folder}/${name}-${size}-${look}.png`, animations: "disabled" });
      }
    };
    await take("light");
    await darken(page);
    const dark = await faultsOf(page, contrast);
    await take("dark");
    const small = size === "phone" ? await tooSmall(page) : [];
    faults.push(...[...light, ...dark, ...small].map((fault) => `${name}, ${size}: ${fault}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  return faults;
}

test("a session is shared in one browser and read in another, until the first one revokes it", async ({
  world,
  visitor,
}) => {
  const anna = await visitor({ ...screens.phone, permissions: ["clipboard-read", "clipboard-write"] });
  await anna.settle();
  await anna.prompt("stream 20");
  await anna.rest();
  const faults: string[] = [];
  await anna.at("session-menu").first().click();
  await anna.at("share-session").click();
  await expect(anna.page.getByText("No links yet.")).toBeVisible();
  await anna.at("guest-name").fill("Ben");
  await anna.at("guest-lifetime").selectOption({ label: "8 hours" });
  await anna.at("guest-create").click();
  await expect(anna.at("guest-link")).toContainText("Ben");
  await expect(anna.at("guest-used")).toHaveText("Not used yet");
  await anna.page.getByRole("button", { name: "Copy the link" }).click();
  await expect(anna.page.getByRole("button", { name: "Copied" })).toBeVisible();
  const url = await anna.page.evaluate(() => navigator.clipboard.readText());
  expect(url).toBe(await anna.at("guest-url").inputValue());
  expect(url).toMatch(new RegExp(`^${world.url}/g#`));
  faults.push(...(await faultsInSight(anna, "share-created")));

  const ben = await visitor(screens.phone);
  await ben.page.goto(url);
  await expect(ben.box).toContainText(words(20));
  faults.push(...(await faultsInSight(ben, "guest")));
  await expect(anna.at("guest-used")).toHaveText("Open now");

  await anna.at("guest-revoke").click();
  await anna.page.getByRole("dialog").last().getByRole("button", { name: "Revoke" }).click();
  const asked = Date.now();
  await expect(ben.at("guest-end")).toHaveAttribute("data-why", "revoked");
  test.info().annotations.push({ type: "closed after", description: `${Date.now() - asked} ms` });
  await expect(ben.page.getByText(words(20))).toHaveCount(0);
  await expect(anna.at("guest-link")).toHaveCount(0);
  await expect(anna.at("guest-url")).toHaveCount(0);
  faults.push(...(await faultsInSight(ben, "guest-revoked")));
  expect(faults).toEqual([]);
  // The key was in no request.
  expect(world.relayLog).not.toContain(url.split("#")[1]);
});

test("a browser that may not share says what it lacks", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  const ungranted = await world.scorel(["host", "clients", "ungrant", anna.clientId, "manage"]);
  expect(ungranted, ungranted.stderr).toMatchObject({ code: 0 });
  await anna.at("session-menu").first().click();
  await expect(anna.at("share-session")).toBeDisabled();
  await expect(anna.page.getByText("to share its sessions")).toBeVisible();
});

test("a guest is told when the relay or the machine is away, and goes on when it is back", async ({
  world,
  visitor,
}) => {
  const anna = await visitor();
  const sessionId = await anna.settle();
  await anna.prompt("stream 20");
  await anna.rest();
  const { url } = await share(world, sessionId);
  const way = new Forwarder(world.port);
  try {
    const guest = await visitor(screens.phone);
    await world.killHost();
    await guest.page.goto(url.replace(world.url, await way.start()));
    await expect(guest.at("guest-status")).toContainText("The machine is offline.");
    const faults = await faultsInSight(guest, "guest-away");
    await world.startHost();
    await expect(guest.box).toContainText(words(20));
    await expect(guest.at("guest-status")).toHaveCount(0);
    way.close();
    await expect(guest.at("guest-status")).toContainText("This page will reconnect automatically.");
    await expect(guest.box).toContainText(words(20));
    faults.push(...(await faultsInSight(guest, "guest-relay-away")));
    way.cut();
    await expect(guest.at("guest-status")).toHaveCount(0, { timeout: 120_000 });
    expect(faults).toEqual([]);
  } finally {
    await way.stop();
  }
});
