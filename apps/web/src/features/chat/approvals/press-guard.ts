// Protects buttons that allow something from presses meant for what was in their place before: the second click of a
// double click, or a click while the page moves.
//
// A press counts if it begins after
//
//  - the buttons have been visible as a whole, in the same place, for 600 ms; of a card with buttons everywhere, half is
//    enough. The time restarts when they move without the reader scrolling, when another card is answered, and when the
//    tab comes back to the front; and
//  - with a mouse or pen: the pointer was outside the button at some moment since then. A pointer that rests where the
//    button appears must leave it and return.
//
// A finger has no position between touches, so for touch the first rule is enough: the touch itself must begin late
// enough, not only end so. The same holds for keys; a key that is held down does not count. A press without a pointer
// or a key, for example by a screen reader, must meet the time only.
import type { Point, PointerTrack } from "./pointer-track";

/** How long buttons must be visible before they may be pressed, in milliseconds. */
export const SETTLE = 600;

/** The largest movement of buttons that is ignored, in CSS pixels. */
const slack = 8;

/** The visible part of an element that counts as a whole: at some zoom levels an edge is rounded away. */
const WHOLE = 0.97;

/** The attribute of a guarded button; its value names the button within its card. */
export const GUARDED = "data-guarded";

/** The attribute of the part of a card that stays in view and may cover the buttons. */
export const COVER = "data-guard-cover";

/** The attribute of the element around the cards whose size changes when they move. */
export const FRAME = "data-guard-frame";

export interface PressGuardOptions {
  /** The element that must be visible: the row of the most important buttons, or the card. */
  area: HTMLElement;
  /** The card, which contains all guarded buttons. */
  card: HTMLElement;
  pointer: PointerTrack;
  /** Called after each change with the names of the buttons that may be pressed. */
  onChange: (open: readonly string[]) => void;
}

export class PressGuard {
  readonly #options: PressGuardOptions;
  readonly #left = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  #inWindow = false;
  #seen = false;
  #settled = false;
  /** The pointer's position when the time started. */
  #origin: Point | null = null;
  #place: Point | null = null;
  /** The press that has begun. */
  #press: { name: string; counts: boolean } | null = null;
  #open: readonly string[] = [];

  constructor(options: PressGuardOptions) {
    this.#options = options;
    const { area, card, pointer } = options;
    const part = area === card ? 0.5 : WHOLE;
    const sight = new IntersectionObserver(
      (changes) => {
        this.#inWindow = changes.slice(-1).some((change) => inSight(change, part));
        this.#look();
      },
      { threshold: [0, 0.25, 0.5, 0.75, WHOLE, 1] },
    );
    sight.observe(area);
    // An element that changes its size moves the card. It has its new place in the next frame.
    const sizes = new ResizeObserver(() => {
      cancelAnimationFrame(this.#frame);
      this.#frame = requestAnimationFrame(() => this.#moved());
    });
    sizes.observe(area);
    const frame = area.closest(`[${FRAME}]`);
    if (frame) {
      sizes.observe(frame);
    }
    const scrolled = () => this.#look();
    document.addEventListener("scroll", scrolled, { capture: true, passive: true });
    const front = () => this.restart();
    document.addEventListener("visibilitychange", front);
    this.#stops.push(
      () => sight.disconnect(),
      () => sizes.disconnect(),
      () => document.removeEventListener("scroll", scrolled, { capture: true }),
      () => document.removeEventListener("visibilitychange", front),
      pointer.watch(() => this.#pointed()),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    for (const stop of this.#stops) {
      stop();
    }
    this.#publish([]);
  }

  /** Closes the buttons and, while they are visible, restarts the time. */
  restart(): void {
    clearTimeout(this.#timer);
    this.#settled = false;
    this.#press = null;
    this.#left.clear();
    this.#origin = this.#options.pointer.at;
    this.#publish([]);
    if (this.#seen && document.visibilityState === "visible") {
      this.#timer = setTimeout(() => this.#settle(), SETTLE);
    }
  }

  /** Begins a press on a button, by a key, a finger, or a pointer that rests on the page. */
  begin(name: string, rests: boolean): void {
    this.#press = { name, counts: rests ? this.#open.includes(name) : this.#settled };
  }

  /** Ends a press of a button and reports whether it counts. */
  counts(name: string): boolean {
    const press = this.#press;
    this.#press = null;
    // The press came without a pointer or a key, so there is no position to leave.
    return press?.name === name ? press.counts : this.#settled;
  }

  /** Whether a key press that begins now may activate a button. */
  get isSettled(): boolean {
    return this.#settled;
  }

  #look(): void {
    const seen = this.#inWindow && !this.#covered();
    if (seen !== this.#seen) {
      this.#seen = seen;
      this.restart();
    }
  }

  /** Reports whether the heading of the card is over the buttons: an observer does not notice what covers an element. */
  #covered(): boolean {
    const { area, card } = this.#options;
    const cover = card.querySelector(`[${COVER}]`)?.getBoundingClientRect();
    const buttons = area.querySelector(`[${GUARDED}]`) ?? area; // around them is room that may be covered
    return cover !== undefined && cover.bottom > buttons.getBoundingClientRect().top + 1;
  }

  #settle(): void {
    this.#settled = true;
    for (const [name, rect] of this.#buttons()) {
      if (!this.#origin || !holds(rect, this.#origin)) {
        this.#left.add(name);
      }
    }
    this.#pointed();
  }

  #pointed(): void {
    const { at } = this.#options.pointer;
    const buttons = [...this.#buttons()];
    for (const [name, rect] of buttons) {
      if (!at || !holds(rect, at)) {
        this.#left.add(name);
      }
    }
    if (this.#settled) {
      this.#publish(buttons.map(([name]) => name).filter((name) => this.#left.has(name)));
    }
  }

  #moved(): void {
    this.#look();
    const { left: x, top: y } = this.#options.area.getBoundingClientRect();
    const before = this.#place;
    this.#place = { x, y };
    if (before && Math.hypot(x - before.x, y - before.y) > slack) {
      this.restart();
    }
  }

  *#buttons(): Generator<[string, DOMRect]> {
    for (const button of this.#options.card.querySelectorAll(`[${GUARDED}]`)) {
      yield [button.getAttribute(GUARDED) ?? "", button.getBoundingClientRect()];
    }
  }

  #publish(open: readonly string[]): void {
    if (open.join() !== this.#open.join()) {
      this.#open = open;
      this.#options.onChange(open);
    }
  }
}

/** Reports whether that part of the element is visible, or whether it fills half of the window. */
function inSight(
  { intersectionRatio, intersectionRect, rootBounds }: IntersectionObserverEntry,
  part: number,
): boolean {
  return intersectionRatio >= part || (rootBounds !== null && intersectionRect.height >= rootBounds.height / 2);
}

function holds({ left, right, top, bottom }: DOMRect, { x, y }: Point): boolean {
  return x >= left - slack && x <= right + slack && y >= top - slack && y <= bottom + slack;
}
