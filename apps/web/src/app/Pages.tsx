import { type ComponentType, startTransition, useEffect, useState } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { Route } from "wouter";
import { AtEntry, type Entry, useEntry } from "../features/route/entry";
import { PageFault } from "./PageFault";
import { PageFrame } from "./PageFrame";
import { pageAt } from "./pages";

/** How long the previous page stays while the code of the next one loads, in milliseconds. */
const patience = 100;

interface Shown {
  entry: Entry;
  /** The pattern of the page's path. */
  path: string;
  Page: ComponentType;
}

/** Shows the page of the current entry. Until its code is loaded, the previous page stays for a moment. */
export function Pages() {
  const entry = useEntry();
  const [attempt, setAttempt] = useState(0);
  const [shown, setShown] = useState<Shown | null>(() => {
    const { path, code } = pageAt(entry.path);
    const Page = code.now();
    return Page && { entry, path, Page };
  });
  const [failed, setFailed] = useState<{ entry: Entry; error: unknown } | null>(null);
  const [slow, setSlow] = useState<Entry | null>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt loads the code again
  useEffect(() => {
    let here = true;
    const { path, code } = pageAt(entry.path);
    const timer = setTimeout(() => code.now() === null && setSlow(entry), patience);
    code.load().then(
      (Page) =>
        here && startTransition(() => setShown((known) => (known?.entry === entry ? known : { entry, path, Page }))),
      (error: unknown) => here && setFailed({ entry, error }),
    );
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [entry, attempt]);

  if (failed?.entry === entry) {
    const again = () => {
      setFailed(null);
      setAttempt(attempt + 1);
    };
    return <PageFault error={failed.error} resetErrorBoundary={again} />;
  }
  if (!shown || (shown.entry !== entry && slow === entry)) {
    return slow === entry ? <PageFrame /> : null;
  }
  const { path, Page } = shown;
  return (
    <AtEntry entry={shown.entry}>
      <ErrorBoundary FallbackComponent={PageFault} resetKeys={[shown.entry.path]}>
        <Route path={path}>
          <Page />
        </Route>
      </ErrorBoundary>
    </AtEntry>
  );
}
