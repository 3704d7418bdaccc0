import { randomBytes } from "node:crypto";
import { expect, test } from "./harness";
import { lengthenSession, readSession } from "./log";
import { json } from "./process";

/** Returns incompressible text. */
const noise = (bytes: number) => randomBytes(bytes / 2).toString("hex");

test("a session of several megabytes opens with its end, loads the rest on scrolling up, and sends a message as large", async ({
  world,
  visitor,
}) => {
  const long = Array.from({ length: 4 }, () => noise(600_000));
  let session = ["--project", world.project];
  for (const text of long) {
    const sent = await world.scorel(["send", "--json", ...session, "-"], text);
    expect(sent, sent.stderr).toMatchObject({ code: 0 });
    const result = sent.stdout
      .trim()
      .split("\n")
      .map(json<{ sessionId: string; stopReason: string }>("stopReason"))
      .at(-1);
    session = ["--session", result?.sessionId ?? "none"];
  }
  const anna = await visitor();
  await anna.pair();
  await anna.at("session-row").click();
  await expect(anna.at("message-user").last()).toBeVisible();
  await anna.toTheBeginning();
  await expect(anna.at("message-user")).toHaveCount(long.length);
  await anna.expectTruth();
  long.push(noise(900_000));
  await anna.prompt(long.at(-1) ?? "");
  await anna.prompt("run env seq 1 100000");
  await anna.at("approval-allow").click();
  await anna.expectTruth();
  const said = (await anna.said()).filter((each) => each.who === "user").map((each) => each.text);
  expect(said).toEqual([...long, "run env seq 1 100000"]);
});

test("a reader of a very long session stays in place while earlier entries load", async ({ world, visitor }) => {
  const sent = await world.scorel(["send", "--json", "--project", world.project, "-"], "stream 3");
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  await world.killHost();
  const texts = Array.from({ length: 1300 }, (_, i) => `line ${i}`);
  lengthenSession(world.scorelHome, texts);
  await world.startHost();

  const anna = await visitor();
  await anna.pair();
  await anna.at("session-row").click();
  await expect(anna.page.getByText("line 1299", { exact: true })).toBeInViewport();
  expect(await anna.at("message-user").count()).toBeLessThan(200);
  // Up to the end of the host's first answer, in steps: visible content does not move when more is added above it.
  for (let seen = 0; seen < 6; seen++) {
    const rows = await anna.at("message-user").count();
    const moved = await anna.box.evaluate(async (box) => {
      box.scrollTop = 300;
      await new Promise(requestAnimationFrame);
      const row = [...box.querySelectorAll("[data-testid=message-user]")].find((each) => {
        return each.getBoundingClientRect().top > box.getBoundingClientRect().top;
      });
      const before = row?.getBoundingClientRect().top ?? 0;
      const text = row?.textContent;
      return { before, text };
    });
    await expect.poll(() => anna.at("message-user").count()).toBeGreaterThan(rows);
    const after = await anna.page
      .getByText(/^line \d+$/)
      .filter({ hasText: (moved.text ?? "").match(/line \d+/)?.[0] ?? "none" })
      .first()
      .boundingBox();
    expect(Math.abs((after?.y ?? -1000) - moved.before)).toBeLessThan(80);
  }
  await anna.toTheBeginning();
  await expect(anna.page.getByText("line 0", { exact: true })).toHaveCount(1);
  const read = await anna.readThrough();
  expect(read.slice(2)).toEqual(texts);
  await expect(anna.page.getByText("line 1299", { exact: true })).toBeInViewport();
});

test("a message counts its versions that are far above what the page has loaded", async ({ world, visitor }) => {
  const sent = await world.scorel(["send", "--json", "--project", world.project, "-"], "stream 3");
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  const [first = ""] = sent.stdout.split("\n");
  const sessionId = json<{ sessionId: string }>("sessionId")(first)?.sessionId ?? "none";
  await world.killHost();
  const texts = Array.from({ length: 1300 }, (_, i) => `line ${i}`);
  lengthenSession(world.scorelHome, texts);
  const prompt = readSession(world.scorelHome, sessionId).find(({ message }) => message?.role === "user");
  await world.startHost();
  const back = await world.scorel(["session", "rewind", sessionId, prompt?.id ?? "none"]);
  expect(back, back.stderr).toMatchObject({ code: 0 });
  const again = await world.scorel(["send", "--session", sessionId, "-"], "stream 2");
  expect(again, again.stderr).toMatchObject({ code: 0 });

  const anna = await visitor();
  await anna.pair();
  await anna.at("session-row").click();
  await expect(anna.at("versions")).toContainText("Version 2 of 2");
  await anna.page.getByRole("button", { name: "Previous version" }).click();
  await expect(anna.page.getByText("line 1299", { exact: true })).toBeInViewport();
});
