import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Worker } from "@playwright/test";
import { expect, test } from "./harness";
import type { Visitor } from "./visitor";

// Chromium subscribes with a service of Google's, which no test may use. The subscription is made up therefore, its key
// is real, and messages are delivered through the browser's debugger.
const withPush = async (anna: Visitor) => {
  await anna.context.grantPermissions(["notifications"], { origin: anna.url });
  await anna.context.addInitScript(() => {
    const key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    let made: object | null = null;
    PushManager.prototype.subscribe = async () => {
      const keys = { p256dh: key, auth: "BTBZMqHH6r4Tts7J_aSIgg" };
      const endpoint = "https://push.invalid/send/secret";
      const unsubscribe = async () => {
        made = null;
        return true;
      };
      made = { endpoint, toJSON: () => ({ endpoint, keys }), unsubscribe };
      return made as never;
    };
    PushManager.prototype.getSubscription = async () => made as never;
  });
};

/**
 * Delivers a push message to the worker of the visitor's only machine, and waits until it has shown a notification.
 * Before that, Chromium takes one that it has stored but does not show yet for an old one, and deletes it when
 * somebody asks for the notifications.
 */
async function deliver(anna: Visitor, message: object): Promise<void> {
  const cdp = await anna.context.newCDPSession(anna.page);
  const found = new Promise<string>((resolve) => {
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const own = registrations.find(({ scopeURL, isDeleted }) => scopeURL.includes("/push/dev_") && !isDeleted);
      own && resolve(own.registrationId);
    });
  });
  await cdp.send("ServiceWorker.enable");
  const registrationId = await found;
  const worker = await pushWorker(anna);
  await worker.evaluate(() => {
    const scope = globalThis as never as { registration: ServiceWorkerRegistration; shown: Promise<void> };
    const show = ServiceWorkerRegistration.prototype.showNotification;
    scope.shown = new Promise((resolve, reject) => {
      scope.registration.showNotification = async (...of) => {
        const showing = show.apply(scope.registration, of);
        showing.then(resolve, reject);
        return showing;
      };
    });
  });
  await cdp.send("ServiceWorker.deliverPushMessage", {
    ...{ origin: anna.url, registrationId, data: JSON.stringify(message) },
  });
  await worker.evaluate(() => (globalThis as never as { shown: Promise<void> }).shown);
  await cdp.detach();
}

/** Returns the service worker of the visitor's only machine, when it runs. */
async function pushWorker(anna: Visitor): Promise<Worker> {
  let found: Worker | undefined;
  await expect
    .poll(async () => {
      for (const each of anna.context.serviceWorkers()) {
        const scope = await each.evaluate(
          () => (globalThis as never as { registration: { scope: string } }).registration.scope,
        );
        found = scope.includes("/push/") ? each : found;
      }
      return found;
    })
    .toBeDefined();
  return found as unknown as Worker;
}

/** Returns the titles, texts and buttons of the shown notifications. */
function shown(anna: Visitor): Promise<{ title: string; body: string; actions: string[] }[]> {
  return anna.page.evaluate(async () => {
    const all = await navigator.serviceWorker.getRegistrations();
    const own = all.find(({ scope }) => scope.includes("/push/"));
    return ((await own?.getNotifications()) ?? []).map((each) => ({
      ...{ title: each.title, body: each.body },
      actions: ((each as unknown as { actions?: { action: string }[] }).actions ?? []).map(({ action }) => action),
    }));
  });
}

/** Presses a button of the shown notification. */
async function press(anna: Visitor, action: string, reply?: string): Promise<void> {
  const worker = await pushWorker(anna);
  await worker.evaluate(
    async ({ action, reply }) => {
      const scope = globalThis as never as {
        registration: ServiceWorkerRegistration;
        dispatchEvent(event: Event): void;
      };
      const [notification] = await scope.registration.getNotifications();
      if (notification) {
        const event = new Event("notificationclick");
        Object.assign(event, { action, reply, notification, waitUntil: () => {} });
        scope.dispatchEvent(event);
      }
    },
    { action, ...(reply === undefined ? {} : { reply }) },
  );
}

