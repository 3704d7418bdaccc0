import { BranchIcon, FilesIcon, SearchIcon, StopIcon } from "../../components/icons";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/chat";
import { type Command, usePageCommands } from "../shared/commands";
import { may } from "../shared/grants";
import { withHelp } from "../shared/with-help";
import type { OpenSession } from "./context/use-session";

export interface SessionCommands {
  open: OpenSession | null;
  info: Parameters<typeof may>[0];
  onFind: () => void;
  onTree: () => void;
  onChanges: () => void;
}

/** Adds the actions of a session's page to the palette. */
export function useSessionCommands({ open, info, onFind, onTree, onChanges }: SessionCommands): void {
  const toast = useToast();
  usePageCommands(() => {
    if (!open || open.state.status === "missing") {
      return [];
    }
    const { view, state } = open;
    const stop: Command = {
      id: "page/stop",
      title: t("chat.commands.stop"),
      icon: <StopIcon />,
      others: t("chat.commands.stopWords"),
      keys: ["Esc", "Esc"],
      run: () => void view.cancel().catch((cause: unknown) => toast(withHelp(cause))),
    };
    return [
      ...(state.live.turn && may(info, "prompt") ? [stop] : []),
      { id: "page/find", title: t("chat.commands.find"), icon: <SearchIcon />, keys: ["/"], run: onFind },
      ...(may(info, "files")
        ? [{ id: "page/changes", title: t("chat.commands.changes"), icon: <FilesIcon />, run: onChanges }]
        : []),
      { id: "page/branches", title: t("chat.commands.branches"), icon: <BranchIcon />, run: onTree },
    ];
  });
}
