import { useEffect, useState } from "react";
import { IconButton } from "./Button";
import { CheckIcon, CopyIcon } from "./icons";
import { useToast } from "./Toast";

/** Copies text, and says so for two seconds. */
export function CopyButton({ text, label = "Copy", className }: { text: string; label?: string; className?: string }) {
  const [copied, setCopied] = useState(false);
  const toast = useToast();
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      toast("The browser did not let the page copy; select the text and copy it by hand.");
    }
  };
  return (
    <IconButton label={copied ? "Copied" : label} onClick={copy} className={className}>
      {copied ? <CheckIcon className="text-accent" /> : <CopyIcon />}
    </IconButton>
  );
}
