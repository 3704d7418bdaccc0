import { lazy, Suspense } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { chunk, MissingChunk } from "../shared/missing-chunk";
import { visible } from "../shared/visible";
import type { DiffProps } from "./Diff";

const Diff = lazy(chunk(async () => ({ default: (await import("./Diff")).Diff })));

/** How many lines are shown until the diff parser is loaded: as many as it will need. */
const lines = 24;
const chars = 4000;

/** Changes of files. The renderer is loaded on first use; until then, or if that fails, the plain text is shown. */
export function DiffView(props: DiffProps) {
  return (
    <ErrorBoundary
      fallbackRender={({ error }) => {
        if (!(error instanceof MissingChunk)) {
          throw error;
        }
        return <Plain {...props} all />;
      }}
    >
      <Suspense fallback={<Plain {...props} />}>
        <Diff {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

function Plain({ of, className, all = false }: DiffProps & { all?: boolean }) {
  const text = "diff" in of ? of.diff : (of.after ?? of.before ?? "");
  const shown = all ? text : text.slice(0, chars).split("\n").slice(0, lines).join("\n");
  return (
    <pre
      data-testid="diff-plain"
      tabIndex={className ? 0 : undefined}
      className={`whitespace-pre-wrap break-words px-3 py-2 font-mono text-[0.8125rem] leading-5 ${className ?? ""}`}
    >
      {visible(shown)}
    </pre>
  );
}
