// @vitest-environment node
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { keepWords, type NoticeAnswer, type Pushed, takeAnswers } from "../api/notices";
import { clicked, type NoticeScope, pushedOf, show } from "./notices";

const origin = "https://relay.test";
let files: Map<string, string>;
let shown: { title: string; options: NotificationOptions & { actions?: { action: string; title: string }[] } }[];
let closed: string[];
let opened: string[];
let focused: string[];
let pages: string[];

const scope = {
  registration: {
    scope: `${origin}/push/dev_a/`,
    showNotification: async (title: string, options: NotificationOptions) => void shown.push({ title, options }),
    getNotifications: async ({ tag }: { tag: string }) => [{ close: () => closed.push(tag) }],
  },
  clients: {
    matchAll: async () => pages.map((path) => ({ url: origin + path, focus: async () => focused.push(path) })),
    openWindow: async (path: string) => opened.push(path),
  },
} as unknown as NoticeScope;

const approval: Pushed = {
  ...{ kind: "approval", device: "dev_a", tag: "ses_1", session: "ses_1", asks: "ses_2", title: "Fix it" },
  ...{ text: "make", approval: "apr_1", shown: "hash", actions: ["allow", "deny"] },
};

function click(action: string, pushed = approval, reply?: string): Promise<void> {
  return clicked(scope, { action, reply, notification: { data: pushed, close: () => {} } as unknown as Notification });
}

const stored = () => [...files].filter(([path]) => path.startsWith("/answers/")).map(([, text]) => JSON.parse(text));

beforeEach(() => {
  [shown, closed, opened, focused, pages] = [[], [], [], [], []];
  files = new Map();
  const pathOf = (request: Request | string) => (typeof request === "string" ? request : new URL(request.url).pathname);
  vi.stubGlobal("caches", {
    has: async () => true,
    open: async () => ({
      put: async (path: string, response: Response) => void files.set(path, await response.text()),
      match: async (path: Request | string) => {
        const text = files.get(pathOf(path));
        return text === undefined ? undefined : new Response(text);
      },
      keys: async () => [...files.keys()].map((path) => ({ url: origin + path })),
      delete: async (request: Request) => files.delete(pathOf(request)),
    }),
  });
  let turn: Promise<unknown> = Promise.resolve();
  vi.stubGlobal("navigator", {
    locks: { request: (_: string, run: () => Promise<void>) => (turn = turn.then(run)) },
  });
});

afterEach(() => vi.unstubAllGlobals());

it("shows what is asked in the words of the page, with its buttons", async () => {
  await keepWords({ approval: "需要审批", allow: "允许", deny: "拒绝" });
  await show(scope, { ...approval, count: 2 });
  expect(shown[0]).toMatchObject({
    title: "Fix it",
    options: { body: "需要审批 (2)\nmake", tag: "dev_a ses_1", silent: false },
  });
  expect(shown[0]?.options.actions?.map(({ title }) => title)).toEqual(["允许", "拒绝"]);
});

it("says no more than that a session needs someone where the host says no more", async () => {
  await keepWords({ approval: "Approval needed", other: "A session needs you" });
  await show(scope, { kind: "approval", device: "dev_a", tag: "ses_1", session: "ses_1", title: "" });
  expect(shown[0]).toMatchObject({ title: "scorel", options: { body: "A session needs you" } });
});

it("shows nothing of what one machine says about another", async () => {
  await show(scope, { ...approval, device: "dev_b" });
  expect(shown[0]).toMatchObject({ title: "scorel", options: { tag: "dev_a other", actions: [] } });
  expect(shown[0]?.options.data).toEqual({ kind: "other", device: "dev_a", tag: "other" });
});

it("closes what is withdrawn, without a sound", async () => {
  await show(scope, { kind: "gone", device: "dev_a", tag: "ses_1", gone: true });
  expect(shown[0]?.options.silent).toBe(true);
  expect(closed).toEqual(["dev_a ses_1"]);
});

it("keeps a notification that comes while another one is withdrawn", async () => {
  const [stored, visible] = [new Set<string>(), new Set<string>()];
  const registration = {
    scope: scope.registration.scope,
    // As Chromium does it: what is stored and not visible yet is deleted by a question for all.
    showNotification: async (_: string, { tag = "", silent }: NotificationOptions) => {
      stored.add(tag);
      for (let i = 0; i < (silent ? 1 : 20); i++) {
        await null;
      }
      stored.has(tag) && visible.add(tag);
    },
    getNotifications: async ({ tag }: { tag: string }) => {
      for (const each of stored) {
        visible.has(each) || stored.delete(each);
      }
      return [{ close: () => visible.delete(tag) }];
    },
  };
  const both = { ...scope, registration } as unknown as NoticeScope;
  await Promise.all([show(both, { kind: "gone", device: "dev_a", tag: "ses_3", gone: true }), show(both, approval)]);
  expect([...visible]).toEqual(["dev_a ses_1"]);
});

it.each([
  [null, "other"],
  [{ json: () => ({ kind: "later", device: "dev_a", tag: "x" }) }, "later"],
  [
    {
      json: () => {
        throw new SyntaxError("no JSON");
      },
    },
    "other",
  ],
])("shows a message of an unknown form too", (data, kind) => {
  expect(pushedOf(data)).toMatchObject({ kind });
});

it("hands an answer to one open page, once, with the hash of what was shown", async () => {
  const taken: NoticeAnswer[] = [];
  const ends = [1, 2].map(() => takeAnswers(async (answer) => void taken.push(answer)));
  await click("allow");
  await vi.waitFor(() => expect(stored()).toEqual([]));
  expect(taken).toMatchObject([{ asks: "ses_2", approval: "apr_1", shown: "hash", decision: "allow" }]);
  expect(opened).toEqual([]);
  for (const end of ends) {
    end();
  }
});

it("opens the session without a page, which then finds the answer", async () => {
  await click("deny");
  expect(opened).toEqual(["/d/dev_a/s/ses_1"]);
  expect(stored()).toMatchObject([{ decision: "deny", session: "ses_1" }]);
  const taken: NoticeAnswer[] = [];
  const end = takeAnswers(async (answer) => void taken.push(answer));
  await vi.waitFor(() => expect(stored()).toEqual([]));
  expect(taken).toHaveLength(1);
  end();
});

it("keeps an answer whose page ended before it was sent", async () => {
  await click("deny");
  const end = takeAnswers(() => Promise.reject(new Error("the page ended")));
  await new Promise((resolve) => setTimeout(resolve));
  expect(stored()).toHaveLength(1);
  end();
});

it.each([
  ["", approval],
  ["allow", { ...approval, shown: undefined } as unknown as Pushed],
  ["reply", { kind: "ended", device: "dev_a", tag: "ses_1", session: "ses_1" }],
])("only opens the session for %j without an answer", async (action, pushed) => {
  pages = ["/", "/d/dev_a/s/ses_1"];
  await click(action, pushed);
  expect(stored()).toEqual([]);
  expect(focused).toEqual(["/d/dev_a/s/ses_1"]);
  expect(opened).toEqual([]);
});

it("keeps a reply as it was typed", async () => {
  await click("reply", { ...approval, approval: undefined, question: "qst_1" } as unknown as Pushed, " blue \n");
  expect(stored()).toMatchObject([{ question: "qst_1", reply: "blue", asks: "ses_2" }]);
});
