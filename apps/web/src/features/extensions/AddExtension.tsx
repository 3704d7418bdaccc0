import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import type { Requests } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/extensions";
import { useAct } from "../shared/use-act";

export type Fetched = Requests["fetch_extension"]["response"];

export interface AddExtensionProps {
  host: Host;
  onFetched: (fetched: Fetched) => void;
  onCancel: () => void;
}

/** Asks where an extension comes from, and has the machine fetch it for a review. */
export function AddExtension({ host, onFetched, onCancel }: AddExtensionProps) {
  const [source, setSource] = useState("");
  const [ref, setRef] = useState("");
  const [folder, setFolder] = useState("");
  const { busy, error, act } = useAct();
  const local = /^([/~]|[A-Za-z]:[\\/])/.test(source.trim());
  const fetch = (event: FormEvent) => {
    event.preventDefault();
    void act("fetch", async () => {
      const inside = local
        ? {}
        : { ...(ref.trim() ? { ref: ref.trim() } : {}), ...(folder.trim() ? { folder: folder.trim() } : {}) };
      onFetched(await host.request("fetch_extension", { source: source.trim(), ...inside }));
    });
  };
  const plain = { mono: true, autoComplete: "off", autoCapitalize: "off", spellCheck: false } as const;
  return (
    <form
      data-testid="extension-form"
      onSubmit={fetch}
      noValidate
      className="mt-2 space-y-3 rounded-md border border-line p-3"
    >
      <TextField
        {...plain}
        label={t("extensions.add.source")}
        data-testid="extension-source"
        autoFocus
        value={source}
        placeholder={t("extensions.add.sourceExample")}
        onChange={(event) => setSource(event.target.value)}
      />
      {local ? null : (
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            {...plain}
            label={t("extensions.add.ref")}
            value={ref}
            placeholder={t("extensions.add.optional")}
            onChange={(event) => setRef(event.target.value)}
          />
          <TextField
            {...plain}
            label={t("extensions.add.folder")}
            value={folder}
            placeholder={t("extensions.add.optional")}
            onChange={(event) => setFolder(event.target.value)}
          />
        </div>
      )}
      <ErrorText>{error}</ErrorText>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>{t("extensions.add.cancel")}</Button>
        <Button
          type="submit"
          tone="primary"
          data-testid="extension-fetch"
          busy={busy !== null}
          disabled={source.trim() === ""}
        >
          {t("extensions.add.fetch")}
        </Button>
      </div>
    </form>
  );
}
