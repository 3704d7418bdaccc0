import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { PairingState } from "../../api/contract";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { CheckIcon, RefreshIcon, WarningIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { minutesAndSeconds, useNow } from "../shared/time";
import type { PairingControl } from "./use-pairing";

/** One panel for each step of a pairing; each says in a sentence what goes on. */
export function PairingPanel({ control }: { control: PairingControl }) {
  const { state, by } = control;
  switch (state.step) {
    case "requesting":
      return (
        <Step icon={<Spinner />} title={by === "showing" ? "Asking the relay for a code" : "Looking for the machine"}>
          {by === "showing" ? "This takes a moment." : "The relay is asked for the machine that shows this code."}
        </Step>
      );
    case "showing":
      return <ShowCode state={state} onNew={control.showCode} />;
    case "confirming":
      return (
        <Step icon={<Spinner />} title={`Found ${state.label || "the machine"}`}>
          Both sides now prove that they know the code, without sending it.
        </Step>
      );
    case "accepting":
      return (
        <Step icon={<Spinner />} title={`Waiting for ${state.label || "the machine"}`}>
          Confirm this browser in the terminal on that machine.
        </Step>
      );
    case "done":
      return (
        <Step icon={<CheckIcon className="text-accent" />} title={`Paired with ${state.label}`}>
          <p>This browser may now work with that machine, until you remove it there.</p>
          <Link
            to="/d/$deviceId"
            params={{ deviceId: state.deviceId }}
            className="mt-3 inline-block font-medium text-accent underline underline-offset-2"
          >
            Open {state.label}
          </Link>
        </Step>
      );
    case "failed":
      return (
        <Step icon={<WarningIcon className="text-danger" />} title="Pairing did not work">
          <p role="alert">{state.message}</p>
          <Button tone="primary" className="mt-4" onClick={control.showCode}>
            Show a new code
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
      <Step icon={<WarningIcon className="text-warn" />} title="This code has expired">
        <p>A code is good for ten minutes and for one machine.</p>
        <Button tone="primary" className="mt-4" onClick={onNew}>
          Show a new code
        </Button>
      </Step>
    );
  }
  return (
    <div>
      <p className="text-muted text-sm">Run this on the machine that you want to reach:</p>
      <div className="mt-2 flex items-center gap-1 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
        <code data-testid="pair-command" className="min-w-0 flex-1 break-words py-1.5 font-mono text-sm">
          {state.command}
        </code>
        <CopyButton text={state.command} label="Copy the command" />
      </div>
      <p className="caption mt-6 text-faint uppercase">Pairing code</p>
      <p
        data-testid="pair-code"
        className="mt-1 select-all whitespace-nowrap font-medium font-mono text-[clamp(1.5rem,7.4vw,2.5rem)] leading-tight tracking-tight"
      >
        {state.code}
      </p>
      <div className="mt-3 flex items-center justify-between gap-2 text-muted text-sm">
        <span>
          Expires in <span className="font-mono tabular-nums">{minutesAndSeconds(left)}</span>
        </span>
        <Button tone="quiet" className="-mr-3.5" onClick={onNew}>
          <RefreshIcon /> New code
        </Button>
      </div>
    </div>
  );
}
