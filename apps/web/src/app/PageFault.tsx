import { Button } from "../components/Button";
import { WarningIcon } from "../components/icons";
import { EmptyState } from "../components/Notice";

/** A page broke, or a part of it could not be fetched. The rest of the app stands. */
export function PageFault({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <EmptyState
      icon={<WarningIcon />}
      title="This page could not be shown"
      actions={
        <>
          <Button tone="primary" onClick={reset}>
            Try again
          </Button>
          <Button onClick={() => window.location.reload()}>Load the app anew</Button>
        </>
      }
    >
      {error instanceof Error ? error.message : "No reason was given."} Nothing that you sent is lost.
    </EmptyState>
  );
}
