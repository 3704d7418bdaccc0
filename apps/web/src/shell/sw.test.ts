// @vitest-environment node
import { afterEach, beforeEach, expect, it, vi } from "vitest";

type Listener = (event: Record<string, unknown>) => void;

const origin = "https://relay.test";
let listeners: Map<string, Listener>;
let stored: Map<string, Map<string, string>>;
let served: string[];
let answer: (path: string) => Response;

beforeEach(async () => {
  listeners = new Map();
  stored = new Map([
    ["scorel-shell-old", new Map()],
    ["of another", new Map()],
  ]);
  served = [];
  answer = (path) => new Response(`server ${path}`);
  const pathOf = (request: Request | string) => (typeof request === "string" ? request : new URL(request.url).pathname);
  vi.stubGlobal("__SHELL__", { version: "v1", files: ["/", "/session.html", "/assets/index-1.js", "/icon.svg"] });
  vi.stubGlobal("location", { origin });
  vi.stubGlobal("registration", { scope: `${origin}/` });
  vi.stubGlobal("skipWaiting", vi.fn());
  vi.stubGlobal("addEventListener", (type: string, listener: Listener) => listeners.set(type, listener));
  vi.stubGlobal(
    "Request",
    class {
      url: string;
      constructor(path: string) {
        this.url = origin + path;
      }
    },
  );
  vi.stubGlobal("fetch", async (request: Request | string) => {
    served.push(pathOf(request));
    return answer(pathOf(request));
  });
  vi.stubGlobal("caches", {
    open: async (name: string) => {
      const files = stored.get(name) ?? new Map<string, string>();
      stored.set(name, files);
      return {
        addAll: async (all: Request[]) => {
          for (const each of all) {
            files.set(pathOf(each), `kept ${pathOf(each)}`);
          }
        },
        match: async (path: string) => (files.has(path) ? new Response(files.get(path)) : undefined),
        put: async (path: string, response: Response) => void files.set(path, await response.text()),
      };
    },
    keys: async () => [...stored.keys()],
    delete: async (name: string) => stored.delete(name),
  });
  vi.resetModules();
  await import("./sw");
});

afterEach(() => vi.unstubAllGlobals());

async function wait(type: string): Promise<void> {
  const done: Promise<unknown>[] = [];
  listeners.get(type)?.({ waitUntil: (each: Promise<unknown>) => done.push(each) });
  await Promise.all(done);
}

/** Returns the answer that the page gets; null if the browser sends the request to the server itself. */
async function get(path: string, mode = "cors", method = "GET", from = origin): Promise<string | null> {
  let given: Promise<Response> | null = null;
  const request = { url: from + path, mode, method };
  listeners.get("fetch")?.({ request, respondWith: (each: Promise<Response>) => (given = each) });
  return given && ((await given) as Response).text();
}

it("caches the files of its version, and deletes those of others once it runs", async () => {
  await wait("install");
  expect([...(stored.get("scorel-shell-v1")?.keys() ?? [])]).toEqual([
    "/",
    "/session.html",
    "/assets/index-1.js",
    "/icon.svg",
  ]);
  expect(stored.has("scorel-shell-old")).toBe(true);
  await wait("activate");
  expect([...stored.keys()]).toEqual(["of another", "scorel-shell-v1"]);
});

it("waits until it is told to start", async () => {
  const skip = vi.mocked((globalThis as unknown as { skipWaiting: () => void }).skipWaiting);
  await wait("install");
  listeners.get("message")?.({ data: "something" });
  expect(skip).not.toHaveBeenCalled();
  listeners.get("message")?.({ data: "activate" });
  expect(skip).toHaveBeenCalledOnce();
});

it.each([
  ["/", "navigate", "kept /"],
  ["/d/dev_a", "navigate", "kept /"],
  ["/d/dev_a/s/ses_1?entry=x", "navigate", "kept /session.html"],
  ["/share?text=hello", "navigate", "kept /"],
  ["/assets/index-1.js", "cors", "kept /assets/index-1.js"],
  ["/icon.svg", "cors", "kept /icon.svg"],
  // The page sends this request to check whether it is up to date.
  ["/", "cors", null],
  ["/healthz", "cors", null],
  ["/healthz", "navigate", null],
  ["/metrics", "navigate", null],
  ["/v1/connect", "navigate", null],
  ["/sw.js", "cors", null],
  ["/file.txt", "navigate", null],
])("answers %s (%s) with %s", async (path, mode, want) => {
  await wait("install");
  expect(await get(path, mode)).toBe(want);
  expect(served).toEqual([]);
});

it("leaves other origins and methods alone", async () => {
  await wait("install");
  expect(await get("/assets/index-1.js", "cors", "GET", "https://elsewhere.test")).toBeNull();
  expect(await get("/", "navigate", "POST")).toBeNull();
});

it("caches an asset once it was used, and none that the server does not have", async () => {
  await wait("install");
  expect(await get("/assets/grammar-1.js")).toBe("server /assets/grammar-1.js");
  expect(await get("/assets/grammar-1.js")).toBe("server /assets/grammar-1.js");
  answer = () => new Response("no", { status: 404 });
  expect(await get("/assets/gone-1.js")).toBe("no");
  expect(await get("/assets/gone-1.js")).toBe("no");
  expect(served).toEqual(["/assets/grammar-1.js", "/assets/gone-1.js", "/assets/gone-1.js"]);
});

it("requests the page from the server when the browser has evicted the cache", async () => {
  expect(await get("/pair", "navigate")).toBe("server /pair");
});
