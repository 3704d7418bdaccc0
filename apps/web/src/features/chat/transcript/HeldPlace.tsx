import { Component, type ReactNode, type RefObject } from "react";
import { bringBack, type HeldRow, holdRow } from "./held-row";

export interface HeldPlaceProps {
  box: RefObject<HTMLElement | null>;
  /** What may change the height of the rows within when it becomes another. */
  over: unknown;
  /** The reader is at the end, which is followed anyway. */
  atEnd: boolean;
  children: ReactNode;
}

/** Keeps what is in sight where it is while the rows above are drawn anew. Only a class sees them just before. */
export class HeldPlace extends Component<HeldPlaceProps> {
  override getSnapshotBeforeUpdate(before: HeldPlaceProps): HeldRow | null {
    return before.over === this.props.over || this.props.atEnd ? null : holdRow(this.props.box.current);
  }

  override componentDidUpdate(_: HeldPlaceProps, __: unknown, held: HeldRow | null): void {
    bringBack(this.props.box.current, held);
  }

  override render() {
    return this.props.children;
  }
}
