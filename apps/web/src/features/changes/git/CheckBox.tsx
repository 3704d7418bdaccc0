import { useEffect, useRef } from "react";

export interface CheckBoxProps {
  /** What it selects, for a screen reader. */
  label: string;
  checked: boolean;
  /** Whether only some of the files that it represents are selected. */
  some?: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
}

/** A checkbox with room for a finger around it. */
export function CheckBox({ label, checked, some = false, disabled = false, onChange }: CheckBoxProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) {
      box.current.indeterminate = some && !checked;
    }
  }, [some, checked]);
  return (
    <label className="touchable grid w-11 shrink-0 cursor-pointer place-items-center hover:bg-sunken has-disabled:cursor-not-allowed">
      <input
        ref={box}
        type="checkbox"
        aria-label={label}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4 accent-accent"
      />
    </label>
  );
}
