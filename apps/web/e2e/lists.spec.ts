import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "./harness";
import { conversation, lengthenSession, sessionFiles } from "./log";

test("a project of many sessions shows the newest, and loads the others on scrolling", async ({ world, visitor }) => {
  const sent = await world.scorel(["send", "--project", world.project, "stream 3"]);
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  await world.killHost();
  const file = sessionFiles(world.scorelHome)[0] ?? "none";
  const text = readFileSync(file, "utf8");
  const first = JSON.parse(text.split("\n")[0] ?? "") as { id: string };
  const count = 400;
  for (let i = 0; i < count; i++) {
    const id = randomUUID();
    // One a minute, the last a day ago.
    const at = new Date(Date.now() - 86_400_000 - (count - i) * 60_000).toISOString();
    const lines = text
      .split("\n")
      .slice(0, 1)
      .concat(
        JSON.stringify({ type: "session_info", id: "aaaaaaaa", parentId: null, timestamp: at, name: `number ${i}` }),
      );
    const copy = lines
      .join("\n")
      .replace(first.id, id)
      .replace(/"clientKey":"[^"]*"/, `"clientKey":"${id}"`);
    const dated = copy.replace(/"timestamp":"[^"]*"/, `"timestamp":"${at}"`);
    writeFileSync(join(dirname(file), basename(file).replace(first.id, id)), `${dated}\n`);
  }
  await world.startHost();

  const anna = await visitor();
  await anna.pair();
  await expect(anna.at("session-row")).toHaveCount(6);
  await anna.page.getByRole("button", { name: `Show all ${count + 1} sessions` }).click();
  await expect(anna.at("session-row").first()).toContainText("stream 3");
  await expect(anna.at("session-row").nth(1)).toContainText(`number ${count - 1}`);
  const here = await anna.at("session-row").count();
  expect(here).toBeLessThan(count / 2);
  await expect(async () => {
    await anna.page.getByRole("main").evaluate((main) => main.scrollTo(0, main.scrollHeight));
    expect(await anna.at("session-row").count()).toBe(count + 1);
  }).toPass({ timeout: 120_000 });
  await expect(anna.at("session-row").last()).toContainText("number 0");
  const names = await anna.at("session-row").allTextContents();
  expect(new Set(names.map((name) => name.match(/number \d+/)?.[0])).size).toBe(count + 1);

  const listed = await world.scorel(["session", "list", "--json"]);
  expect(listed.stdout.trim().split("\n")).toHaveLength(count + 1);
});

test("a distant hit is visible at once, with its surroundings, and leads on to the end", async ({ world, visitor }) => {
  const sent = await world.scorel(["send", "--project", world.project, "stream 3"]);
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  await world.killHost();
  const texts = Array.from({ length: 2000 }, (_, i) => (i === 700 ? "the lighthouse keeper" : `line ${i}`));
  lengthenSession(world.scorelHome, texts);
  await world.startHost();

  const anna = await visitor();
  await anna.pair();
  const search = anna.page.getByTestId("session-search").last();
  await search.fill("keeper");
  await anna.at("search-hit").click();
  const hit = anna.page.getByText("the lighthouse keeper", { exact: true });
  await expect(hit).toBeInViewport();
  await expect(anna.page.getByText("line 1999", { exact: true })).toHaveCount(0);
  await expect(anna.page.getByText("line 699", { exact: true })).toHaveCount(1);
  await anna.at("to-latest").click();
  await expect(anna.page.getByText("line 1999", { exact: true })).toBeInViewport();

  await test.step("and read on from there it is one with the end", async () => {
    await anna.page.goBack();
    await anna.page.getByTestId("session-search").last().fill("keeper");
    await anna.at("search-hit").click();
    await expect(hit).toBeInViewport();
    await expect(async () => {
      await anna.box.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      expect(await anna.at("later").count()).toBe(0);
    }).toPass({ timeout: 120_000, intervals: [30] });
    expect(await anna.readThrough()).toEqual(conversation(anna.log()).map(({ text }) => text));
  });
});
