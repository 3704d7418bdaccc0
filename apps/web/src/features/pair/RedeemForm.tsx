import { type FormEvent, useState } from "react";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/pair";

const digits = 12;

/** A field for a code that the host shows. */
export function RedeemForm({ onRedeem }: { onRedeem: (code: string) => void }) {
  const [code, setCode] = useState("");
  const [error, setError] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const typed = code.trim();
    const problem = problemOf(typed);
    setError(problem);
    if (!problem) {
      onRedeem(typed);
    }
  };
  return (
    <form onSubmit={submit} className="mt-6" noValidate>
      <div className="flex items-end gap-2">
        <TextField
          className="min-w-0 flex-1"
          label={t("pair.redeemForm.enterACode")}
          mono
          placeholder="7K3M-9QXR-2BTD"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          value={code}
          onChange={(event) => setCode(event.target.value)}
          aria-invalid={error ? true : undefined}
          data-testid="pair-code-input"
        />
        <Button type="submit" data-testid="pair-redeem">
          {t("pair.redeemForm.pair")}
        </Button>
      </div>
      <p role={error ? "alert" : undefined} className={`mt-1.5 text-sm ${error ? "text-danger" : "text-muted"}`}>
        {error ?? t("pair.redeemForm.hint")}
      </p>
    </form>
  );
}

/** Returns what is wrong with a typed code, as a sentence; null if it can be tried. */
export function problemOf(code: string): string | null {
  const bare = code.replace(/[\s-]/g, "");
  if (bare === "") {
    return t("pair.redeemForm.empty");
  }
  if (!/^[0-9a-z]+$/i.test(bare) || bare.length !== digits || /u/i.test(bare)) {
    return t("pair.redeemForm.notACode");
  }
  return null;
}
