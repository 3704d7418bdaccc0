import type { ReactNode } from "react";
import { Link } from "wouter";
import type { PairingState } from "../../api/contract";
import { Button } from "../../components/Button";
import { CommandBox } from "../../components/CommandBox";
import { CheckIcon, RefreshIcon, WarningIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/pair";
import { rich } from "../../i18n/rich";
import { address } from "../route/address";
import { minutesAndSeconds, useNow } from "../shared/time";
import { Help } from "../shared/with-help";
import type { PairingControl } from "./use-pairing";

/** One panel for each step of a pairing; each explains it in one sentence. */
export function PairingPanel({ control }: { control: PairingControl }) {
  const { state, by } = control;
  switch (state.step) {
    case "requesting":
      return (
        <Step
          icon={<Spinner />}
          title={
            by === "showing" ? t("pair.pairingPanel.requestingACode") : t("pair.pairingPanel.lookingForTheMachine")
          }
        >
          {by === "showing" ? t("pair.pairingPanel.takesAMoment") : t("pair.pairingPanel.askingTheRelay")}
        </Step>
      );
    case "showing":
      return <ShowCode state={state} onNew={control.showCode} />;
    case "confirming":
      return (
        <Step
          icon={<Spinner />}
          title={t("pair.pairingPanel.found", { label: state.label || t("pair.pairingPanel.theMachine") })}
        >
          {t("pair.pairingPanel.proving")}
        </Step>
      );
    case "accepting":
      return (
        <Step
          icon={<Spinner />}
          title={t("pair.pairingPanel.waitingFor", { label: state.label || t("pair.pairingPanel.theMachine") })}
        >
          {t("pair.pairingPanel.confirmInTheTerminal")}
        </Step>
      );
    case "done":
      return (
        <Step
          icon={<CheckIcon className="text-accent" />}
          title={t("pair.pairingPanel.pairedWith", { label: state.label })}
        >
          <p>{t("pair.pairingPanel.canUse")}</p>
          <Link
            to={address.machine(state.deviceId)}
            className="mt-3 inline-block font-medium text-accent underline underline-offset-2"
          >
            {t("pair.pairingPanel.open", { label: state.label })}
          </Link>
        </Step>
      );
    case "failed":
      return (
        <Step icon={<WarningIcon className="text-danger" />} title={t("pair.pairingPanel.failed")}>
          <p role="alert">
            {state.message} {state.kind ? <Help kind={state.kind} /> : null}
          </p>
          <Button tone="primary" className="mt-4" onClick={control.showCode}>
            {t("pair.pairingPanel.showANewCode")}
          </Button>
        </Step>
      );
  }
}

function Step({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <div role="status" className="flex gap-3">
      <span className="mt-0.5 text-accent text-lg leading-none">{icon}</span>
      <div className="min-w-0">
        <h2 className="font-medium">{title}</h2>
        <div className="mt-1 text-muted text-sm">{children}</div>
      </div>
    </div>
  );
}

function ShowCode({ state, onNew }: { state: Extract<PairingState, { step: "showing" }>; onNew: () => void }) {
  const now = useNow(1000);
  const left = state.expiresAt - now;
  if (left <= 0) {
    return (
      <Step icon={<WarningIcon className="text-warn" />} title={t("pair.pairingPanel.expired")}>
        <p>{t("pair.pairingPanel.validity")}</p>
        <Button tone="primary" className="mt-4" onClick={onNew}>
          {t("pair.pairingPanel.showANewCode")}
        </Button>
      </Step>
    );
  }
  return (
    <div>
      <p className="text-muted text-sm">{t("pair.pairingPanel.runThis")}</p>
      <CommandBox
        command={state.command}
        label={t("pair.pairingPanel.copyTheCommand")}
        data-testid="pair-command"
        className="mt-2 bg-sunken"
      />
      <p className="caption mt-6 text-faint uppercase">{t("pair.pairingPanel.pairingCode")}</p>
      <p
        data-testid="pair-code"
        className="mt-1 select-all whitespace-nowrap font-medium font-mono text-[clamp(1.5rem,7.4vw,2.5rem)] leading-tight tracking-tight"
      >
        {state.code}
      </p>
      <div className="mt-3 flex items-center justify-between gap-2 text-muted text-sm">
        <span>
          {rich((values) => t("pair.pairingPanel.expiresIn", values), {
            time: <span className="font-mono tabular-nums">{minutesAndSeconds(left)}</span>,
          })}
        </span>
        <Button tone="quiet" className="-mr-3.5" onClick={onNew}>
          <RefreshIcon /> {t("pair.pairingPanel.newCode")}
        </Button>
      </div>
    </div>
  );
}
