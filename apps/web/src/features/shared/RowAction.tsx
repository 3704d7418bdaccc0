import type { ReactNode, Ref } from "react";
import { Button } from "../../components/Button";

export interface RowActionProps {
  ref?: Ref<HTMLButtonElement>;
  testId: string;
  /** Its accessible name, which also names what the row is about. */
  label: string;
  busy?: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** A small button in a row of a list. */
export function RowAction({ ref, testId, label, busy = false, onClick, children }: RowActionProps) {
  return (
    <Button
      {...(ref ? { ref } : {})}
      tone="quiet"
      className="text-xs"
      data-testid={testId}
      aria-label={label}
      busy={busy}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}
