import { CatchBoundary } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { visible } from "../chat/text/visible";
import { chunk, MissingChunk } from "../shared/missing-chunk";
import type { DiffProps } from "./Diff";

const Diff = lazy(chunk(async () => ({ default: (await import("./Diff")).Diff })));

/** How much is shown until the code that reads diffs is here: as much as it will take. */
const lines = 24;
const chars = 4000;

/** Changes of files. What shows them comes when it is first needed; until then, and without it, there is the plain text. */
export function DiffView(props: DiffProps) {
  return (
    <CatchBoundary
      getResetKey={() => "diff"}
      errorComponent={({ error }) => {
        if (!(error instanceof MissingChunk)) {
          throw error;
        }
        return <Plain {...props} all />;
      }}
    >
      <Suspense fallback={<Plain {...props} />}>
        <Diff {...props} />
      </Suspense>
    </CatchBoundary>
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
