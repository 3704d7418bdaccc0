import { createContext, useContext, useEffect, useState } from "react";

/** Loads an image of the shown session by its hash. Each image is loaded once. */
export type ImageLoader = (sha256: string) => Promise<Blob>;

export const ImagesContext = createContext<ImageLoader>(() => Promise.reject(new Error("There are no images here.")));

/** Returns a URL for a blob, valid while the component is mounted. */
export function useBlobUrl(blob: Blob | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!blob) {
      return;
    }
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
      setUrl(null);
    };
  }, [blob]);
  return url;
}

/** Returns an image by its hash; "failed" if it could not be loaded. */
export function useImage(sha256: string): Blob | "failed" | null {
  const load = useContext(ImagesContext);
  const [state, setState] = useState<{ sha256: string; image: Blob | "failed" } | null>(null);
  useEffect(() => {
    let gone = false;
    const take = (image: Blob | "failed") => {
      if (!gone) {
        setState({ sha256, image });
      }
    };
    load(sha256).then(take, () => take("failed"));
    return () => {
      gone = true;
    };
  }, [load, sha256]);
  return state?.sha256 === sha256 ? state.image : null;
}

/** Caches the loaded images of a session. A failed one is retried when it is shown again. */
export function cachingLoader(load: ImageLoader): ImageLoader {
  const known = new Map<string, Promise<Blob>>();
  return (sha256) => {
    const had = known.get(sha256);
    if (had) {
      return had;
    }
    const loading = load(sha256);
    known.set(sha256, loading);
    loading.catch(() => known.delete(sha256));
    return loading;
  };
}
