// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { freshBrowser } from "../../test-support/bench";
import type { Draft } from "./contract";
import { Drafts, wipeDrafts } from "./drafts";

beforeEach(freshBrowser);
afterEach(() => {
  vi.useRealTimers();
});

const KEY = "dev_1/ses_1";
const text = (words: string): Draft => ({ text: words, images: [] });
const image = (sha256: string) => ({ sha256, blob: new Blob([sha256], { type: "image/png" }) });
/** Reads a draft as another tab, or this one after a restart, would. */
const kept = (key = KEY) => new Drafts().read(key);

describe("a draft", () => {
  it("is stored once, shortly after typing, under its own key", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const drafts = new Drafts();
    const flush = vi.spyOn(drafts, "flush");
    for (const typed of ["h", "he", "hello"]) {
      drafts.keep(KEY, text(typed));
      vi.advanceTimersByTime(90);
    }
    expect(flush).not.toHaveBeenCalled();
    expect(drafts.peek(KEY)).toEqual(text("hello"));
    vi.advanceTimersByTime(30);
    vi.useRealTimers();
    expect(flush).toHaveBeenCalledTimes(1);
    await flush.mock.results[0]?.value;
    expect(await kept()).toEqual(text("hello"));
    expect(await kept("dev_1/new/prj_1")).toEqual(text(""));
    expect(drafts.peek(KEY)).toBeUndefined();
  });

  it("is stored at once when the page is closed", async () => {
    const drafts = new Drafts();
    drafts.keep(KEY, text("half a thou"));
    await drafts.flush();
    expect(await kept()).toEqual(text("half a thou"));
  });

  it("stores the bytes of its images only when they change", async () => {
    const drafts = new Drafts();
    drafts.keep(KEY, { text: "look", images: [image("aa")] });
    await drafts.flush();
    const again = new Drafts();
    const read = await again.read(KEY);
    expect(read.images).toMatchObject([{ sha256: "aa" }]);
    const put = vi.spyOn(IDBObjectStore.prototype, "put");
    again.keep(KEY, { ...read, text: "look here" });
    await again.flush();
    expect(put).toHaveBeenCalledTimes(1);
    again.keep(KEY, text("look here"));
    await again.flush();
    expect(await kept()).toEqual(text("look here"));
  });

  it("stores its text when the browser does not store its images, and reports it", async () => {
    const drafts = new Drafts();
    const told: unknown[] = [];
    drafts.onTried = (key, unkept) => told.push([key, unkept]);
    const { put: real } = IDBObjectStore.prototype;
    const put = vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, value) {
      if (this.name === "images") {
        throw new DOMException("no room", "QuotaExceededError");
      }
      return real.call(this, value);
    });
    drafts.keep(KEY, { text: "look", images: [image("aa")] });
    drafts.keep("dev_1/ses_2", text("another"));
    await drafts.flush();
    expect(await kept()).toEqual(text("look"));
    expect(await kept("dev_1/ses_2")).toEqual(text("another"));
    expect(drafts.peek(KEY)?.images).toHaveLength(1);
    expect(told).toEqual([
      ["dev_1/ses_2", null],
      [KEY, "images"],
    ]);
    put.mockRestore();
    drafts.keep(KEY, { text: "look", images: [image("bb")] });
    await drafts.flush();
    expect(told.at(-1)).toEqual([KEY, null]);
    expect((await kept()).images).toMatchObject([{ sha256: "bb" }]);
  });

  it("reports that it is not stored when the browser stores nothing", async () => {
    const drafts = new Drafts();
    const told: unknown[] = [];
    drafts.onTried = (_, unkept) => told.push(unkept);
    vi.spyOn(indexedDB, "open").mockImplementation(() => {
      throw new DOMException("closed", "InvalidStateError");
    });
    drafts.keep(KEY, text("look"));
    await drafts.flush();
    expect(told).toEqual(["all"]);
    expect(drafts.peek(KEY)).toEqual(text("look"));
  });

  it("stays on disk until the sent prompt is stored", async () => {
    const drafts = new Drafts();
    drafts.keep(KEY, text("send me"));
    await drafts.flush();
    let stored = () => {};
    drafts.keep(
      KEY,
      text(""),
      new Promise<void>((resolve) => {
        stored = resolve;
      }),
    );
    await drafts.flush();
    expect(await kept()).toEqual(text("send me"));
    stored();
    await expect.poll(() => kept()).toEqual(text(""));
  });

  it("is shown in the other tabs, which do not store it again", async () => {
    const [here, there] = [new Drafts(), new Drafts()];
    const shown: Draft[] = [];
    let focused = false;
    there.onOther(
      (key, draft) => {
        shown.push(draft);
        there.keep(key, draft);
      },
      () => !focused,
    );
    here.keep(KEY, text("from here"));
    await here.flush();
    await expect.poll(() => shown).toEqual([text("from here")]);
    expect(there.peek(KEY)).toBeUndefined();

    focused = true;
    there.keep(KEY, text("typed there"));
    here.keep(KEY, text("older"));
    await here.flush();
    await there.flush();
    expect(await kept()).toEqual(text("typed there"));
    expect(shown).toHaveLength(1);
    for (const drafts of [here, there]) {
      drafts.close();
    }
  });

  it("is deleted with what else is for its machine, and no other", async () => {
    const drafts = new Drafts();
    for (const key of [KEY, "dev_1/new/prj_1", "dev_2/ses_1", "dev_10/ses_1"]) {
      drafts.keep(key, { text: key, images: [image("aa")] });
    }
    await drafts.flush();
    await wipeDrafts("dev_1");
    const left = await Promise.all([KEY, "dev_1/new/prj_1", "dev_2/ses_1", "dev_10/ses_1"].map(kept));
    expect(left.map((draft) => draft.text)).toEqual(["", "", "dev_2/ses_1", "dev_10/ses_1"]);
    expect(left.map((draft) => draft.images.length)).toEqual([0, 0, 1, 1]);
  });
});
