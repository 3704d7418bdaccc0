import { chunk } from "./missing-chunk";

/** Code that is loaded after the page has begun. */
export interface Late<T> {
  /** Loads the code, unless it is loaded or loading. */
  load(): Promise<T>;
  /** Returns the code, or null until it is loaded. */
  now(): T | null;
}

/** Code that is loaded after the first rows. After a failure, the next call tries again. */
export function late<T>(fetch: () => Promise<T>): Late<T> {
  const get = chunk(fetch);
  let part: T | null = null;
  let loading: Promise<T> | null = null;
  return {
    now: () => part,
    load() {
      loading ??= get().then(
        (loaded) => {
          part = loaded;
          return loaded;
        },
        (cause: unknown) => {
          loading = null;
          throw cause;
        },
      );
      return loading;
    },
  };
}