test("notifications are turned on, tested and turned off for a machine", async ({ world, visitor }) => {
  const anna = await visitor();
  await withPush(anna);
  await anna.pair();
  await anna.at("machine-settings").click();
  await anna.at("push-on").click();
  await expect(anna.at("push-address")).toContainText("push.invalid");
  await expect(anna.at("push-last")).toContainText("No notification has been sent yet");
  const listed = await world.scorel(["push", "list", "--all", "--json"]);
  expect(listed.stdout).toContain(anna.clientId);
  expect(listed.stdout).not.toContain("secret");

  await test.step("a test says how it ended", async () => {
    await anna.at("push-test").click();
    await expect(anna.page.getByRole("alert")).toContainText("The test was not delivered");
    await expect(anna.at("push-last")).toContainText("failed");
  });
  await test.step("quiet hours and the level are kept by the machine", async () => {
    await anna.at("quiet-from").fill("23:15");
    await anna.at("quiet-save").click();
    await expect(anna.at("push-quiet")).toContainText("from 23:15 to 07:00");
    await anna.at("push-level").selectOption("needs");
    await expect(anna.page.getByText("Saved.")).toBeVisible();
    const settings = await world.scorel(["push", "settings", "--client", anna.clientId]);
    expect(settings.stdout).toContain("notified of: needs");
    expect(settings.stdout).toContain("23:15 to 07:00");
    await anna.at("quiet-remove").click();
    await expect(anna.at("push-quiet")).toContainText("No notifications in these hours");
  });
  await test.step("an ntfy server gets a test", async () => {
    const got: string[] = [];
    const server = createServer((request, response) => {
      request.on("data", (data) => got.push(String(data)));
      request.on("end", () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const { port } = server.address() as { port: number };
    const added = await world.scorel(["push", "add", "ntfy", `http://127.0.0.1:${port}/topic`, "--json"]);
    const tested = await world.scorel(["push", "test", JSON.parse(added.stdout).id]);
    expect(tested, tested.stderr).toMatchObject({ code: 0 });
    expect(got).toEqual(["Notifications work."]);
    server.close();
  });
  await anna.at("push-off").click();
  await expect(anna.at("push-on")).toBeVisible();
  const after = await world.scorel(["push", "list", "--all", "--json"]);
  expect(after.stdout).not.toContain(anna.clientId);
});

test("an approval is answered in its notification, once", async ({ world, visitor }) => {
  const anna = await visitor();
  await withPush(anna);
  await anna.settle();
  const path = anna.sessionPath;
  const device = path.split("/s/")[0] ?? "";
  await anna.open(device);
  await anna.at("machine-settings").click();
  await anna.at("push-on").click();
  await expect(anna.at("push-address")).toBeVisible();
  await anna.open(path);
  await anna.prompt("run touch allowed");
  await expect(anna.at("approval-card")).toBeVisible();
  const asked = anna.log().find((line) => line.customType === "scorel.approval")?.data as
    | { request?: object }
    | undefined;
  const { id = "", shown: hash = "" } = (asked?.request ?? {}) as { id?: string; shown?: string };
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  const message = {
    ...{ v: 1, kind: "approval", device: device.slice(3), tag: anna.sessionId, session: anna.sessionId },
    ...{ asks: anna.sessionId, title: "Lighthouse", text: "touch allowed", approval: id, actions: ["allow", "deny"] },
  };
  await anna.open(device); // nobody looks at the session
  await test.step("what it does not show is not answered", async () => {
    await deliver(anna, { ...message, shown: "0".repeat(64) });
    await expect
      .poll(() => shown(anna))
      .toEqual([{ title: "Lighthouse", body: "Approval needed\ntouch allowed", actions: ["allow", "deny"] }]);
    await press(anna, "allow");
    await expect(anna.page.getByText("the request has changed")).toBeVisible();
    expect(existsSync(join(world.project, "allowed"))).toBe(false);
  });
  await test.step("Allow", async () => {
    await deliver(anna, { ...message, shown: hash });
    await expect.poll(() => shown(anna)).toHaveLength(1);
    await press(anna, "allow");
    await expect.poll(() => existsSync(join(world.project, "allowed"))).toBe(true);
    await expect.poll(() => shown(anna)).toEqual([]);
  });
  await test.step("the same notification answers nothing more", async () => {
    await deliver(anna, { ...message, shown: hash });
    await expect.poll(() => shown(anna)).toHaveLength(1);
    await press(anna, "deny");
    await expect(anna.page.getByText("no longer waits for this answer")).toBeVisible();
  });
  await test.step("a reply is the next prompt", async () => {
    await deliver(anna, { ...message, kind: "ended", text: "", approval: "", actions: ["reply"] });
    await expect.poll(() => shown(anna)).toHaveLength(1);
    await press(anna, "reply", "remember the lighthouse");
    await anna.open(path);
    await expect(anna.at("message-user").last()).toContainText("remember the lighthouse");
    await anna.rest();
  });
  await test.step("what is withdrawn disappears", async () => {
    await deliver(anna, { ...message, shown: hash });
    await expect.poll(() => shown(anna)).toHaveLength(1);
    await deliver(anna, { v: 1, kind: "gone", device: message.device, tag: message.tag, gone: true });
    await expect.poll(() => shown(anna)).toEqual([]);
  });
  const decisions = anna.log().filter((line) => line.data?.decision !== undefined);
  expect(decisions.map((line) => line.data)).toMatchObject([{ decision: "allow", decidedBy: anna.clientId }]);
});

test("a browser that blocks notifications says so", async ({ visitor }) => {
  const anna = await visitor({ permissions: [] });
  await anna.context.addInitScript(() => {
    Object.defineProperty(Notification, "permission", { get: () => "denied" });
  });
  await anna.pair();
  await anna.at("machine-settings").click();
  await expect(anna.at("push-unsupported")).toContainText("Notifications are blocked for this site");
});
