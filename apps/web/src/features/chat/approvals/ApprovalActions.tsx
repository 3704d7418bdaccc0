import { type ReactNode, type RefObject, useId } from "react";
import type { Approval, Decision } from "../../../api/types";
import { Button } from "../../../components/Button";
import { cx } from "../../../components/cx";
import { Spinner } from "../../../components/Spinner";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import { byKey, meantBy } from "./meant-by";
import type { Guard } from "./use-press-guard";

export interface ApprovalActionsProps {
  area: RefObject<HTMLDivElement | null>;
  approval: Approval;
  /** The rules that "always" would store; empty when that is not offered. */
  rules: readonly string[];
  /** Whether the turn can be canceled with the answer. */
  stops: boolean;
  /** Whether an answer could not be delivered now. */
  disabled: boolean;
  /** The decision that was pressed and is being sent. */
  sent: Decision | undefined;
  guard: Guard;
  onPress: (decision: Decision) => void;
  onWord: () => void;
}

/** The buttons of an approval. They stay visible as long as the card is, however long the card is. */
export function ApprovalActions({ area, approval, rules, stops, guard, onWord, ...given }: ApprovalActionsProps) {
  const { disabled, sent, onPress } = given;
  const common = { disabled, sent };
  const allowing = (decision: Decision) => guard.button(decision, () => onPress(decision));
  const denying = (decision: Decision) => ({ onClick: () => onPress(decision) });
  if (approval.choices?.length) {
    return <Choices area={area} approval={approval} stops={stops} {...common} allowing={allowing} denying={denying} />;
  }
  return (
    // In a low window only the last row is sticky, to leave room for the request.
    <div className="sticky bottom-0 z-10 mt-3 border-warn-line border-t bg-inherit short:contents">
      {rules.length > 0 ? <Always rules={rules} press={{ ...common, ...allowing("always") }} /> : null}
      <div
        ref={area}
        data-testid="approval-actions"
        className="grid grid-cols-12 gap-2 bg-inherit px-4 pt-2 pb-3 first:pt-3 sm:flex short:sticky short:bottom-0 short:z-10"
      >
        <Button
          data-testid="approval-word"
          tone="quiet"
          className={cx(
            "min-w-0 px-2! max-sm:order-3 max-sm:whitespace-normal max-sm:px-0.5!",
            stops ? "max-sm:col-span-7" : "max-sm:col-span-12",
          )}
          aria-disabled={disabled || sent !== undefined || undefined}
          onClick={() => (disabled || sent !== undefined ? undefined : onWord())}
        >
          {t("chat.approvals.denyWithFeedback")}
        </Button>
        {stops ? (
          <Press
            decision="stop"
            tone="quiet"
            className="px-2! max-sm:order-4 max-sm:col-span-5"
            {...common}
            {...denying("stop")}
          >
            {t("chat.approvals.stopTheTurn")}
          </Press>
        ) : null}
        <span className="hidden flex-1 sm:block" />
        <Press decision="deny" hint="D" className="max-sm:order-1 max-sm:col-span-6" {...common} {...denying("deny")}>
          {t("chat.approvals.deny")}
        </Press>
        {/* The most dangerous button is not where the hand goes by itself. */}
        <Press
          decision="allow"
          hint="A"
          tone={approval.risk?.level === "high" ? "danger" : "primary"}
          className="max-sm:order-2 max-sm:col-span-6"
          {...common}
          {...allowing("allow")}
        >
          {t("chat.approvals.allowOnce")}
        </Press>
      </div>
    </div>
  );
}

interface ChoicesProps {
  area: RefObject<HTMLDivElement | null>;
  approval: Approval;
  stops: boolean;
  sent: Decision | undefined;
  disabled: boolean;
  allowing: (decision: Decision) => Partial<ReturnType<Guard["button"]>>;
  denying: (decision: Decision) => { onClick: () => void };
}

