import { useState } from "react";
import type { Approval, Decision } from "../../api/types";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { ShieldIcon } from "../../components/icons";
import { sentence } from "../shared/errors";
import { Code } from "./CodeBlock";
import { useNames } from "./live-context";

export interface ApprovalCardProps {
  approval: Approval;
  /** Whether this browser may answer, and the machine can hear it now. */
  canAnswer: boolean;
  onAnswer: (approval: Approval, decision: Decision) => Promise<{ won: boolean; decidedBy: string }>;
}

/** The agent asks before it changes something. Nothing runs until somebody allows it. */
export function ApprovalCard({ approval, canAnswer, onAnswer }: ApprovalCardProps) {
  const [sent, setSent] = useState<Decision | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const nameOf = useNames();
  const answer = async (decision: Decision) => {
    setSent(decision);
    setNote(null);
    try {
      const { won, decidedBy } = await onAnswer(approval, decision);
      if (!won) setNote(`Too late: ${nameOf(decidedBy)} had answered already, and that answer counts.`);
    } catch (cause) {
      setSent(null);
      setNote(sentence(cause));
    }
  };
  return (
    <Card
      tone="warn"
      data-testid="approval-card"
      role="group"
      aria-label={`Approval: ${approval.title}`}
      className="rise my-3 overflow-hidden"
    >
      <Question approval={approval} />
      <div className="mt-3 grid grid-cols-2 gap-2 px-4 pb-4 sm:flex sm:justify-end">
        <Button
          data-testid="approval-deny"
          busy={sent === "deny"}
          disabled={!canAnswer || sent !== null}
          onClick={() => answer("deny")}
        >
          Deny
        </Button>
        <Button
          data-testid="approval-allow"
          tone="primary"
          busy={sent === "allow"}
          disabled={!canAnswer || sent !== null}
          onClick={() => answer("allow")}
        >
          Allow once
        </Button>
      </div>
      {note ? (
        <p role="alert" className="border-warn-line border-t px-4 py-2 text-sm">
          {note}
        </p>
      ) : null}
    </Card>
  );
}

function Question({ approval }: { approval: Approval }) {
  return (
    <>
      <div className="flex items-start gap-3 px-4 pt-3.5">
        <ShieldIcon className="mt-0.5 shrink-0 text-warn text-xl" />
        <div className="min-w-0 flex-1">
          <p className="caption text-warn">The agent asks</p>
          <p className="break-words font-semibold">{approval.title}</p>
        </div>
      </div>
      {approval.detail ? (
        <Code
          code={approval.detail}
          language={approval.toolName === "bash" ? "bash" : ""}
          className="mx-4 mt-3 max-h-[40dvh] overflow-auto whitespace-pre-wrap break-words rounded-md border border-line bg-surface p-3"
        />
      ) : null}
      <p className="mx-4 mt-2 break-all text-muted text-xs">
        in <code className="font-mono">{approval.cwd}</code>
      </p>
    </>
  );
}
