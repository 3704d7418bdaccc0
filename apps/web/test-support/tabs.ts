// A browser whose tabs share a worker, with locks like a browser's: they end with their tab or worker.
import type { Scorel } from "../src/api/contract";
import type { FromLink, PagePort, ToLink } from "../src/api/messages";
import type { ServiceOptions } from "../src/link/open";
import { Service } from "../src/link/service";
import { atEnd, pageOn, SHORT } from "./bench";
import type { FakeRelay } from "./relay";
import { portPair } from "./sockets";

type Grant = (lock: unknown) => unknown;

interface Wish {
  owner: object;
  shared: boolean;
  grant: Grant;
  held: boolean;
}

/** Web Locks of tabs and workers in one process. */
export class FakeLocks {
  readonly #wishes = new Map<string, Wish[]>();

  /** Returns the locks as a tab or worker sees them. */
  of(owner: object): Pick<LockManager, "request"> {
    const request = (name: string, ...rest: [Grant] | [LockOptions, Grant]) => {
      const [options, grant] = rest.length === 1 ? [{}, rest[0]] : rest;
      const wishes = this.#wishes.get(name) ?? [];
      this.#wishes.set(name, wishes);
      return new Promise((resolve, reject) => {
        const wish: Wish = { owner, shared: options.mode === "shared", held: false, grant: () => {} };
        wish.grant = async (lock) => {
          try {
            resolve(await grant(lock));
          } catch (err) {
            reject(err);
          }
          this.#drop(name, wish);
        };
        wishes.push(wish);
        this.#settle(name);
      });
    };
    return { request } as Pick<LockManager, "request">;
  }

  /** Releases the locks of an owner that ended. */
  end(owner: object): void {
    for (const [name, wishes] of this.#wishes) {
      for (const wish of wishes.filter((each) => each.owner === owner)) {
        this.#drop(name, wish);
      }
    }
  }

  #drop(name: string, wish: Wish): void {
    const wishes = this.#wishes.get(name) ?? [];
    this.#wishes.set(
      name,
      wishes.filter((each) => each !== wish),
    );
    this.#settle(name);
  }

  #settle(name: string): void {
    const wishes = this.#wishes.get(name) ?? [];
    for (const [i, wish] of wishes.entries()) {
      if (wishes.slice(0, i).some((before) => !before.shared || !wish.shared)) {
        return;
      }
      if (!wish.held) {
        wish.held = true;
        setImmediate(() => this.#wishes.get(name)?.includes(wish) && void wish.grant({ name }));
      }
    }
  }
}

export interface Tab {
  page: Scorel;
  /** All messages that its worker has sent. */
  got: FromLink[];
  /** Queues its messages, as for a tab that the browser has frozen. */
  freeze(): void;
  thaw(): void;
  hide(hidden: boolean): void;
  /** Ends it without notice. */
  crash(): void;
}

export class Tabs {
  readonly locks = new FakeLocks();
  readonly #relay: FakeRelay;
  readonly #options: ServiceOptions;
  #service: Service;

  constructor(relay: FakeRelay, options: ServiceOptions = {}) {
    this.#relay = relay;
    this.#options = options;
    this.#service = this.#begin();
    atEnd(() => this.#service.stop());
  }

  /** The running worker. */
  get worker(): Service {
    return this.#service;
  }

  /** Ends the worker, as when its process crashes. */
  crash(): void {
    const old = this.#service;
    old.stop();
    this.#service = this.#begin();
    this.locks.end(old);
  }

  open(): Tab {
    const owner = {};
    const got: FromLink[] = [];
    let alive = true;
    let frozen: (() => void)[] | null = null;
    let latest: PagePort | undefined;
    const connect = (): PagePort => {
      const { page: port, worker } = portPair();
      const post = worker.postMessage;
      worker.postMessage = (batch) => {
        got.push(...batch);
        const deliver = () => post(batch);
        if (alive) {
          frozen ? frozen.push(deliver) : deliver();
        }
      };
      this.#service.connect(worker);
      const lock = `scorel.page ${crypto.randomUUID()}`;
      const held = new Promise<void>((resolve) => {
        const hold = () => {
          resolve();
          return new Promise(() => {});
        };
        void this.locks.of(owner).request(lock, hold as () => Promise<unknown>);
      });
      const send = port.postMessage;
      port.postMessage = (message: ToLink) =>
        void held.then(() => alive && send(message.t === "start" ? { ...message, lock } : message));
      port.close = () => {};
      latest = port;
      return port;
    };
    const page = pageOn(this.#relay, connect, { locks: this.locks.of(owner) });
    return {
      page,
      got,
      freeze: () => {
        frozen = [];
      },
      thaw: () => {
        const waiting = frozen ?? [];
        frozen = null;
        for (const deliver of waiting) {
          deliver();
        }
      },
      hide: (hidden) => latest?.postMessage({ t: "visible", visible: !hidden }),
      crash: () => {
        alive = false;
        this.locks.end(owner);
      },
    };
  }

  #begin(): Service {
    const locks: Pick<LockManager, "request"> = {
      request: (...args: unknown[]) =>
        (this.locks.of(service).request as (...all: unknown[]) => Promise<never>)(...args),
    };
    const service: Service = new Service({
      timing: SHORT,
      makeSocket: this.#relay.makeSocket,
      locks,
      shared: true,
      ...this.#options,
    });
    return service;
  }
}