/** The answers of another program, under the names that it gives them; their kinds only color them. */
function Choices({ area, approval, stops, allowing, denying, ...common }: ChoicesProps) {
  const rejects = (kind = "") => kind.startsWith("reject");
  return (
    <div
      ref={area}
      data-testid="approval-actions"
      className="sticky bottom-0 z-10 mt-3 flex flex-col gap-2 border-warn-line border-t bg-inherit px-4 pt-3 pb-3 short:static"
    >
      {approval.choices?.map(({ decision, name, kind }) => (
        <Press
          key={decision}
          decision={decision}
          hint={hintOf(approval, decision)}
          tone={rejects(kind) ? "quiet" : kind === "allow_once" ? "primary" : undefined}
          className="w-full whitespace-normal! break-words [overflow-wrap:anywhere]"
          {...common}
          {...(rejects(kind) ? denying(decision) : allowing(decision))}
        >
          {visible(name)}
        </Press>
      ))}
      {stops ? (
        <Press decision="stop" tone="quiet" className="w-full" {...common} {...denying("stop")}>
          {t("chat.approvals.stopTheTurn")}
        </Press>
      ) : null}
    </div>
  );
}

const hints = { allow: "A", always: "⇧A", deny: "D" };

/** Returns the key that gives an answer of another program; undefined if it has none. */
function hintOf(approval: Approval, decision: Decision): string | undefined {
  return byKey.map((key) => (meantBy(key, approval) === decision ? hints[key] : undefined)).find(Boolean);
}

interface PressProps extends Partial<ReturnType<Guard["button"]>> {
  sent: Decision | undefined;
  disabled: boolean;
}

interface PressButtonProps extends PressProps {
  decision: Decision;
  /** The key that activates it. */
  hint?: string | undefined;
  tone?: "primary" | "quiet" | "danger" | undefined;
  className?: string;
  describedBy?: string;
  children: ReactNode;
}

/** A button that keeps the focus while no answer can be given. */
function Press({ decision, hint, tone, sent, disabled, describedBy, className, children, ...rest }: PressButtonProps) {
  return (
    <Button
      data-testid={`approval-${decision}`}
      aria-describedby={describedBy}
      aria-busy={sent === decision || undefined}
      aria-keyshortcuts={hint?.replace("⇧", "Shift+")}
      {...rest}
      {...(disabled ? { onClick: undefined } : {})}
      aria-disabled={disabled || rest["aria-disabled"] || sent !== undefined || undefined}
      {...(tone ? { tone } : {})}
      {...(className ? { className } : {})}
    >
      {sent === decision ? <Spinner /> : null}
      {children}
      {hint ? <Key>{hint}</Key> : null}
    </Button>
  );
}

/** Shows the key of a button, on the card that receives keys and on screens that likely have a keyboard. */
function Key({ children }: { children: string }) {
  return (
    <span aria-hidden="true" className="hidden sm:pointer-fine:group-data-active/card:inline">
      <kbd className="rounded-sm border border-current/30 px-1 font-mono text-[0.6875rem] leading-4">{children}</kbd>
    </span>
  );
}

/** Shows the rules verbatim: they outlast this call. */
function Always({ rules, press }: { rules: readonly string[]; press: PressProps }) {
  const id = useId();
  return (
    <div className="flex items-center justify-between gap-3 px-4 pt-3">
      <div id={id} className="max-h-[20dvh] min-w-0 overflow-auto text-muted text-xs">
        <p>{t("chat.approvals.alwaysAllowInThisProject")}</p>
        <ul data-testid="approval-rules">
          {rules.map((rule) => (
            <li key={rule} className="break-all font-mono text-[0.8125rem] text-ink">
              {visible(rule)}
            </li>
          ))}
        </ul>
      </div>
      <Press decision="always" hint="⇧A" describedBy={id} className="shrink-0" {...press}>
        {t("chat.approvals.alwaysAllow")}
      </Press>
    </div>
  );
}
