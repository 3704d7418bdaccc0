import { mkdirSync } from "node:fs";
import { Forwarder } from "./forwarder";
import { expect, test } from "./harness";
import { conversation, readSession } from "./log";
import { Visitor } from "./visitor";
import { World } from "./world";

const shots = process.env.SHOTS;

/** Starts a second machine on the relay of the first one. */
async function secondMachine(world: World): Promise<World> {
  const desk = new World({ parts: "none" });
  await desk.joinRelay(world.url, "desk");
  return desk;
}

/** Pairs the browser of a person with another machine, and returns the machine's id. */
async function pairWith(desk: World, person: Visitor): Promise<string> {
  const there = new Visitor(desk, await person.context.newPage());
  there.url = person.url;
  await there.open("/pair");
  await there.pair();
  const [, device = ""] = /\/d\/([^/]+)/.exec(there.page.url()) ?? [];
  if ((await there.at("project-row").count()) === 0) {
    await there.page.close();
  }
  return device;
}

/** Waits until the page shows the session on a machine, in sync with it. */
async function isAt(person: Visitor, device: string, sessionId: string): Promise<void> {
  await expect(person.page).toHaveURL(new RegExp(`/d/${device}/s/${sessionId}$`));
  await expect(person.at("composer")).toBeEnabled();
}

async function shot(person: Visitor, name: string): Promise<void> {
  if (!shots) {
    return;
  }
  mkdirSync(shots, { recursive: true });
  const { page } = person;
  for (const [size, viewport] of Object.entries({
    desk: { width: 1280, height: 800 },
    phone: { width: 390, height: 844 },
  })) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${shots}/${name}-${size}-${colorScheme}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a session moves to another machine, and every browser follows it", async ({ world, visitor }) => {
  const desk = await secondMachine(world);
  const way = new Forwarder(world.port);
  try {
    const anna = await visitor();
    const sessionId = await anna.settle();
    await anna.prompt("stream 20");
    await anna.rest();
    const ben = await visitor();
    const far = await visitor();
    far.url = await way.start();
    const lone = await visitor();
    for (const other of [ben, far, lone]) {
      await other.open();
      await other.pair();
    }
    const deviceId = await pairWith(desk, anna);
    await desk.scorel(["project", "add", desk.project]);
    for (const other of [ben, far]) {
      expect(await pairWith(desk, other)).toBe(deviceId);
    }
    for (const other of [ben, far, lone]) {
      await other.open(anna.sessionPath);
      await expect(other.at("message-user")).toHaveCount(1);
    }

    await test.step("a prompt is typed offline in one browser, drafts in two others", async () => {
      way.close();
      await far.prompt("stream 3");
      await expect(far.page.locator("[data-testid=message-state]")).toHaveCount(1);
      await ben.at("composer").fill("half a thought");
      await lone.at("composer").fill("nobody loses this");
    });

    await test.step("the move is begun on the page", async () => {
      await anna.at("session-menu").first().click();
      await shot(anna, "menu");
      await anna.at("move-session").click();
      await expect(anna.at("move-machine")).toHaveCount(1);
      await anna.at("move-machine").check();
      await expect(anna.at("move-start")).toBeEnabled();
      await shot(anna, "choice");
      await anna.at("move-start").click();
      await isAt(anna, deviceId, sessionId);
      await expect(anna.page.getByText("This session is now on desk.")).toBeVisible();
      await shot(anna, "arrived");
    });

    await test.step("who watched is there as well, with the draft", async () => {
      await isAt(ben, deviceId, sessionId);
      await expect(ben.at("composer")).toHaveValue("half a thought");
    });

    await test.step("a browser that is not paired with it says where it is and keeps the draft", async () => {
      await expect(lone.at("moved-to")).toHaveText(deviceId);
      await expect(lone.at("kept-draft")).toHaveValue("nobody loses this");
      await shot(lone, "not-paired");
    });

    await test.step("the prompt typed offline arrives there, once", async () => {
      way.cut();
      await isAt(far, deviceId, sessionId);
      await expect(() => {
        const said = conversation(readSession(desk.scorelHome, sessionId));
        expect(said.filter(({ text }) => text === "stream 3")).toHaveLength(1);
        expect(said.at(-1)?.text).toBe("word1 word2 word3");
      }).toPass();
      for (const each of [anna, ben, far]) {
        await expect.poll(async () => (await each.said()).filter(({ text }) => text === "stream 3").length).toBe(1);
      }
    });

    await test.step("lists have it once", async () => {
      await anna.open("/");
      await expect(anna.page.locator(`a[href*="${sessionId}"]`).first()).toHaveAttribute("href", new RegExp(deviceId));
      await expect(anna.page.locator(`main a[href*="${sessionId}"]`)).toHaveCount(1);
    });

    await test.step("once paired, the last browser follows with its draft", async () => {
      await pairWith(desk, lone);
      await isAt(lone, deviceId, sessionId);
      await expect(lone.at("composer")).toHaveValue("nobody loses this");
    });
  } finally {
    await way.stop();
    await desk.end();
  }
});

test("a move that waits for a turn is canceled at once, and a machine that is away cannot be chosen", async ({
  world,
  visitor,
}) => {
  const desk = await secondMachine(world);
  try {
    const anna = await visitor();
    await anna.settle();
    const { sessionPath } = anna;
    await pairWith(desk, anna);
    await desk.scorel(["project", "add", desk.project]);
    await anna.prompt("stream 100000");
    await expect(anna.streaming).toHaveCount(1);

    await test.step("it waits for the running turn, and Cancel ends that", async () => {
      await anna.at("session-menu").first().click();
      await anna.at("move-session").click();
      await anna.at("move-machine").check();
      await anna.at("move-start").click();
      await expect(anna.at("move-state")).toContainText("running turn");
      await shot(anna, "waiting");
      await anna.at("move-cancel").click();
      await expect(anna.at("move-start")).toBeVisible();
      await expect(anna.page.getByText("The move was canceled. The session stays here.")).toBeVisible();
      await anna.page.keyboard.press("Escape");
    });

    await test.step("the session goes on where it was", async () => {
      await anna.at("cancel-turn").click();
      await anna.rest();
      await expect(async () => {
        const { moves } = await world.moves();
        expect(moves.filter(({ state }) => state !== "canceled")).toEqual([]);
      }).toPass();
      await anna.prompt("stream 3");
      await anna.rest();
      expect(anna.sessionPath).toBe(sessionPath);
    });

    await test.step("a machine that is away says so", async () => {
      await desk.killHost();
      await anna.at("session-menu").first().click();
      await anna.at("move-session").click();
      await expect(anna.at("move-machine")).toBeDisabled();
      await expect(anna.page.getByText("Not connected")).toBeVisible();
      await expect(anna.at("move-start")).toBeDisabled();
      await shot(anna, "away");
    });
  } finally {
    await desk.end();
  }
});
