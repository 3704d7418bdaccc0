import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { amountsOf } from "./words";

export interface AmountFormProps {
  /** What it begins with; 0 is shown as an empty field. */
  cost?: number;
  tokens?: number;
  labels: { cost: string; tokens: string; submit: string };
  placeholder?: string;
  hint?: string;
  busy: boolean;
  /** Whether both fields may be empty. */
  mayBeEmpty?: boolean;
  onSubmit: (amounts: { cost?: number; tokens?: number }) => void;
  /** More buttons. */
  children?: ReactNode;
}

/** Asks for an amount of money and of tokens. */
export function AmountForm(props: AmountFormProps) {
  const { labels, placeholder = "", hint, busy, mayBeEmpty = false, onSubmit, children } = props;
  const [cost, setCost] = useState(props.cost ? String(props.cost) : "");
  const [tokens, setTokens] = useState(props.tokens ? String(props.tokens) : "");
  const amounts = amountsOf(cost, tokens);
  const ready = amounts !== null && (mayBeEmpty || Object.keys(amounts).length > 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (amounts && ready) {
      onSubmit(amounts);
    }
  };
  return (
    <form onSubmit={submit} noValidate className="mt-2">
      <div className="grid grid-cols-2 gap-3">
        <TextField
          label={labels.cost}
          inputMode="decimal"
          data-testid="budget-cost"
          autoComplete="off"
          value={cost}
          placeholder={placeholder}
          onChange={(event) => setCost(event.target.value)}
        />
        <TextField
          label={labels.tokens}
          inputMode="numeric"
          data-testid="budget-tokens"
          autoComplete="off"
          value={tokens}
          placeholder={placeholder}
          onChange={(event) => setTokens(event.target.value)}
        />
      </div>
      {hint ? <p className="mt-1.5 text-muted text-sm">{hint}</p> : null}
      <div className="mt-2 flex flex-wrap gap-2">
        <Button type="submit" tone="primary" data-testid="budget-submit" busy={busy} disabled={!ready}>
          {labels.submit}
        </Button>
        {children}
      </div>
    </form>
  );
}
