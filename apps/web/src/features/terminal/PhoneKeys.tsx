import type { ReactNode } from "react";
import { cx } from "../../components/cx";
import { ArrowDownIcon, ArrowUpIcon } from "../../components/icons";
import { t } from "../../i18n/terminal";
import type { Modifiers, PhoneKey } from "./keys";

export interface PhoneKeysProps {
  disabled: boolean;
  modifiers: Modifiers;
  onModifiers: (modifiers: Modifiers) => void;
  onKey: (key: PhoneKey) => void;
  onPaste: () => void;
}

/** The keys that a phone's keyboard lacks, in a row above it. */
export function PhoneKeys({ disabled, modifiers, onModifiers, onKey, onPaste }: PhoneKeysProps) {
  const { ctrl, alt } = modifiers;
  const key = (name: PhoneKey, label: string, content: ReactNode = label) => (
    <Key label={label} disabled={disabled} onPress={() => onKey(name)}>
      {content}
    </Key>
  );
  return (
    <div
      role="toolbar"
      aria-label={t("terminal.keys.bar")}
      data-testid="terminal-keys"
      className="safe-b flex gap-1 overflow-x-auto border-line border-t bg-sunken px-1.5 pt-1"
    >
      {key("escape", t("terminal.keys.escape"))}
      {key("tab", t("terminal.keys.tab"))}
      <Key
        label={t("terminal.keys.ctrl")}
        disabled={disabled}
        pressed={ctrl}
        onPress={() => onModifiers({ ctrl: !ctrl, alt })}
      />
      <Key
        label={t("terminal.keys.alt")}
        disabled={disabled}
        pressed={alt}
        onPress={() => onModifiers({ ctrl, alt: !alt })}
      />
      {key("left", t("terminal.keys.left"), <ArrowUpIcon className="-rotate-90" />)}
      {key("up", t("terminal.keys.up"), <ArrowUpIcon />)}
      {key("down", t("terminal.keys.down"), <ArrowDownIcon />)}
      {key("right", t("terminal.keys.right"), <ArrowUpIcon className="rotate-90" />)}
      <Key label={t("terminal.keys.paste")} disabled={disabled} onPress={onPaste} />
    </div>
  );
}

interface KeyProps {
  label: string;
  disabled: boolean;
  pressed?: boolean;
  onPress: () => void;
  children?: ReactNode;
}

function Key({ label, disabled, pressed, onPress, children = label }: KeyProps) {
  return (
    <button
      type="button"
      aria-label={label}
      aria-pressed={pressed}
      disabled={disabled}
      // The terminal keeps the focus, and so the keyboard stays.
      onPointerDown={(event) => event.preventDefault()}
      onClick={onPress}
      className={cx(
        "touchable grid min-w-11 flex-1 select-none place-items-center rounded-md border px-2 font-medium text-sm disabled:opacity-55",
        pressed ? "border-accent bg-accent-soft text-accent" : "border-line bg-surface text-ink",
      )}
    >
      {children}
    </button>
  );
}
