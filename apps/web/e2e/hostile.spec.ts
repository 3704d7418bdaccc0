import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Canary, livePartsOf } from "./canary";
import { expect, test } from "./harness";
import { ansi, fileNames, hostileMessages, html, markdown, svg } from "./hostile";
import { appendMessages } from "./log";
import type { Visitor } from "./visitor";

// Output of a model, a file, a program or a forged copy is text. Nothing of it runs, opens or is fetched, and the
// Content-Security-Policy has nothing to block: its reports fail the test too.

/** Asserts that nothing happened, and that no live parts exist. */
async function expectHarmless(anna: Visitor, canary: Canary): Promise<void> {
  expect(await livePartsOf(anna.page)).toEqual([]);
  expect(canary.breaches).toEqual([]);
}

async function openCards(anna: Visitor): Promise<void> {
  const closed = anna.at("tool-card").locator("button[aria-expanded=false]");
  await expect(async () => {
    for (const button of await closed.all()) {
      await button.click({ timeout: 1000 });
    }
    expect(await closed.count()).toBe(0);
  }).toPass();
}

test("hostile messages, names and copies are text, online and offline", async ({ world, recorder, visitor }) => {
  mkdirSync(join(world.home, "code", `<img src=x onerror=breached("folder")>`));
  for (const name of fileNames) {
    world.write(name, svg);
  }
  const sent = await world.scorel(["send", "--project", world.project, "-"], `<img src=x onerror=breached("title")>`);
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  await world.killHost();
  appendMessages(world.scorelHome, hostileMessages());
  await world.startHost();

  const anna = await visitor({ proxy: recorder.proxy });
  const canary = await Canary.watch(anna.context, recorder);
  await anna.pair();
  await canary.expectAwake(anna.page);
  await anna.at("session-row").click();
  const last = anna.page.getByText("This is the last one.");

  await test.step("in the transcript", async () => {
    await expect(last).toBeVisible();
    await openCards(anna);
    await anna.toTheBeginning();
    await expect(anna.at("message-user").nth(1)).toContainText(`breached("script")`);
    await expectHarmless(anna, canary);
  });

  await test.step("in links that were pressed", async () => {
    for (const name of ["one", "two", "three", "four", "five", "seven"]) {
      await anna.at("message-assistant").getByText(name, { exact: true }).first().click({ timeout: 5000 });
    }
    await expectHarmless(anna, canary);
  });

  await test.step("in branches and files", async () => {
    await anna.at("open-tree").click();
    await expect(anna.at("tree-node").first()).toBeVisible();
    await expectHarmless(anna, canary);
    await anna.page.getByRole("button", { name: "Close" }).click();
    await anna.at("open-changes").click();
    await anna.at("part-files").click();
    await anna.at("file-entry").filter({ hasText: ".svg" }).click();
    await expect(anna.at("file-text")).toContainText(`onload="breached('file')"`);
    await expectHarmless(anna, canary);
    await anna.page.getByRole("button", { name: "Close" }).click();
  });

  await test.step("from a forged copy", async () => {
    await anna.page.evaluate(() => navigator.serviceWorker.ready.then(() => null));
    await world.killHost();
    await world.killRelay();
    const forge = { clientId: anna.clientId, session: anna.sessionId, text: `${html}\n\n${markdown}` };
    // The page may store its own text once more after the forged one.
    await expect(async () => {
      expect(await anna.page.evaluate(forgeCopy, forge)).toBe("forged");
      const response = await anna.page.reload();
      expect(response?.fromServiceWorker()).toBe(true);
      expectPolicy(response?.headers() ?? {});
      await expect(anna.at("session-strip")).toContainText("Saved copy");
      await expect(anna.page.getByText("This was forged.").last()).toBeVisible({ timeout: 10_000 });
    }).toPass();
    await expectHarmless(anna, canary);
  });
});

