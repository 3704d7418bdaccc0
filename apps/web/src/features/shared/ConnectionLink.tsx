import type { ReactNode } from "react";
import { Link } from "wouter";
import { cx } from "../../components/cx";

/** A link to the page that checks the connection. */
export function ConnectionLink({ className, children }: { className?: string; children: ReactNode }) {
  return (
    <Link
      to="/connection"
      data-testid="connection-link"
      className={cx("touchable inline-flex items-center whitespace-nowrap", className)}
    >
      {children}
    </Link>
  );
}
