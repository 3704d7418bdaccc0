import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Host } from "../../api/contract";
import { Button } from "../../components/Button";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/device";
import { hostKey } from "../shared/host-queries";
import { withHelp } from "../shared/with-help";
import { FolderBrowser } from "./FolderBrowser";

/** Chooses a folder of the host and makes it a project. */
export function AddProjectSheet({ host, onClose }: { host: Host; onClose: () => void }) {
  const queries = useQueryClient();
  const [path, setPath] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const listing = useQuery({
    queryKey: hostKey(host.deviceId, "list_dir", { path }),
    queryFn: () => host.request("list_dir", { path }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    retry: false,
  });
  const here = listing.data?.path;
  const go = (to: string) => {
    setError(null);
    setPath(to);
  };
  const choose = async () => {
    if (!here) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await host.request("add_project", { path: here });
      await queries.invalidateQueries({ queryKey: hostKey(host.deviceId, "list_projects", {}) });
      onClose();
    } catch (cause) {
      setError(withHelp(cause));
      setBusy(false);
    }
  };
  const problem = error ?? (listing.error ? withHelp(listing.error) : null);
  return (
    <Sheet
      title={t("device.addProjectSheet.chooseAFolder")}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t("device.addProjectSheet.cancel")}
          </Button>
          <Button
            data-testid="choose-folder"
            tone="primary"
            busy={busy}
            disabled={!here || listing.isPlaceholderData || listing.isError}
            onClick={choose}
          >
            {t("device.addProjectSheet.useThisFolder")}
          </Button>
        </>
      }
    >
      <FolderBrowser listing={listing.data ?? null} loading={listing.isFetching} problem={problem} onGo={go} />
    </Sheet>
  );
}
