import { useEffect, useMemo } from "react";
import { fetchImage } from "../api/images";
import { Badge, Dot } from "../components/Badge";
import { ArrowDownIcon } from "../components/icons";
import { EmptyState } from "../components/Notice";
import { WarningIcon } from "../components/shell-icons";
import { LogContext, type LogReader } from "../features/chat/context/live-context";
import { cachingLoader, ImagesContext } from "../features/chat/images/images-context";
import { Transcript } from "../features/chat/transcript/Transcript";
import { useReadable } from "../features/shared/scorel-context";
import { useTitle } from "../features/shared/use-title";
import { t } from "../i18n/guest";
import { locale } from "../i18n/i18n";
import type { GuestSession } from "./guest-session";
import type { GuestState, LinkFacts } from "./messages";

const noLog: LogReader = () => Promise.reject(new Error(t("guest.page.noLog")));

function when(at: number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(at);
}

/** The session of a guest link: its transcript, without any controls. */
export function GuestPage({ guest }: { guest: GuestSession }) {
  const { link, view, host } = guest;
  const reach = useReadable(guest.reach);
  const state = useReadable(view.state);
  const loadImage = useMemo(
    () => cachingLoader((sha256) => fetchImage(host, link.sessionId, sha256)),
    [host, link.sessionId],
  );
  // Actions on prompts are not shown to a guest.
  const shown = useMemo(() => ({ ...state, outgoing: [], lastError: null }), [state]);
  const name = state.summary?.name || t("guest.page.session");
  useTitle(name);
  useWaking(guest);
  const end = endOf(reach, link) ?? (state.status === "missing" ? words("missingSession") : null);
  if (end) {
    return <GuestEnd {...end} />;
  }
  const says = statusText(reach, state.status === "loading");
  return (
    <LogContext value={noLog}>
      <ImagesContext value={loadImage}>
        <div className="flex h-full min-h-0 flex-col" data-testid="guest">
          <header className="safe-t safe-x shrink-0 border-line border-b bg-bg">
            <div className="mx-auto flex min-h-14 max-w-3xl min-[50rem]:px-4 items-center gap-3 py-1.5">
              <div className="min-w-0 flex-1">
                <h1 dir="auto" className="truncate text-left font-semibold leading-tight">
                  {name}
                </h1>
                <p className="truncate text-faint text-xs leading-5">
                  {t("guest.page.until", { time: when(link.expiresAt) })}
                </p>
              </div>
              <Badge>{t("guest.page.readOnly")}</Badge>
            </div>
          </header>
          <main className="flex min-h-0 flex-1 flex-col">
            {state.status === "loading" ? (
              <div className="flex-1" />
            ) : (
              <Transcript
                state={shown}
                view={view}
                me={undefined}
                model={null}
                readOnly
                canAnswer={false}
                canReply={false}
                canKeepRules={false}
                empty={<EmptyState icon={<ArrowDownIcon />} title={t("guest.page.empty")} />}
              />
            )}
          </main>
          <div role="status" className="safe-x safe-b mx-auto w-full max-w-3xl">
            {says ? (
              <p
                data-testid="guest-status"
                className="flex items-center gap-2 py-2 text-muted text-sm min-[50rem]:px-4"
              >
                <Dot tone={reach.is === "offline" ? "neutral" : "warn"} live={reach.is !== "offline"} /> {says}
              </p>
            ) : null}
          </div>
        </div>
      </ImagesContext>
    </LogContext>
  );
}

/** Wakes the connection when the network or the reader comes back. */
function useWaking(guest: GuestSession): void {
  useEffect(() => {
    const wake = () => {
      if (document.visibilityState === "visible") {
        guest.wake();
      }
    };
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
    return () => {
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", wake);
    };
  }, [guest]);
}

function statusText(reach: GuestState, loading: boolean): string | null {
  switch (reach.is) {
    case "offline":
      return t("guest.page.offline");
    case "connecting":
      return reach.error
        ? t("guest.page.lost", { reason: reach.error })
        : loading
          ? t("guest.page.connecting")
          : t("guest.page.reconnecting");
    default:
      return loading ? t("guest.page.connecting") : null;
  }
}

export type End = { kind: string; title: string; text: string };

/** Why nothing is shown. */
export type Why =
  | "revoked"
  | "expired"
  | "damaged"
  | "missing"
  | "newer"
  | "oldRelay"
  | "unknown"
  | "refused"
  | "missingSession"
  | "noKeys";

const titles: Record<Why, () => string> = {
  revoked: () => t("guest.end.revoked"),
  expired: () => t("guest.end.expired"),
  damaged: () => t("guest.end.damaged"),
  missing: () => t("guest.end.missing"),
  newer: () => t("guest.end.newer"),
  oldRelay: () => t("guest.end.oldRelay"),
  unknown: () => t("guest.end.unknown"),
  refused: () => t("guest.end.refused"),
  missingSession: () => t("guest.end.missingSession"),
  noKeys: () => t("guest.end.noKeys"),
};

const texts: Record<Why, (values: { time: string; message: string }) => string> = {
  revoked: () => t("guest.end.revokedText"),
  expired: ({ time }) => t("guest.end.expiredText", { time }),
  damaged: () => t("guest.end.damagedText"),
  missing: () => t("guest.end.missingText"),
  newer: () => t("guest.end.newerText"),
  oldRelay: () => t("guest.end.oldRelayText"),
  unknown: () => t("guest.end.unknownText"),
  refused: ({ message }) => t("guest.end.refusedText", { message }),
  missingSession: () => t("guest.end.missingSessionText"),
  noKeys: () => t("guest.end.noKeysText"),
};

export function words(kind: Why, time = "", message = ""): End {
  return { kind, title: titles[kind](), text: texts[kind]({ time, message }) };
}

function endOf(reach: GuestState, link: LinkFacts): End | null {
  switch (reach.is) {
    case "connecting":
    case "open":
    case "offline":
      return null;
    case "refused":
      return words("refused", "", reach.message);
    default:
      return words(reach.is, when(link.expiresAt));
  }
}

/** Shows why the link opens nothing, and what to do. */
export function GuestEnd({ kind, title, text }: End) {
  return (
    <main
      data-testid="guest-end"
      data-why={kind}
      className="safe-x mx-auto flex h-full max-w-xl flex-col justify-center pb-16"
    >
      <WarningIcon className="mb-4 text-3xl text-warn" />
      <h1 className="font-semibold text-2xl tracking-tight">{title}</h1>
      <p className="mt-3 text-muted">{text}</p>
    </main>
  );
}
