import type { Browser } from "@playwright/test";
import { Forwarder } from "./forwarder";
import { expect, test } from "./harness";
import { words } from "./visitor";

test("two browsers on one session show the same, and an approval is answered once", async ({ visitor }) => {
  const anna = await visitor();
  const sessionId = await anna.settle();
  const ben = await visitor();
  await ben.pair();
  await ben.at("session-row").click();
  await expect(ben.at("composer")).toBeEnabled();
  expect(ben.sessionId).toBe(sessionId);

  await anna.prompt("stream 200");
  await expect(ben.at("message-user")).toContainText("stream 200");
  await expect(ben.streaming).toContainText("word5 ");
  await ben.rest();
  await expect.poll(async () => (await ben.said()).at(-1)?.text).toBe(words(200));

  await ben.prompt("run env echo once");
  await expect(anna.at("approval-card")).toContainText("echo once");
  await ben.at("approval-allow").click();
  await expect(anna.at("approval-card")).toHaveCount(0);
  await expect(anna.at("tool-card")).toHaveAttribute("data-state", "done");
  for (const each of [anna, ben]) {
    await each.expectTruth();
  }
  await expect(async () => expect(await anna.said()).toEqual(await ben.said())).toPass();

  const decided = anna.log().filter((line) => line.data?.decision !== undefined);
  expect(decided.map((line) => line.data)).toMatchObject([{ decision: "allow", decidedBy: ben.clientId }]);
  const senders = anna.log().filter((line) => line.message?.role === "user");
  expect(senders.map((line) => line.clientId)).toEqual([anna.clientId, ben.clientId]);
});

test("two tabs of one browser share its keys and show the same", async ({ visitor }) => {
  const anna = await visitor();
  await anna.settle();
  const tab = anna.on(await anna.context.newPage());
  await tab.open(anna.sessionPath);
  await expect(tab.at("composer")).toBeEnabled();
  await tab.prompt("stream 30");
  await expect(anna.at("message-assistant")).toContainText("word30");
  for (const each of [anna, tab]) {
    await each.expectTruth();
  }
});

test("a removed browser is shut out at once, and no other", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  const ben = await visitor();
  await ben.pair();
  await ben.at("session-row").click();
  await ben.prompt("stream 3");
  await expect(anna.at("message-assistant")).toContainText("word3");
  await ben.rest();

  await anna.prompt("stream 400");
  await expect(anna.streaming).toContainText("word10 ");
  await anna.at("composer").fill("half a thought");
  const revoked = await world.scorel(["host", "clients", "revoke", anna.clientId]);
  expect(revoked, revoked.stderr).toMatchObject({ code: 0 });
  await expect(anna.at("revoked-notice")).toBeVisible(); // long before the answer ends
  await expect(anna.at("composer")).toHaveCount(0);

  await expect(ben.streaming).toContainText("word40 ");
  await ben.at("cancel-turn").click();
  await ben.expectTruth();
  await test.step("and stays out after a reload", async () => {
    await anna.page.reload();
    await expect(anna.at("revoked-notice")).toBeVisible();
    await expect(anna.page.getByText("word")).toHaveCount(0);
    await expect(anna.at("kept-draft")).toHaveValue("half a thought");
  });
  await test.step("until it is paired anew", async () => {
    await anna.page.getByRole("link", { name: "Pair again" }).click();
    await anna.pair();
    await anna.at("session-row").click();
    await anna.expectTruth();
    await expect(anna.at("composer")).toHaveValue("half a thought");
  });
});

test("a canceled turn keeps its partial answer", async ({ visitor }) => {
  const anna = await visitor();
  await anna.settle();
  await anna.prompt("stream 400");
  await expect(anna.streaming).toContainText("word15 ");
  await anna.at("cancel-turn").click();
  await anna.rest();
  const answer = anna.at("message-assistant");
  await expect(answer).toHaveAttribute("data-stop", "aborted");
  await expect(answer).toContainText("canceled here");
  const [, kept] = await anna.said();
  expect(words(400).startsWith(kept?.text ?? "nothing")).toBe(true);
  expect(kept?.text).toContain("word15");
  expect(kept?.text).not.toContain("word400");
  await anna.expectTruth();
  await anna.page.reload();
  await expect(answer).toContainText("canceled here");
  await anna.expectTruth();
});

test("tabs share a connection, and survive the worker that holds it", async ({ world, browser, visitor }) => {
  const way = new Forwarder(world.port);
  try {
    const anna = await visitor();
    anna.url = await way.start();
    await anna.settle();
    const tab = anna.on(await anna.context.newPage());
    await tab.open(anna.sessionPath);
    await expect(tab.at("composer")).toBeEnabled();
    expect(way.connections).toBe(1);

    await tab.prompt("stream 60");
    await expect(anna.streaming).toContainText("word5 ");
    const ended = await endWorkers(browser);
    expect(ended).toHaveLength(1);
    await tab.prompt("remember this");
    await Promise.all([anna, tab].map((each) => each.expectTruth()));
    const asked = (await anna.said()).filter(({ who }) => who === "user").map(({ text }) => text);
    expect(asked).toEqual(["stream 60", "remember this"]);
    expect(way.connections).toBe(1);
    expect(await workers(browser)).not.toEqual(ended);
  } finally {
    await way.stop();
  }
});

async function workers(browser: Browser): Promise<string[]> {
  const cdp = await browser.newBrowserCDPSession();
  const { targetInfos } = await cdp.send("Target.getTargets");
  await cdp.detach();
  const holds = ({ type, url }: { type: string; url: string }) => type === "shared_worker" && url.includes("/worker-");
  return targetInfos.filter(holds).map(({ targetId }) => targetId);
}

/** Ends the workers with the connections without notice, as a crash of their process does. */
async function endWorkers(browser: Browser): Promise<string[]> {
  const ids = await workers(browser);
  const cdp = await browser.newBrowserCDPSession();
  for (const targetId of ids) {
    await cdp.send("Target.closeTarget", { targetId });
  }
  await cdp.detach();
  return ids;
}
