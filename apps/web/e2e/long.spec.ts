import { randomBytes } from "node:crypto";
import { expect, test } from "./harness";
import { json } from "./process";

/** Text that no compression makes small. */
const noise = (bytes: number) => randomBytes(bytes / 2).toString("hex");

test("a session of several megabytes opens whole, and a message as large goes out", async ({ world, visitor }) => {
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
  await expect(anna.at("message-user")).toHaveCount(long.length);
  await anna.expectTruth();
  long.push(noise(900_000));
  await anna.prompt(long.at(-1) ?? "");
  await anna.prompt("run seq 1 100000");
  await anna.at("approval-allow").click();
  await anna.expectTruth();
  const said = (await anna.said()).filter((each) => each.who === "user").map((each) => each.text);
  expect(said).toEqual([...long, "run seq 1 100000"]);
});
