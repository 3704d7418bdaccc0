import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { drafts } from "./drafts";
import { expect, test } from "./harness";

test("a file is opened from the transcript, and changes are committed", async ({ world, visitor }) => {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: world.project, env: { ...world.env }, encoding: "utf8" }).trim();
  git("config", "--global", "user.name", "Ada");
  git("config", "--global", "user.email", "ada@example.org");
  git("init", "-q", "-b", "main");
  const anna = await visitor();
  await anna.settle();
  for (const folder of ["relay", "host"]) {
    mkdirSync(join(world.project, folder));
    world.write(`${folder}/conn.go`, `package ${folder}\n\nconst bound = 64\n`);
  }
  world.write("relay/queue.go", "package relay\n\nconst depth = 256\n");
  git("add", ".");
  git("commit", "-qm", "first");

  await test.step("a file", async () => {
    await anna.prompt(`use read_file {"path": "lamp.go", "offset": 4}`);
    await anna.rest();
    await anna.at("tool-card").getByRole("button").first().click();
    await anna.at("file-link").click();
    await expect(anna.at("file-text").locator("[aria-current]")).toContainText("const Period = 10");
  });

  await test.step("a file that is named without its folder", async () => {
    await anna.page.keyboard.press("Escape");
    await anna.prompt(`use bash {"command": "echo queue.go:3; echo conn.go:1"}`);
    await anna.rest();
    await anna.at("tool-card").last().getByRole("button").first().click();
    await anna.at("file-link").filter({ hasText: "queue.go:3" }).click();
    await expect(anna.at("file-text").locator("[aria-current]")).toContainText("const depth = 256");
    await anna.page.keyboard.press("Escape");
    await anna.at("file-link").filter({ hasText: "conn.go:1" }).click();
    await expect(anna.at("file-match")).toHaveText(["host/conn.go", "relay/conn.go"]);
    await anna.at("file-match").last().click();
    await expect(anna.at("file-text").locator("[aria-current]")).toContainText("package relay");
  });

  await test.step("a commit", async () => {
    await anna.at("part-git").click();
    await expect(anna.at("branch")).toHaveText("main");
    await expect(anna.page.getByText("Nothing to commit")).toBeVisible();
    world.write("lamp.go", world.read("lamp.go").replace("10", "12"));
    world.write("notes.txt", "not yet\n");
    await anna.page.getByRole("button", { name: "Reload" }).click();
    const changed = anna.at("change").filter({ hasText: "lamp.go" });
    await changed.getByRole("button").first().click();
    await expect(anna.page.getByRole("table", { name: "Changes in lamp.go" })).toContainText("const Period = 12");
    await anna.page.getByRole("checkbox", { name: "Include notes.txt in the commit" }).uncheck();
    await anna.at("commit-message").fill("lamp: turn more slowly");
    await anna.at("commit").click();
    await expect(anna.at("committed")).toBeFocused();
    expect(git("log", "-1", "--format=%an: %s")).toBe("Ada: lamp: turn more slowly");
    expect(git("show", "--name-only", "--format=", "HEAD")).toBe("lamp.go");
    await expect(changed).toHaveCount(0);
  });

  await test.step("the history", async () => {
    await anna.at("part-history").click();
    await expect(anna.at("commit-row")).toHaveText([/^lamp: turn more slowly/, /^first/]);
  });
});

test("a large file reaches the agent byte for byte, and another is rejected before it is sent", async ({ visitor }) => {
  const anna = await visitor();
  await anna.pair();
  await anna.addProject();
  await anna.startSession();
  const buffer = Buffer.alloc(700_000, "PK\x03\x04\r\n\xff", "latin1");
  const attach = (name: string, content: Buffer) =>
    anna.at("attach-input").setInputFiles({ name, mimeType: "application/zip", buffer: content });
  await attach("huge.zip", Buffer.alloc((16 << 20) + 1, 255));
  await expect(anna.page.getByRole("alert")).toContainText("huge.zip is larger than 16 MiB");
  await attach("my build.zip", buffer);
  await expect(anna.at("attached-files")).toContainText("my build.zip");
  // Unsent attachments survive the page.
  await expect.poll(async () => (await anna.page.evaluate(drafts, "images")).length).toBe(1);
  await anna.page.reload();
  await expect(anna.at("attached-files")).toContainText("my build.zip");
  await anna.prompt("help");
  await expect(anna.page).toHaveURL(/\/s\/[^/]+$/);
  await anna.rest();
  await expect(anna.at("sent-file")).toContainText("my_build.zip684 KiB");
  const said = JSON.stringify(anna.log().find((line) => line.message?.role === "user")?.message);
  const path = /Path: (\S+?)\\n/.exec(said)?.[1] ?? "";
  expect(readFileSync(path).equals(buffer)).toBe(true);
});

test("a draft whose file does not fit in the browser's storage reports it, and keeps its text", async ({ visitor }) => {
  const anna = await visitor();
  await anna.pair();
  await anna.addProject();
  await anna.startSession();
  // Like a full disk: the browser aborts the transaction, and nothing of it is stored.
  await anna.page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (value, key) {
      const request = key === undefined ? put.call(this, value) : put.call(this, value, key);
      if (this.transaction.db.name === "scorel-drafts" && this.name === "images") {
        this.transaction.abort();
      }
      return request;
    };
  });
  await anna.at("composer").fill("read this");
  const buffer = Buffer.alloc(700, "PK\x03\x04\xff\x00", "latin1");
  await anna.at("attach-input").setInputFiles({ name: "build.zip", mimeType: "application/zip", buffer });
  await expect(anna.at("draft-unkept")).toContainText("no room to keep the attachments", { timeout: 20_000 });
  await anna.at("composer").fill("read this file");
  await expect.poll(() => anna.page.evaluate(drafts, "texts")).toEqual(["read this file"]);
  await anna.page.reload();
  await expect(anna.at("composer")).toHaveValue("read this file");
  await expect(anna.at("attached-files")).toHaveCount(0);
  await expect(anna.at("draft-unkept")).toHaveCount(0);
});
