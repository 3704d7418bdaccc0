import { Component, type ReactNode, type RefObject } from "react";
import { bringBack, type HeldRow, holdRow } from "./held-row";

export interface HeldPlaceProps {
  box: RefObject<HTMLElement | null>;
  /** A value whose change may change the height of the rows within. */
  over: unknown;
  /** Whether the reader is at the end, which is followed anyway. */
  atEnd: boolean;
  children: ReactNode;
}

/**
 * Keeps the visible rows in place while the rows above are rendered again. Only a class component can read the layout
 * just before that.
 */
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
