import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type Backend, type Requests } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { CommandBox } from "../../components/CommandBox";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/machine";
import { Denial } from "../backends/Denial";
import { isRefusal } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useAct } from "../shared/use-act";
import { withHelp } from "../shared/with-help";

type Tested = Requests["test_backend"]["response"];

export interface BackendListProps {
  host: Host;
  machine: string;
  mayManage: boolean;
}

/** The agents of other programs: which are installed, how to install and log in to them, and a test. */
export function BackendList({ host, machine, mayManage }: BackendListProps) {
  const { data, error } = useHostQuery(host, "list_backends", {});
  const { busy, error: refused, act } = useAct();
  const [results, setResults] = useState<Record<string, Tested>>({});
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const test = (name: string) =>
    act(name, async () => {
      const result = await host.request("test_backend", { name });
      setResults((before) => ({ ...before, [name]: result }));
    });
  return (
    <Section title={t("machine.backendList.title")} error={refused ?? (error ? withHelp(error) : null)} done={null}>
      <p className="mt-1 text-muted text-sm">{t("machine.backendList.explanation", { machine })}</p>
      {data || error ? null : <Skeleton label={t("machine.backendList.loading")} rows={3} className="mt-2" />}
      <ul className="mt-2 divide-y divide-line">
        {data?.backends.map((backend) => (
          <li key={backend.name} data-testid="backend" className="py-2.5">
            <BackendRow
              backend={backend}
              busy={busy === backend.name}
              result={results[backend.name]}
              onTest={mayManage && backend.path ? () => test(backend.name) : null}
            />
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface BackendRowProps {
  backend: Backend;
  busy: boolean;
  result: Tested | undefined;
  onTest: (() => void) | null;
}

function BackendRow({ backend, busy, result, onTest }: BackendRowProps) {
  const { name, title, path, install, login, mode } = backend;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium text-sm [overflow-wrap:anywhere]">{title}</span>
        <code className="font-mono text-muted text-xs">{name}</code>
        <Badge tone={path ? "accent" : "neutral"}>
          {path ? t("machine.backendList.installed") : t("machine.backendList.missing")}
        </Badge>
        <span className="flex-1" />
        {onTest ? (
          <Button data-testid="backend-test" aria-busy={busy || undefined} disabled={busy} onClick={onTest}>
            {t("machine.backendList.test")}
          </Button>
        ) : null}
      </div>
      {path ? <code className="mt-1 block break-all font-mono text-muted text-xs">{path}</code> : null}
      {!path && install ? <Command label={t("machine.backendList.install")} text={install} /> : null}
      {path && login ? <Command label={t("machine.backendList.login")} text={`scorel backend login ${name}`} /> : null}
      {mode ? <p className="mt-1 text-muted text-xs">{t("machine.backendList.mode", { mode })}</p> : null}
      {path ? <Denial backend={backend} /> : null}
      {result ? <TestResult title={title} result={result} /> : null}
    </>
  );
}

function Command({ label, text }: { label: string; text: string }) {
  return (
    <div className="mt-1 text-sm">
      <p className="text-muted">{label}</p>
      <CommandBox command={text} label={t("machine.backendList.copy", { command: text })} className="mt-1 bg-sunken" />
    </div>
  );
}

function TestResult({ title, result }: { title: string; result: Tested }) {
  const { problem, login, agent, durationMs } = result;
  return (
    <p role="status" data-testid="backend-result" className={problem ? "mt-1 text-danger text-sm" : "mt-1 text-sm"}>
      {problem
        ? [problem, login].filter(Boolean).join(" ")
        : t("machine.backendList.works", { agent: agent || title, duration: durationMs })}
    </p>
  );
}
