import type { ReactNode } from "react";
import { Button } from "../../components/Button";
import { PlusIcon } from "../../components/icons";
import { useLostFocus } from "./lost-focus";

export interface AddButtonProps {
  "data-testid": string;
  onClick: () => void;
  children: ReactNode;
}

/** Opens the form that adds to a list. It gets the focus when that form closes. */
export function AddButton({ children, ...rest }: AddButtonProps) {
  const ref = useLostFocus<HTMLButtonElement>();
  return (
    <Button ref={ref} className="mt-3" {...rest}>
      <PlusIcon /> {children}
    </Button>
  );
}
