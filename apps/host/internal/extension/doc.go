// Package extension keeps the extensions of a home: folders that bundle skills, slash
// commands, agent definitions, hooks and MCP servers.
//
// What is used is never the folder or the repository that an extension comes from, but a copy
// in the home, named by the hash of all its files. A person has seen what that copy holds and
// would run before anything of it is used. An extension that was added belongs to the user;
// one in .scorel/extensions of a project is used only if the folder is trusted and a person
// allowed exactly its files. A changed copy is not used, and a changed project's folder needs
// a new decision; until then what was allowed stays in use.
//
// Everything of an extension is named EXTENSION:NAME, so that it cannot take the place of what
// the user, the project or another extension has. What is shown of it is read from its files,
// and its manifest only says what it is called and where they are.
package extension