test("hostile answers while they stream, diffs, approvals and terminals are text", async ({
  world,
  recorder,
  visitor,
}) => {
  const anna = await visitor({ proxy: recorder.proxy });
  const canary = await Canary.watch(anna.context, recorder);
  await anna.settle();
  await canary.expectAwake(anna.page);

  await test.step("an answer that streams", async () => {
    await anna.prompt(markdown.slice(0, 490).replaceAll('"', "'"));
    await expect(anna.at("message-assistant")).toContainText("eight");
    await anna.rest();
    await expectHarmless(anna, canary);
  });

  await test.step("a file that is written, as card, diff and change", async () => {
    await anna.prompt(`write ${fileNames[0]}: ${html.replaceAll("\n", " ")}`);
    await expect(anna.at("approval-card")).toContainText("<script>");
    await expectHarmless(anna, canary);
    await anna.at("approval-allow").click();
    await anna.rest();
    await openCards(anna);
    await anna.at("open-changes").click();
    await anna.at("change").getByRole("button").first().click();
    await expect(anna.at("change")).toContainText("<script>");
    await expectHarmless(anna, canary);
    await anna.page.getByRole("button", { name: "Close" }).click();
  });

  await test.step("a question", async () => {
    await anna.prompt(
      `use clarify ${JSON.stringify({ question: `${html}\n\n${markdown}`, choices: [html.slice(0, 400), "harmless"] })}`,
    );
    await expect(anna.at("question-choice").last()).toBeVisible();
    await expectHarmless(anna, canary);
    await anna.at("question-choice").last().click();
    await anna.rest();
  });

  await test.step("what a program writes into a terminal", async () => {
    world.write("escapes", ansi);
    expect((await world.scorel(["host", "clients", "grant", anna.clientId, "shell"])).code).toBe(0);
    await anna.open(anna.sessionPath.split("/s/")[0]);
    await anna.at("open-terminals").click();
    const screen = anna.at("terminal-screen");
    await expect(anna.at("terminal-state")).toHaveAttribute("data-state", "open");
    await screen.getByRole("textbox").pressSequentially(`cat ${world.project}/escapes; echo en''d`);
    await anna.page.keyboard.press("Enter");
    const rows = screen.locator(".xterm-rows");
    await expect(rows).toContainText("end");
    // Another layer of the terminal receives the mouse.
    await rows.getByText("press here").last().click({ force: true });
    await expectHarmless(anna, canary);
  });
});

test("hostile addresses are text, and every response has the policy", async ({ world, recorder, visitor }) => {
  const anna = await visitor({ proxy: recorder.proxy });
  const canary = await Canary.watch(anna.context, recorder);
  await anna.pair();
  await canary.expectAwake(anna.page);
  const text = encodeURIComponent(`<img src=x onerror=breached("address")>${markdown}`);
  const script = encodeURIComponent(`javascript:breached("address")`);
  for (const path of [`/share?text=${text}&url=${script}`, `/pair#${text}`, `/d/${text}`, `/${script}`]) {
    await anna.open(path);
    await expect(anna.page.getByRole("heading").first()).toBeVisible();
    await expectHarmless(anna, canary);
  }
  const [asset = ""] = await anna.page.evaluate(() => [...document.scripts].map((each) => new URL(each.src).pathname));
  for (const path of [
    "/",
    "/pair",
    "/d/x/s/y",
    "/share",
    asset,
    "/sw.js",
    "/manifest.webmanifest",
    "/icon.svg",
    "/no.such",
  ]) {
    const response = await anna.context.request.get(world.url + path);
    expectPolicy(response.headers());
  }
});

/** Asserts that scripts and styles come from files of this server, and nothing from another. */
function expectPolicy(headers: Record<string, string>): void {
  const policy = new Map(
    (headers["content-security-policy"] ?? "").split(";").map((each) => {
      const [name = "", ...sources] = each.trim().split(/\s+/);
      return [name, sources.join(" ")] as const;
    }),
  );
  expect(Object.fromEntries(policy)).toMatchObject({
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "worker-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
  });
  expect([...policy.values()].join(" ")).not.toMatch(/unsafe|https?:(?!\/\/127\.0\.0\.1:)|\*(?!$)(?!\s)/);
  expect(headers["x-content-type-options"]).toBe("nosniff");
}

interface Forge {
  clientId: string;
  session: string;
  text: string;
}

/** Replaces the text in the copy of a session, sealed as the page would; runs in the page. */
async function forgeCopy({ clientId, session, text }: Forge): Promise<string> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const opening = indexedDB.open("scorel-copies", 1);
  opening.onupgradeneeded = () => opening.transaction?.abort();
  const db = await done(opening).catch(() => null);
  if (!db) {
    return "no database";
  }
  const store = (name: string) => db.transaction(name, "readwrite").objectStore(name);
  const row = (await done(store("rows").getAll())).find(({ id }) => id === session);
  if (!row) {
    db.close();
    return "no copy";
  }
  const body = await done(store("bodies").get([row.deviceId, row.id]));
  const key = await done(store("keys").get(row.deviceId));
  const scope = ["scorel-copy-1", clientId, row.deviceId, row.projectId, row.id, row.savedAt];
  const additionalData = new TextEncoder().encode(JSON.stringify(scope));
  const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv: body.iv, additionalData }, key, body.sealed);
  const copy = JSON.parse(new TextDecoder().decode(plain));
  for (const { message } of copy.entries) {
    if (message?.role === "assistant") {
      message.content = [{ type: "text", text: `${text}\n\nThis was forged.` }];
    }
  }
  copy.summary.name = text;
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const bytes = new TextEncoder().encode(JSON.stringify(copy));
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData }, key, bytes);
  await done(store("bodies").put({ ...body, iv, sealed }));
  db.close();
  return "forged";
}
