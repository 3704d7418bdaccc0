import { afterEach, expect, it, vi } from "vitest";
import type { LinkState } from "./contract";
import { startShell } from "./shell";
import { Store } from "./store";

class FakeWorker extends EventTarget {
  readonly said: unknown[] = [];
  constructor(public state: ServiceWorkerState) {
    super();
  }
  postMessage(message: unknown): void {
    this.said.push(message);
  }
  become(state: ServiceWorkerState): void {
    this.state = state;
    this.dispatchEvent(new Event("statechange"));
  }
}

class FakeRegistration extends EventTarget {
  waiting: FakeWorker | null = null;
  installing: FakeWorker | null = null;
  looked = 0;
  async update(): Promise<void> {
    this.looked++;
  }
  find(): FakeWorker {
    this.installing = new FakeWorker("installing");
    this.dispatchEvent(new Event("updatefound"));
    return this.installing;
  }
}

class FakeContainer extends EventTarget {
  readonly registration = new FakeRegistration();
  controller: object | null = {};
  async register(path: string): Promise<FakeRegistration> {
    expect(path).toBe("/sw.js");
    return this.registration;
  }
}

afterEach(() => vi.restoreAllMocks());

async function start(container = new FakeContainer()) {
  const link = new Store<LinkState>({ state: "connecting", attempt: 0, retryAt: null, lastError: null });
  const reload = vi.fn();
  const shell = startShell(link, container as unknown as ServiceWorkerContainer, reload);
  await Promise.resolve();
  await Promise.resolve();
  return { link, reload, shell, container, registration: container.registration };
}

it("offers a new version once it is stored, and starts it on request", async () => {
  const { shell, registration, container, reload } = await start();
  const worker = registration.find();
  expect(shell.updated.get()).toBe(false);
  worker.become("installed");
  expect(shell.updated.get()).toBe(true);
  shell.update();
  expect(worker.said).toEqual(["activate"]);
  expect(reload).not.toHaveBeenCalled();
  container.dispatchEvent(new Event("controllerchange"));
  expect(reload).toHaveBeenCalledOnce();
});

it("offers a version that waited before the page was opened, and reloads when another tab starts it", async () => {
  const container = new FakeContainer();
  container.registration.waiting = new FakeWorker("installed");
  const { shell, reload } = await start(container);
  expect(shell.updated.get()).toBe(true);
  container.registration.waiting.become("activated");
  shell.update();
  expect(reload).toHaveBeenCalledOnce();
});

it("offers nothing to the page that stores the first version", async () => {
  const container = new FakeContainer();
  container.controller = null;
  const { shell, registration } = await start(container);
  registration.find().become("installed");
  expect(shell.updated.get()).toBe(false);
});

it("checks for a new version when the relay is back or rejects the page", async () => {
  const { link, registration } = await start();
  link.set({ state: "online" });
  link.set({ state: "online" });
  expect(registration.looked).toBe(1);
  link.set({ state: "connecting", attempt: 1, retryAt: null, lastError: null });
  link.set({ state: "refused", message: "too old" });
  expect(registration.looked).toBe(2);
});

it("does nothing without service workers, or when registering one fails", async () => {
  const link = new Store<LinkState>({ state: "online" });
  expect(startShell(link, undefined).updated.get()).toBe(false);
  const container = new FakeContainer();
  container.register = () => Promise.reject(new DOMException("no", "SecurityError"));
  const { shell } = await start(container);
  expect(shell.updated.get()).toBe(false);
});
