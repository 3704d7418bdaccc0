import type { Host } from "../../api/contract";
import type { Project } from "../../api/types";
import { Button } from "../../components/Button";
import { Section } from "./Section";
import { useAct } from "./use-act";

/** Whether what the folder brings along counts, and the way to change it. */
export function Trust({ host, project }: { host: Host; project: Project }) {
  const { busy, error, act } = useAct();
  const trusted = project.trusted ?? false;
  const set = () => act("trust", () => host.request("trust_project", { projectId: project.id, trusted: !trusted }));
  return (
    <Section title="Trust" error={error}>
      <p data-testid="trust-state" data-trusted={trusted} className="mt-1 text-muted text-sm">
        {trusted
          ? "The folder is trusted: its own settings, skills and MCP servers count. Each server is asked about by itself."
          : "The folder is not trusted: its own settings, skills and MCP servers do not count. They can start programs, so look at them first."}
      </p>
      <Button
        data-testid="trust-toggle"
        tone={trusted ? "secondary" : "primary"}
        busy={busy !== null}
        className="mt-2"
        onClick={set}
      >
        {trusted ? "Trust it no longer" : "Trust this folder"}
      </Button>
    </Section>
  );
}
