// What jsdom lacks and the pages need, in its plainest form. Import it first in a
// test that renders.
import { cleanup, configure } from "@testing-library/react";
import { afterEach } from "vitest";

// A page that is a chunk of its own may take its time on a busy machine.
configure({ asyncUtilTimeout: 10_000 });

class Observer {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}

const media = new Map<string, boolean>();

/** Says whether a media query holds from now on; all are false again after the test. */
export function setMedia(query: string, matches: boolean): void {
  media.set(query, matches);
}

Element.prototype.scrollIntoView ??= () => {};

Object.assign(window, {
  ResizeObserver: Observer,
  IntersectionObserver: Observer,
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
  sessionStorage.clear();
});
