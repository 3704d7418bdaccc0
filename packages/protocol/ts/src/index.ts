// The TypeScript side of the scorel protocol. Names that occur in more than one
// layer (Kind, VERSION, limits) are not re-exported: import them from
// '@scorel/protocol/wire', '@scorel/protocol/gen/api' and so on.

export * from "./answer.ts";
export * from "./base64.ts";
export * from "./chain.ts";
export * from "./context.ts";
export * from "./file.ts";
export * as api from "./gen/api.ts";
export * as session from "./gen/session.ts";
export * from "./ident.ts";
export type { PairConfig, Party } from "./pair.ts";
export { Code, CodeError, newCode, PairError, PairMachine, parseCode } from "./pair.ts";
export type { Piece, SealPeer } from "./seal.ts";
export { Channel, Handshake, SealBroken, split } from "./seal.ts";
export * from "./tree.ts";
export * as wire from "./wire.ts";
