import type { HostInfo, Model } from "../../api/types";
import { Select } from "../../components/Select";
import { t } from "../../i18n/device";

/** Returns the label of a model in a menu. The demo model must never pass for an AI. */
export function modelLabel(model: Model): string {
  return model.demo ? t("device.modelSelect.demoModel", { name: model.name }) : model.name;
}

/** The model of a new session; "" is the host's default. */
export function ModelSelect(props: { info: HostInfo; value: string; onChange: (name: string) => void }) {
  const { info, value, onChange } = props;
  return (
    <Select
      label={t("device.modelSelect.model")}
      value={value || info.defaultModel}
      onChange={(event) => onChange(event.target.value)}
      options={info.models.map((model) => ({ value: model.name, label: modelLabel(model) }))}
      className="max-w-full"
    />
  );
}
