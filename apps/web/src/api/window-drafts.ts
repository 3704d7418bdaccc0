import type { Draft, PageDrafts, Unkept } from "./contract";
import { Drafts } from "./drafts";

/** The drafts that one window shows. It knows which of this browser's windows has the newest text. */
export class WindowDrafts implements PageDrafts {
  readonly #drafts = new Drafts();
  readonly #others = new Listeners<Draft>();
  readonly #tried = new Listeners<Unkept | null>();
  /** Whether anything was typed in this window since it got the focus. */
  #typed = false;

  constructor() {
    this.#drafts.onTried = (key, unkept) => this.#tried.notify(key, unkept);
    // The focused window has the newest text. Other windows show it, so that nobody continues an older one. The last
    // words of the previous window arrive when this one already has the focus.
    this.#drafts.onOther(
      (key, draft) => this.#others.notify(key, draft),
      () => !this.#typed || !document.hasFocus(),
    );
  }

  /** Follows the window: its focus, its input, and that it may be closed. Returns a function that ends that. */
  listenToWindow(): () => void {
    const events = new AbortController();
    const { signal } = events;
    const flush = () => void this.#drafts.flush();
    const setTyped = (typed: boolean) => () => {
      this.#typed = typed;
    };
    globalThis.addEventListener?.("focus", setTyped(false), { signal });
    globalThis.addEventListener?.("input", setTyped(true), { signal, capture: true });
    globalThis.addEventListener?.("pagehide", flush, { signal });
    globalThis.addEventListener?.("blur", flush, { signal }); // before typing continues in another window
    globalThis.document?.addEventListener("visibilitychange", flush, { signal });
    return () => events.abort();
  }

  onTried(key: string, listener: (unkept: Unkept | null) => void): () => void {
    return this.#tried.add(key, listener);
  }

  onOther(key: string, listener: (draft: Draft) => void): () => void {
    return this.#others.add(key, listener);
  }

  keep(key: string, text: string, images: Draft["images"] = [], stored?: Promise<unknown>): void {
    this.#drafts.keep(key, { text, images }, stored);
  }

  peek(key: string): Draft | undefined {
    return this.#drafts.peek(key);
  }

  async read(key: string): Promise<Draft> {
    const draft = await this.#drafts.read(key);
    const old = takeTabDraft(key);
    if (!old || draft.text || draft.images.length > 0) {
      return draft;
    }
    this.#drafts.keep(key, old);
    return old;
  }

  async append(key: string, text: string): Promise<void> {
    if (text === "") {
      return;
    }
    const draft = this.peek(key) ?? (await this.read(key));
    this.keep(key, [draft.text, text].filter(Boolean).join("\n"), draft.images);
  }

  async carry(from: string, to: string): Promise<void> {
    const [old, there] = await Promise.all([this.read(from), this.read(to)]);
    const { text, images } = this.peek(from) ?? old; // it may have been edited meanwhile
    const kept = this.peek(to) ?? there;
    if (!text && images.length === 0) {
      return;
    }
    const joined = {
      text: kept.text.includes(text) ? kept.text : kept.text ? `${kept.text}\n${text}` : text,
      images: [...kept.images, ...images.filter(({ sha256 }) => kept.images.every((each) => each.sha256 !== sha256))],
    };
    this.#drafts.keep(to, joined);
    await this.#drafts.flush();
    this.#others.notify(to, joined);
    if (!this.peek(to)) {
      this.keep(from, ""); // the other one is on disk
    }
  }
}

/** Listeners by the key of a draft. */
class Listeners<T> {
  readonly #all = new Map<string, Set<(value: T) => void>>();

  add(key: string, listener: (value: T) => void): () => void {
    const listeners = this.#all.get(key) ?? new Set();
    this.#all.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) {
        this.#all.delete(key);
      }
    };
  }

  notify(key: string, value: T): void {
    for (const listener of this.#all.get(key) ?? []) {
      listener(value);
    }
  }
}

/** Returns a draft that an older version stored for this tab only. */
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
