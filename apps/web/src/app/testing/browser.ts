// Minimal versions of the browser features that the pages need and jsdom lacks. Import it first in a test that renders.
import { act, cleanup, configure, getConfig } from "@testing-library/react";
import { createRoot } from "react-dom/client";
import { afterEach } from "vitest";

const { asyncWrapper } = getConfig();
const bystander = createRoot(document.createElement("div"));
let waits = 0;

configure({
  // Loading a page's own chunk may be slow on a busy machine.
  asyncUtilTimeout: 60_000,
  // An element can be found before the effects of its components have run, such as their subscriptions. React runs
  // those that are left before it renders anything else.
  async asyncWrapper(wait) {
    const found = await asyncWrapper(wait);
    act(() => bystander.render(++waits));
    return found;
  },
});

class Observer {
  observe(_target?: Element): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}

let sight = "";

/** Reports elements that match `selector` as visible as soon as they are observed, until the test ends. */
export function setInSight(selector: string): void {
  sight = selector;
}

class SightObserver extends Observer {
  readonly #callback: IntersectionObserverCallback;

  constructor(callback: IntersectionObserverCallback) {
    super();
    this.#callback = callback;
  }

  override observe(target?: Element): void {
    if (sight !== "" && target?.matches(sight)) {
      const seen = { target, isIntersecting: true, intersectionRatio: 1 } as unknown as IntersectionObserverEntry;
      this.#callback([seen], this as unknown as IntersectionObserver);
    }
  }
}

const media = new Map<string, boolean>();

/** Sets whether a media query matches; all are reset to false after the test. */
export function setMedia(query: string, matches: boolean): void {
  media.set(query, matches);
}

Element.prototype.scrollIntoView ??= () => {};

Object.assign(window, {
  ResizeObserver: Observer,
  IntersectionObserver: SightObserver,
  matchMedia: (query: string) => ({
    matches: media.get(query) ?? false,
    addEventListener() {},
    removeEventListener() {},
  }),
  scrollTo() {},
});
HTMLDialogElement.prototype.showModal ??= function showModal() {
  this.setAttribute("open", "");
};
HTMLDialogElement.prototype.close ??= function close() {
  this.removeAttribute("open");
};

afterEach(() => {
  cleanup();
  media.clear();
  sight = "";
  sessionStorage.clear();
  localStorage.clear();
});
