import { expect, test } from "./harness";

test("a read session is readable without relay and host, and continues when they are back", async ({
  world,
  visitor,
}) => {
  const anna = await visitor();
  const session = await anna.settle();
  const path = anna.sessionPath;
  await anna.prompt("remember the lighthouse");
  await anna.expectTruth();
  const said = await anna.said();
  const time = await anna.page.evaluate(() => Date.now());
  // Copies stored from now on contain all of it.
  await anna.prompt("one more");
  await anna.expectTruth();
  await expect.poll(async () => (await anna.page.evaluate(copies))[session] ?? 0).toBeGreaterThanOrEqual(time);
  await anna.page.evaluate(() => navigator.serviceWorker.ready.then(() => null));
  const device = path.split("/s/")[0]?.slice(3) ?? "";
  await anna.open(`/d/${device}`);
  await expect(anna.at("session-row")).toContainText("remember the lighthouse");
  await expect.poll(async () => Object.keys(await anna.page.evaluate(copies))).toContain("list list_projects {}");
  await anna.page.close();
  await world.killHost();
  await world.killRelay();

  const later = anna.on(await anna.context.newPage());
  await test.step("the list and the session, with the time of the copy", async () => {
    await later.open(`/d/${device}`);
    await expect(later.at("saved-copy")).toContainText("Saved copy from");
    await later.at("session-row").click();
    await expect(later.at("session-strip")).toContainText("Saved copy from");
    await expect.poll(async () => (await later.said()).slice(0, said.length)).toEqual(said);
    await later.page.reload();
    await expect.poll(async () => (await later.said()).slice(0, said.length)).toEqual(said);
  });

  await test.step("it becomes the session again", async () => {
    await world.startRelay();
    await world.startHost();
    await expect(later.at("session-strip")).toHaveCount(0, { timeout: 120_000 });
    await later.prompt("and go on");
    await later.expectTruth();
  });
});

/** Returns when the copies on the browser's disk were saved, by id; runs in the page. */
function copies(): Promise<Record<string, number>> {
  return new Promise((resolve) => {
    const opened = indexedDB.open("scorel-copies", 1);
    // The worker creates the stores, and may not have done so yet.
    opened.onerror = () => resolve({});
    opened.onupgradeneeded = () => opened.transaction?.abort();
    opened.onsuccess = () => {
      const all = opened.result.transaction("rows").objectStore("rows").getAll();
      all.onsuccess = () => {
        opened.result.close();
        resolve(Object.fromEntries(all.result.map(({ id, savedAt }) => [id, savedAt])));
      };
    };
  });
}
