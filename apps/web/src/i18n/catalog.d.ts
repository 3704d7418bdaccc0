declare module "*?messages" {
  const messages: import("./message").Messages;
  export default messages;
}
