import type { HostInfo, Model } from "../../api/types";
import { Select } from "../../components/Select";

/** What a model is called in a menu. The demo model never passes for an AI. */
export function modelLabel(model: Model): string {
  return model.demo ? `${model.name} (demo model, not an AI)` : model.name;
}

/** The model that new sessions begin with; "" is the host's default. */
export function ModelSelect(props: { info: HostInfo; value: string; onChange: (name: string) => void }) {
  const { info, value, onChange } = props;
  return (
    <div className="flex min-w-0 items-center gap-2">
      <span className="shrink-0 text-muted text-sm max-sm:sr-only">New sessions use</span>
      <Select
        label="Model for new sessions"
        value={value || info.defaultModel}
        onChange={(event) => onChange(event.target.value)}
        options={info.models.map((model) => ({ value: model.name, label: modelLabel(model) }))}
      />
    </div>
  );
}
