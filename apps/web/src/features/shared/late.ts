import { chunk } from "./missing-chunk";

/** Code that a page can begin without. */
export interface Late<T> {
  /** Fetches it, unless it is here or on its way. */
  load(): Promise<T>;
  /** Null while it is not here. */
  now(): T | null;
}

/** Code that is loaded behind the first rows. One that could not be fetched is fetched again for the next who asks. */
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
