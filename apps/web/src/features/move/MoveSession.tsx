import { useState } from "react";
import type { Host } from "../../api/contract";
import type { SessionSummary } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Sheet } from "../../components/Sheet";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/move";
import { useOpen } from "../route/entry";
import { useReadable, useScorel } from "../shared/scorel-context";
import { MachineChoice } from "./MachineChoice";
import { MoveProgress } from "./MoveProgress";
import { ProjectThere } from "./ProjectThere";
import { useMove } from "./use-move";

export interface MoveSessionProps {
  host: Host;
  session: SessionSummary;
  onClose: () => void;
}

/** Moves a session to another machine that this browser is paired with. */
export default function MoveSession({ host, session, onClose }: MoveSessionProps) {
  const scorel = useScorel();
  const toast = useToast();
  const open = useOpen();
  const devices = useReadable(scorel.devices);
  const [to, setTo] = useState("");
  const [projectId, setProjectId] = useState("");
  const [label, setLabel] = useState("");
  const { move, arranging, error, begin, cancel } = useMove(host, session, () => {
    const there = devices?.find(({ id }) => id === (to || move?.to))?.label ?? label;
    if (open.sessionId !== session.id) {
      toast(t("move.progress.done", { label: there })); // its page shows where it continues
    }
    onClose();
  });
  const others = devices?.filter(({ id }) => id !== host.deviceId) ?? [];
  const busy = arranging || move !== null;
  const committed = move?.state === "committed" || move?.state === "canceling";
  return (
    <Sheet
      title={t("move.sheet.title")}
      onClose={onClose}
      footer={
        busy ? (
          <Button data-testid="move-cancel" disabled={committed} onClick={() => void cancel()}>
            {t("move.progress.cancel")}
          </Button>
        ) : (
          <Button
            data-testid="move-start"
            tone="primary"
            disabled={to === "" || projectId === ""}
            onClick={() => void begin(scorel.host(to), projectId)}
          >
            {t("move.sheet.move")}
          </Button>
        )
      }
    >
      {busy ? (
        <MoveProgress move={move} wait={session.running} />
      ) : (
        <>
          {others.length === 0 ? <p className="text-muted">{t("move.sheet.noMachine")}</p> : null}
          <div role="radiogroup" aria-label={t("move.sheet.machine")} className="space-y-2">
            {others.map((device) => (
              <MachineChoice
                key={device.id}
                device={device}
                chosen={to === device.id}
                onChoose={() => {
                  setTo(device.id);
                  setLabel(device.label);
                  setProjectId("");
                }}
              />
            ))}
          </div>
          {to ? (
            <ProjectThere
              key={to}
              {...{ from: host, to, projectId: session.projectId, chosen: projectId, onChoose: setProjectId }}
            />
          ) : null}
          <p className="mt-4 text-muted text-sm">{t("move.sheet.moves")}</p>
          <p className="mt-2 text-muted text-sm">{t("move.sheet.agentFiles")}</p>
        </>
      )}
      <ErrorText className="mt-3">{error}</ErrorText>
    </Sheet>
  );
}
