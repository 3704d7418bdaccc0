import type { ReactNode } from "react";
import { cx } from "./cx";

/** An error message, announced to screen readers; renders nothing for null. */
export function ErrorText({ children, className }: { children: ReactNode; className?: string }) {
  if (!children) {
    return null;
  }
  return (
    <p role="alert" className={cx("break-words text-danger text-sm", className)}>
      {children}
    </p>
  );
}
