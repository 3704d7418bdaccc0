import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, useEffect, useState } from "react";
import { ErrorBoundary } from "react-error-boundary";
import type { Scorel } from "../api/contract";
import type { Shell as PageShell } from "../api/shell";
import { ToastProvider } from "../components/Toast";
import { type LinkCode, LinkCodeContext } from "../features/pair/link-code";
import { paths } from "../features/route/address";
import { AtCurrentEntry } from "../features/route/entry";
import { navigate } from "../features/route/history";
import { SettingsContext } from "../features/settings/settings-context";
import { LazyPart } from "../features/shared/MissingPart";
import { chunk } from "../features/shared/missing-chunk";
import { ScorelContext } from "../features/shared/scorel-context";
import { ShellContext } from "../features/update/shell-context";
import { PageFault } from "./PageFault";
import { Shell } from "./Shell";

const SettingsSheet = lazy(
  chunk(async () => ({
    default: (await import("../features/settings/SettingsSheet")).SettingsSheet,
  })),
);

export interface AppProps {
  scorel: Scorel;
  linkCode: LinkCode;
  /** Caches the page's own files; absent in tests. */
  shell?: PageShell | "page";
  /** Called once something is shown. */
  onShown?: () => void;
}

export function App({ scorel, linkCode, shell, onShown }: AppProps) {
  // Answers are kept fresh by events of the host, not by age; and the browser's "online" state is not that of the host.
  const [queries] = useState(
    () =>
      new QueryClient({
        defaultOptions: { queries: { staleTime: Infinity, refetchOnWindowFocus: false, networkMode: "always" } },
      }),
  );
  useEffect(() => onShown?.(), [onShown]);
  const [settings, setSettings] = useState(false);
  const check = () => {
    setSettings(false);
    navigate(paths.connection);
  };
  return (
    <ScorelContext value={scorel}>
      <QueryClientProvider client={queries}>
        <ToastProvider>
          <SettingsContext value={() => setSettings(true)}>
            <ShellContext value={shell ?? null}>
              <LinkCodeContext value={linkCode}>
                <AtCurrentEntry>
                  <ErrorBoundary FallbackComponent={PageFault}>
                    <Shell />
                  </ErrorBoundary>
                </AtCurrentEntry>
              </LinkCodeContext>
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
