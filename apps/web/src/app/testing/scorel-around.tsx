import type { ReactNode } from "react";
import { ScorelContext } from "../../features/shared/scorel-context";
import type { FakeScorel } from "./fake-scorel";

/** Returns the options of `render` for a part of the page that needs a Scorel above it. */
export function scorelAround(scorel: FakeScorel) {
  return {
    wrapper: ({ children }: { children: ReactNode }) => <ScorelContext value={scorel}>{children}</ScorelContext>,
  };
}
