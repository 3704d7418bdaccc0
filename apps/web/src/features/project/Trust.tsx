import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Project } from "../../api/types";
import { Button } from "../../components/Button";
import { t } from "../../i18n/project";
import { Section } from "../shared/Section";
import { useAct } from "../shared/use-act";

/** Whether the folder's own configuration is trusted, with a button to change it. */
export function Trust({ host, project }: { host: Host; project: Project }) {
  const { busy, error, act } = useAct();
  const trusted = project.trusted ?? false;
  const [done, setDone] = useState<string | null>(null);
  const set = () =>
    act("trust", async () => {
      setDone(null);
      await host.request("trust_project", { projectId: project.id, trusted: !trusted });
      setDone(trusted ? t("project.trust.noLongerTrusted") : t("project.trust.trusted"));
    });
  return (
    <Section title={t("project.trust.trust")} error={error} done={done}>
      <p data-testid="trust-state" data-trusted={trusted} className="mt-1 text-muted text-sm">
        {trusted ? t("project.trust.theFolderIsTrustedIts") : t("project.trust.theFolderIsNotTrusted")}
      </p>
      <Button
        data-testid="trust-toggle"
        tone={trusted ? "secondary" : "primary"}
        busy={busy !== null}
        className="mt-2"
        onClick={set}
      >
        {trusted ? t("project.trust.stopTrusting") : t("project.trust.trustThisFolder")}
      </Button>
    </Section>
  );
}
