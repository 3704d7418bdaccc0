// Starts the worker of this page: one for all pages of this browser, where shared workers exist.
import type { PagePort, ToLink } from "./messages";

/** `onFailure` is called when the worker fails to start. */
export function startWorker(onFailure: () => void): PagePort {
  if (typeof SharedWorker === "function" && navigator.locks) {
    return joinWorker(onFailure);
  }
  const worker = new Worker(new URL("../link/worker.ts", import.meta.url), { type: "module" });
  worker.onerror = onFailure;
  return worker;
}

function joinWorker(onFailure: () => void): PagePort {
  // The address names the build of this file. Pages of two builds, which may not understand one another, do not share a
  // worker.
  const worker = new SharedWorker(new URL("../link/worker.ts", import.meta.url), {
    type: "module",
    name: import.meta.url,
  });
  worker.onerror = onFailure;
  const { port } = worker;
  const [send, close] = [port.postMessage.bind(port), port.close.bind(port)];
  const lock = `scorel.page ${crypto.randomUUID()}`;
  let release = () => {};
  // A port does not report that its page was closed. A lock does, in every case.
  const held = new Promise<void>((resolve) => {
    const hold = () => {
      resolve();
      return new Promise<void>((end) => {
        release = end;
      });
    };
    navigator.locks.request(lock, hold).catch(onFailure);
  });
  return Object.assign(port, {
    postMessage: (message: ToLink) =>
      void held.then(() => send(message.t === "start" ? { ...message, lock } : message)),
    close: () => {
      release();
      close();
    },
  });
}
