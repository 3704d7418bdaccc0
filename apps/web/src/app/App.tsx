import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, useState } from "react";
import type { Scorel } from "../api/contract";
import type { Shell } from "../api/shell";
import { ToastProvider } from "../components/Toast";
import { SettingsContext } from "../features/settings/settings-context";
import { LazyPart } from "../features/shared/MissingPart";
import { chunk } from "../features/shared/missing-chunk";
import { ScorelContext } from "../features/shared/scorel-context";
import { ShellContext } from "../features/update/shell-context";
import type { createAppRouter } from "./router";

const SettingsSheet = lazy(
  chunk(async () => ({
    default: (await import("../features/settings/SettingsSheet")).SettingsSheet,
  })),
);

export interface AppProps {
  scorel: Scorel;
  router: ReturnType<typeof createAppRouter>;
  /** Caches the page's own files; absent in tests. */
  shell?: Shell | "page";
}

export function App({ scorel, router, shell }: AppProps) {
  // Answers are kept fresh by events of the host, not by age; and the browser's "online" state is not that of the host.
  const [queries] = useState(
    () =>
      new QueryClient({
        defaultOptions: { queries: { staleTime: Infinity, refetchOnWindowFocus: false, networkMode: "always" } },
      }),
  );
  const [settings, setSettings] = useState(false);
  const check = () => {
    setSettings(false);
    void router.navigate({ to: "/connection" });
  };
  return (
    <ScorelContext value={scorel}>
      <QueryClientProvider client={queries}>
        <ToastProvider>
          <SettingsContext value={() => setSettings(true)}>
            <ShellContext value={shell ?? null}>
              <RouterProvider router={router} />
            </ShellContext>
            <LazyPart onClose={() => setSettings(false)}>
              {settings ? <SettingsSheet onClose={() => setSettings(false)} onCheck={check} /> : null}
            </LazyPart>
          </SettingsContext>
        </ToastProvider>
      </QueryClientProvider>
    </ScorelContext>
  );
}
