// Package channel is the contract between scorel and a chat platform such as Telegram.
//
// A channel is one bot on one platform. It carries messages of chats to the host, and what
// sessions say back to the chats. The package chats decides who is heard, which session a
// message is for and what is sent; it does so for every platform in the same way. A
// platform only moves messages. It is a package of its own below this one that implements
// Platform and passes channeltest.Run against a fake of the platform's API.
//
// # What a platform does
//
//   - Run connects, reports that with Connected, and gives every update to Take, one at a
//     time and in the platform's order. It acknowledges an update to the platform only after
//     Take returned nil: until then nothing is on disk, and the platform has to send it
//     again. It returns when the connection fails; its caller waits and calls it again with
//     the last cursor that Take has stored.
//   - Send and Edit make one request each, apart from uploads that need several, and return.
//     They never wait for a rate limit and never try again: they return a *RateLimited, and
//     the caller waits. Their other errors are those of this package, wrapped, or any error
//     for a failure that may go away.
//   - Fetch reads a file that came with a message. Answer ends the spinner of a button.
//   - Check asks the platform who the bot is, which shows whether the token works.
//
// All methods may be called at once from several goroutines. None starts a goroutine that
// outlives it.
//
// # What a platform does not do
//
// It keeps no state beyond a connection, writes no file, and logs nothing: what must be
// remembered is in the cursor, and what must be known is in an error. It does not decide
// who may write, it does not read commands, and it never splits a text: the caller splits
// with Limits, so that one Send is one message.
//
// # Updates
//
// The ID of an update is the platform's and unique in the channel: an update that the
// platform delivers again has the same ID and is not taken twice. A cursor is what Run
// needs to continue after the update, such as Telegram's offset or the sequence number of
// a gateway; it is opaque to everyone else. An update that only has a cursor, with no ID,
// stores how far the platform has read; send one for what is skipped.
//
// Names, titles and texts come from strangers. A platform passes them on as valid UTF-8 and
// otherwise unchanged; Message.Clean and the caller limit them.
//
// Chats are what can be bound to a project: a conversation, or a thread where the platform
// has threads. The ID of a thread contains that of its conversation, such as "C12/169.42".
// Addressed says whether a message is meant for the bot: always in a direct chat, otherwise
// if it mentions the bot, answers one of its messages, or is a command for it. A mention of
// the bot at the beginning is removed from the text, and so is "@bot" after a command.
//
// # Text
//
// Rich text is a list of segments (ParseMarkdown reads the agent's Markdown). A platform
// renders it in its own markup and escapes everything else, so that no text of a model or a
// stranger becomes markup, a mention or a link preview. Limits.Units counts what a
// segment takes of Limits.Text, with its markup, in the platform's own unit; Split uses it,
// so that a rendered message never exceeds the limit. A message that the platform still
// rejects is a defect of Units or of the rendering.
//
// # Sending once
//
// Outgoing.Key is the same for each attempt to send a message. A platform that can recognize
// a repeated request, such as Discord by its nonce, derives its own key from it and
// sets Limits.Idempotent. On the others, a message is repeated if the host is killed between
// the platform's answer and the next write of its file; that is the only case.
//
// # Secrets
//
// The token is given to the constructor and appears in no error: URLs that contain it are
// removed with Redact. Constructors have options for the address of the API, which tests
// point at a fake on 127.0.0.1, and refuse what is not https elsewhere.
package channel
