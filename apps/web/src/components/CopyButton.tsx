import { useEffect, useState } from "react";
import { t } from "../i18n/components";
import { IconButton } from "./Button";
import { CheckIcon, CopyIcon } from "./icons";
import { useToast } from "./Toast";

/** Copies text, and confirms that for two seconds. */
export function CopyButton({ text, label, className }: { text: string; label?: string; className?: string }) {
  const [copied, setCopied] = useState(false);
  const toast = useToast();
  useEffect(() => {
    if (!copied) {
      return;
    }
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      toast(t("components.copyButton.blocked"));
    }
  };
  return (
    <IconButton
      label={copied ? t("components.copyButton.copied") : (label ?? t("components.copyButton.copy"))}
      onClick={copy}
      className={className}
    >
      {copied ? <CheckIcon className="text-accent" /> : <CopyIcon />}
    </IconButton>
  );
}
