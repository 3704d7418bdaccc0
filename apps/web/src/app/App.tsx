import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { useState } from "react";
import type { Scorel } from "../api/contract";
import { ToastProvider } from "../components/Toast";
import { SettingsSheet } from "../features/settings/SettingsSheet";
import { SettingsContext } from "../features/settings/settings-context";
import { ScorelContext } from "../features/shared/scorel-context";
import type { createAppRouter } from "./router";

export interface AppProps {
  scorel: Scorel;
  router: ReturnType<typeof createAppRouter>;
}

export function App({ scorel, router }: AppProps) {
  // Answers are kept fresh by events of the host, not by age; and "online" of
  // the browser says nothing about the host.
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
            <RouterProvider router={router} />
            {settings ? <SettingsSheet onClose={() => setSettings(false)} onCheck={check} /> : null}
          </SettingsContext>
        </ToastProvider>
      </QueryClientProvider>
    </ScorelContext>
  );
}
