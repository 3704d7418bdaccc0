import { type Draft, Drafts, type Unkept } from "../../api/drafts";

export type { Draft, Unkept } from "../../api/drafts";

let drafts = new Drafts();
const others = new Map<string, Set<(draft: Draft) => void>>();
const tried = new Map<string, Set<(unkept: Unkept | null) => void>>();
/** Something was typed in this window since it has the focus. */
let typed = false;
globalThis.addEventListener?.("focus", () => {
  typed = false;
});
globalThis.addEventListener?.(
  "input",
  () => {
    typed = true;
  },
  true,
);
// Who types here has the newest text. Other windows show it, so that nobody writes on in an older one. The last words
// of the window that was left come when this one has the focus already.
const listen = () => {
  drafts.onTried = (key, unkept) => {
    for (const listener of tried.get(key) ?? []) {
      listener(unkept);
    }
  };
  drafts.onOther(
    (key, draft) => {
      for (const listener of others.get(key) ?? []) {
        listener(draft);
      }
    },
    () => !typed || !document.hasFocus(),
  );
};
listen();

/** Calls the listener after each try to keep the draft, with what of it is not on disk. Returns a function that ends it. */
export function onTriedDraft(key: string, listener: (unkept: Unkept | null) => void): () => void {
  return add(tried, key, listener);
}

function add<T>(all: Map<string, Set<T>>, key: string, listener: T): () => void {
  const listeners = all.get(key) ?? new Set<T>();
  all.set(key, listeners.add(listener));
  return () => listeners.delete(listener);
}

/** Calls the listener with what another tab has kept under the key. Returns a function that ends it. */
export function onOtherDraft(key: string, listener: (draft: Draft) => void): () => void {
  return add(others, key, listener);
}

const flush = () => void drafts.flush();
globalThis.addEventListener?.("pagehide", flush);
globalThis.addEventListener?.("blur", flush); // before another window is typed in
globalThis.document?.addEventListener("visibilitychange", flush);

/** Keeps the draft of a composer; it survives the tab. One that is sent is deleted after `stored`. */
export function keepDraft(key: string, text: string, images: Draft["images"] = [], stored?: Promise<unknown>): void {
  drafts.keep(key, { text, images }, stored);
}

/** What this page has just kept under the key. */
export function peekDraft(key: string): Draft | undefined {
  return drafts.peek(key);
}

/** The draft that was kept; empty where there is none. */
export async function readDraft(key: string): Promise<Draft> {
  const draft = await drafts.read(key);
  const old = takeOld(key);
  if (!old || draft.text || draft.images.length > 0) {
    return draft;
  }
  drafts.keep(key, old);
  return old;
}

/**
 * Puts a draft under another key, behind what is there already; the old key is empty then. A composer that shows it is
 * told.
 */
export async function carryDraft(from: string, to: string): Promise<void> {
  const [old, there] = await Promise.all([readDraft(from), readDraft(to)]);
  const { text, images } = peekDraft(from) ?? old; // it may have been typed in meanwhile
  const kept = peekDraft(to) ?? there;
  if (!text && images.length === 0) {
    return;
  }
  const joined = {
    text: kept.text.includes(text) ? kept.text : kept.text ? `${kept.text}\n${text}` : text,
    images: [...kept.images, ...images.filter(({ sha256 }) => kept.images.every((each) => each.sha256 !== sha256))],
  };
  drafts.keep(to, joined);
  await drafts.flush();
  for (const listener of others.get(to) ?? []) {
    listener(joined);
  }
  if (!peekDraft(to)) {
    drafts.keep(from, { text: "", images: [] }); // the other one is on disk
  }
}

/** Forgets what is not kept yet, for tests. */
export function forgetDrafts(): void {
  drafts.close();
  drafts = new Drafts();
  listen();
}

// An older version kept drafts for the tab alone.
function takeOld(key: string): Draft | null {
  try {
    const text = sessionStorage.getItem(`draft:${key}`) ?? "";
    const images = sessionStorage.getItem(`draft-images:${key}`);
    sessionStorage.removeItem(`draft:${key}`);
    sessionStorage.removeItem(`draft-images:${key}`);
    return text || images ? { text, images: JSON.parse(images || "[]") } : null;
  } catch {
    return null;
  }
}
