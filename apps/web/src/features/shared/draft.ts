import { type Draft, Drafts, type Unkept } from "../../api/drafts";

export type { Draft, Unkept } from "../../api/drafts";

let drafts = new Drafts();
const others = new Map<string, Set<(draft: Draft) => void>>();
const tried = new Map<string, Set<(unkept: Unkept | null) => void>>();
/** Whether anything was typed in this window since it got the focus. */
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
// The focused window has the newest text. Other windows show it, so that nobody continues an older one. The last words
// of the previous window arrive when this one already has the focus.
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

/**
 * Calls the listener after each attempt to store the draft, with the part that is not on disk. Returns a function that
 * unsubscribes.
 */
export function onTriedDraft(key: string, listener: (unkept: Unkept | null) => void): () => void {
  return add(tried, key, listener);
}

function add<T>(all: Map<string, Set<T>>, key: string, listener: T): () => void {
  const listeners = all.get(key) ?? new Set<T>();
  all.set(key, listeners.add(listener));
  return () => listeners.delete(listener);
}

/** Calls the listener with drafts that another tab has stored under the key. Returns a function that unsubscribes. */
export function onOtherDraft(key: string, listener: (draft: Draft) => void): () => void {
  return add(others, key, listener);
}

const flush = () => void drafts.flush();
globalThis.addEventListener?.("pagehide", flush);
globalThis.addEventListener?.("blur", flush); // before typing continues in another window
globalThis.document?.addEventListener("visibilitychange", flush);

/** Stores the draft of a composer, which survives the tab. The draft of a sent prompt is deleted after `stored`. */
export function keepDraft(key: string, text: string, images: Draft["images"] = [], stored?: Promise<unknown>): void {
  drafts.keep(key, { text, images }, stored);
}

/** Returns the draft that this page has just kept under the key. */
export function peekDraft(key: string): Draft | undefined {
  return drafts.peek(key);
}

/** Returns the stored draft; an empty one if there is none. */
export async function readDraft(key: string): Promise<Draft> {
  const draft = await drafts.read(key);
  const old = takeTabDraft(key);
  if (!old || draft.text || draft.images.length > 0) {
    return draft;
  }
  drafts.keep(key, old);
  return old;
}

/**
 * Moves a draft to another key, after any text there, and empties the old key. A composer that shows it is notified.
 */
export async function carryDraft(from: string, to: string): Promise<void> {
  const [old, there] = await Promise.all([readDraft(from), readDraft(to)]);
  const { text, images } = peekDraft(from) ?? old; // it may have been edited meanwhile
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

/** Drops all unsaved drafts, for tests. */
export function forgetDrafts(): void {
  drafts.close();
  drafts = new Drafts();
  listen();
}

// Returns a draft that an older version stored for this tab only.
function takeTabDraft(key: string): Draft | null {
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
