import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { cx } from "../../components/cx";

/** The way to the page that finds out where the connection stops. */
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
