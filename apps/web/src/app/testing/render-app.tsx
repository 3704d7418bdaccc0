import { createMemoryHistory } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import { App } from "../App";
import { createAppRouter } from "../router";
import type { FakeScorel } from "./fake-scorel";

/** The whole app at an address, on a fake Scorel. */
export function renderApp(scorel: FakeScorel, path: string, linkCode: string | null = null) {
  const router = createAppRouter({ current: linkCode }, createMemoryHistory({ initialEntries: [path] }));
  return { router, ...render(<App scorel={scorel} router={router} />) };
}
