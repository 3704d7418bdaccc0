import { type ReactNode, useState } from "react";
import type { Host } from "../../../api/contract";
import type { BackendOption } from "../../../api/types";
import { ErrorText } from "../../../components/ErrorText";
import { Select } from "../../../components/Select";
import { Sheet } from "../../../components/Sheet";
import { t } from "../../../i18n/chat";
import { visible } from "../../shared/visible";
import { withHelp } from "../../shared/with-help";

export interface BackendSheetProps {
  host: Host;
  sessionId: string;
  options: BackendOption[];
  /** The program acts without asking. */
  decides: boolean;
  name: string;
  onClose: () => void;
}

/** The options of another program, in its own words. A change counts at once. */
export default function BackendSheet({ host, sessionId, options, decides, name, onClose }: BackendSheetProps) {
  const [error, setError] = useState<ReactNode>(null);
  const change = async (option: string, value: string) => {
    setError(null);
    try {
      await host.request("set_backend_option", { sessionId, option, value });
    } catch (cause) {
      setError(withHelp(cause));
    }
  };
  return (
    <Sheet title={t("chat.backend.optionsOf", { name })} onClose={onClose}>
      <ul className="flex flex-col gap-3">
        {options.map(({ id, name: label, value, choices = [] }) => {
          const about = choices.find((choice) => choice.value === value)?.description;
          return (
            <li key={id}>
              <div className="flex items-center justify-between gap-3">
                <span dir="auto" className="min-w-0 truncate">
                  {visible(label)}
                </span>
                <Select
                  label={visible(label)}
                  data-testid={`backend-option-${id}`}
                  value={value}
                  onChange={(event) => change(id, event.target.value)}
                  options={choices.map((choice) => ({
                    value: choice.value,
                    label: visible(choice.name || choice.value),
                  }))}
                />
              </div>
              {about ? <p className="mt-1 text-muted text-sm">{visible(about)}</p> : null}
            </li>
          );
        })}
      </ul>
      {decides ? <p className="mt-3 text-danger text-sm">{t("chat.backend.decidesNow", { name })}</p> : null}
      <ErrorText className="mt-3">{error}</ErrorText>
    </Sheet>
  );
}
