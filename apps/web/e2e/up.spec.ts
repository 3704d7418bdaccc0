import { expect, test } from "./harness";
import { json } from "./process";
import { words } from "./visitor";

interface Ready {
  ready: boolean;
  url: string;
  relay: string;
  deviceId: string;
  home: string;
}

test.use({ options: { parts: "none" } });

test("one command makes everything usable, for one browser, and ends cleanly", async ({ world, visitor }) => {
  const up = world.start("up", "--no-open", "--json", "--listen", "127.0.0.1:0", "--project", world.project);
  const ready = await up.line(json<Ready>("ready"));
  expect(ready).toMatchObject({ ready: true, home: world.scorelHome });
  expect(ready.url.startsWith(`${ready.relay}/pair#`)).toBe(true);

  const anna = await visitor();
  await anna.page.goto(ready.url);
  await expect(anna.page).toHaveURL(`${ready.relay}/d/${ready.deviceId}`);
  await anna.newSession();
  await anna.prompt("stream 30");
  await anna.expectTruth();
  expect((await anna.said()).at(-1)?.text).toBe(words(30));

  const ben = await visitor();
  await ben.page.goto(ready.url);
  await expect(ben.page.getByRole("alert")).toContainText("No machine shows this code now");

  await test.step("the running home is not taken over", async () => {
    const second = await world.scorel(["up", "--no-open", "--json", "--listen", "127.0.0.1:0"]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain("scorel host status");
  });
  await up.stop();
  expect(up.output.split("\n")).toHaveLength(1);
  await expect(anna.at("session-strip")).toBeVisible();
});
