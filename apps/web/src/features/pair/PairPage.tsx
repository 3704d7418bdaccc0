import { useContext, useEffect } from "react";
import { Link } from "wouter";
import { Card } from "../../components/Card";
import { BackIcon } from "../../components/icons";
import { t } from "../../i18n/pair";
import { address } from "../route/address";
import { navigate } from "../route/history";
import { useSettingsSheet } from "../settings/settings-context";
import { LinkBanner, LinkLight } from "../shared/LinkLight";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useTouch, useWide } from "../shared/use-media";
import { Wordmark } from "../shared/Wordmark";
import { BrowserName } from "./BrowserName";
import { InstallHelp } from "./InstallHelp";
import { LinkCodeContext } from "./link-code";
import { PairingPanel } from "./PairingPanel";
import { RedeemForm } from "./RedeemForm";
import { ScanButton } from "./ScanButton";
import { usePairing } from "./use-pairing";

/** How long the success message is shown before the page moves on, in milliseconds. */
const pause = 1200;

/** The first page of a new browser, which also pairs further devices. */
export function PairPage() {
  const linkCode = useContext(LinkCodeContext);
  const scorel = useScorel();
  const devices = useReadable(scorel.devices);
  const openSettings = useSettingsSheet();
  const wide = useWide();
  const touch = useTouch();
  const control = usePairing(linkCode.current);
  const { state } = control;
  const doneId = state.step === "done" ? state.deviceId : null;

  useEffect(() => {
    if (!doneId) {
      return;
    }
    const timer = setTimeout(() => navigate(address.machine(doneId)), pause);
    return () => clearTimeout(timer);
  }, [doneId]);

  // The code of a link is valid for one visit of this page.
  useEffect(
    () => () => {
      linkCode.current = null;
    },
    [linkCode],
  );

  const busy = state.step === "confirming" || state.step === "accepting" || state.step === "done";
  const redeeming = control.by === "redeeming" && state.step !== "failed";
  const first = devices === null || devices.length === 0;
  return (
    <div className="flex h-full min-h-0 flex-col overflow-y-auto">
      {first || !wide ? <TopBar first={first} /> : null}
      {first ? <LinkBanner /> : null}
      <main className="safe-x mx-auto w-full max-w-xl flex-1 py-6 md:py-14">
        <h1 className="font-semibold text-2xl tracking-tight">
          {first ? t("pair.pairPage.connectAMachine") : t("pair.pairPage.pairAnotherMachine")}
        </h1>
        <p className="mt-2 text-muted">{t("pair.pairPage.explanation")}</p>
        {/* A phone can scan what the machine shows: nobody types a code there. */}
        {touch && !busy ? <ScanButton tone="primary" className="mt-5 w-full" onCode={control.redeem} /> : null}
        {/* A shown code names this browser; one that is being redeemed must not be dropped. */}
        {busy ? null : <BrowserName onChanged={redeeming ? undefined : control.showCode} />}
        <Card className="mt-6 p-5 md:p-6">
          <PairingPanel control={control} />
        </Card>
        {busy ? null : (
          <>
            <RedeemForm onRedeem={control.redeem} />
            {touch ? null : <ScanButton className="mt-3" onCode={control.redeem} />}
            <InstallHelp />
          </>
        )}
        <p className="mt-8 text-faint text-sm">
          {t("pair.pairPage.thisPageUsesARelay")}{" "}
          <button
            type="button"
            className="touchable underline underline-offset-2 hover:text-ink"
            onClick={openSettings}
          >
            {t("pair.pairPage.changeTheRelayAddress")}
          </button>
        </p>
      </main>
    </div>
  );
}

function TopBar({ first }: { first: boolean }) {
  return (
    <header className="safe-t">
      <div className="flex min-h-14 items-center justify-between px-4">
        {first ? (
          <Wordmark />
        ) : (
          <Link to="/" className="touchable inline-flex items-center gap-2 text-muted">
            <BackIcon /> {t("pair.pairPage.machines")}
          </Link>
        )}
        <LinkLight />
      </div>
    </header>
  );
}
